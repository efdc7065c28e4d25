-- about One row a handle.
told CROSS JOIN UNNEST(ARRAY['trace ' || trace_id, 'answer ' || response_id, 'span ' || span_id, 'span ' || parent_span_id]) AS held(handle)
