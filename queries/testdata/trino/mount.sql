CREATE SCHEMA IF NOT EXISTS "hive"."llm";
CREATE TABLE IF NOT EXISTS "hive"."llm"."logs" (
  request_id VARCHAR, root_request_id VARCHAR, attempt INTEGER, response_id VARCHAR, trace_id VARCHAR, span_id VARCHAR, parent_span_id VARCHAR,
  session_id VARCHAR, turn INTEGER,
  arrival TIMESTAMP(6), first_us BIGINT, first_visible_us BIGINT, headers_us BIGINT, last_us BIGINT, end_us BIGINT, send_lag_us BIGINT,
  queue_us BIGINT, prefill_us BIGINT, decode_us BIGINT, gaps_us ARRAY(INTEGER), chunk_tokens ARRAY(INTEGER),
  ttft_kind VARCHAR, vantage VARCHAR, clock_domain VARCHAR, time_precision_us BIGINT,
  error_class VARCHAR, http_status INTEGER, finish_reason VARCHAR, endpoint_kind VARCHAR, stream BOOLEAN, cached_response BOOLEAN,
  model_requested VARCHAR, model_served VARCHAR, provider VARCHAR, deployment VARCHAR, replica VARCHAR, tenant VARCHAR, app VARCHAR, route VARCHAR,
  key_hash VARCHAR, user_hash VARCHAR,
  input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT, reasoning_tokens BIGINT, max_tokens BIGINT, tokens_source VARCHAR,
  system_prompt_tokens BIGINT, system_prompt_hash VARCHAR, prefix_hash_ids ARRAY(BIGINT), prefix_block_tokens INTEGER,
  source_format VARCHAR, source_file VARCHAR, source_line BIGINT, quality VARCHAR, day VARCHAR)
WITH (format = 'PARQUET', external_location = 's3://bucket/it''s/run', partitioned_by = ARRAY['day']);
CALL "hive".system.sync_partition_metadata('llm', 'logs', 'FULL');
CREATE TABLE IF NOT EXISTS "hive"."llm"."logs_metrics" (
  at_us BIGINT, endpoint VARCHAR, name VARCHAR, labels VARCHAR, value DOUBLE)
WITH (format = 'PARQUET', external_location = 's3://bucket/it''s/run/metrics');
