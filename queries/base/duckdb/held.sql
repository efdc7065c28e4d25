-- about One row a handle.
(SELECT *, unnest(['trace ' || trace_id, 'answer ' || response_id, 'span ' || span_id, 'span ' || parent_span_id]) AS handle FROM told)
