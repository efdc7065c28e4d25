CREATE OR REPLACE TEMPORARY VIEW `logs` (
  request_id STRING, root_request_id STRING, attempt INTEGER, response_id STRING, trace_id STRING, span_id STRING, parent_span_id STRING,
  session_id STRING, turn INTEGER,
  arrival TIMESTAMP, first_us BIGINT, first_visible_us BIGINT, headers_us BIGINT, last_us BIGINT, end_us BIGINT, send_lag_us BIGINT,
  queue_us BIGINT, prefill_us BIGINT, decode_us BIGINT, gaps_us ARRAY<INTEGER>, chunk_tokens ARRAY<INTEGER>,
  ttft_kind STRING, vantage STRING, clock_domain STRING, time_precision_us BIGINT,
  error_class STRING, http_status INTEGER, finish_reason STRING, endpoint_kind STRING, stream BOOLEAN, cached_response BOOLEAN,
  model_requested STRING, model_served STRING, provider STRING, deployment STRING, replica STRING, tenant STRING, app STRING, route STRING,
  key_hash STRING, user_hash STRING,
  input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT, reasoning_tokens BIGINT, max_tokens BIGINT, tokens_source STRING,
  system_prompt_tokens BIGINT, system_prompt_hash STRING, prefix_hash_ids ARRAY<BIGINT>, prefix_block_tokens INTEGER,
  source_format STRING, source_file STRING, source_line BIGINT, quality STRING, day STRING)
USING parquet OPTIONS (path 's3a://bucket/it\u0027s/run/day=*', basePath 's3a://bucket/it\u0027s/run');
CREATE OR REPLACE TEMPORARY VIEW `logs_metrics` (
  at_us BIGINT, endpoint STRING, name STRING, labels STRING, value DOUBLE)
USING parquet OPTIONS (path 's3a://bucket/it\u0027s/run/metrics');
CREATE TABLE IF NOT EXISTS `lake`.`llm`.`logs` (
  request_id STRING, root_request_id STRING, attempt INTEGER, response_id STRING, trace_id STRING, span_id STRING, parent_span_id STRING,
  session_id STRING, turn INTEGER,
  arrival TIMESTAMP, first_us BIGINT, first_visible_us BIGINT, headers_us BIGINT, last_us BIGINT, end_us BIGINT, send_lag_us BIGINT,
  queue_us BIGINT, prefill_us BIGINT, decode_us BIGINT, gaps_us ARRAY<INTEGER>, chunk_tokens ARRAY<INTEGER>,
  ttft_kind STRING, vantage STRING, clock_domain STRING, time_precision_us BIGINT,
  error_class STRING, http_status INTEGER, finish_reason STRING, endpoint_kind STRING, stream BOOLEAN, cached_response BOOLEAN,
  model_requested STRING, model_served STRING, provider STRING, deployment STRING, replica STRING, tenant STRING, app STRING, route STRING,
  key_hash STRING, user_hash STRING,
  input_tokens BIGINT, cached_input_tokens BIGINT, cache_write_tokens BIGINT, output_tokens BIGINT, reasoning_tokens BIGINT, max_tokens BIGINT, tokens_source STRING,
  system_prompt_tokens BIGINT, system_prompt_hash STRING, prefix_hash_ids ARRAY<BIGINT>, prefix_block_tokens INTEGER,
  source_format STRING, source_file STRING, source_line BIGINT, quality STRING, day STRING)
USING parquet PARTITIONED BY (day) LOCATION 's3a://bucket/run';
MSCK REPAIR TABLE `lake`.`llm`.`logs`;
CREATE TABLE IF NOT EXISTS `lake`.`llm`.`logs_metrics` (
  at_us BIGINT, endpoint STRING, name STRING, labels STRING, value DOUBLE)
USING parquet LOCATION 's3a://bucket/run/metrics';
