-- about One row a value of the target's own metrics pages whose meaning is known, read while a replay ran: what it is, its value, and for a count
-- about its rise since the reading before. A count that fell began again at 0. Names of vLLM, SGLang, TGI, llama.cpp and DCGM; where a page
-- about shows a metric under its old name, too, the old one is left out.
-- param from_us BIGINT
-- param to_us BIGINT
SELECT endpoint, series, what, at_us, value, rise
FROM (
  SELECT *, CASE WHEN value >= before THEN value - before WHEN before IS NOT NULL THEN value END AS rise,
         name <> newest AND count(CASE WHEN name = newest THEN 1 END) OVER (PARTITION BY endpoint, newest, at_us) > 0 AS doubled
  FROM (
    SELECT endpoint, name, name || labels AS series, at_us, value, lag(value) OVER (PARTITION BY endpoint, name, labels ORDER BY at_us) AS before,
           MAP {'vllm:num_requests_running': 'running', 'sglang:num_running_reqs': 'running', 'tgi_batch_current_size': 'running', 'llamacpp:requests_processing': 'running',
                'vllm:num_requests_waiting': 'waiting', 'sglang:num_queue_reqs': 'waiting', 'tgi_queue_size': 'waiting', 'llamacpp:requests_deferred': 'waiting',
                'vllm:kv_cache_usage_perc': 'cache_use', 'vllm:gpu_cache_usage_perc': 'cache_use', 'sglang:token_usage': 'cache_use', 'llamacpp:kv_cache_usage_ratio': 'cache_use',
                'vllm:num_preemptions_total': 'preemptions', 'sglang:num_retracted_requests_total': 'preemptions', 'sglang:num_retracted_reqs_total': 'preemptions',
                'vllm:prompt_tokens_total': 'prompt_tokens', 'sglang:prompt_tokens_total': 'prompt_tokens', 'tgi_request_input_length_sum': 'prompt_tokens', 'llamacpp:prompt_tokens_total': 'prompt_tokens',
                'vllm:generation_tokens_total': 'output_tokens', 'sglang:generation_tokens_total': 'output_tokens', 'tgi_request_generated_tokens_sum': 'output_tokens', 'llamacpp:tokens_predicted_total': 'output_tokens',
                'vllm:prefix_cache_queries_total': 'asked_tokens', 'vllm:gpu_prefix_cache_queries_total': 'asked_tokens',
                'vllm:prefix_cache_hits_total': 'cached_tokens', 'vllm:gpu_prefix_cache_hits_total': 'cached_tokens', 'sglang:cached_tokens_total': 'cached_tokens',
                'DCGM_FI_DEV_GPU_UTIL': 'gpu_percent', 'DCGM_FI_DEV_FB_USED': 'gpu_mib', 'DCGM_FI_DEV_POWER_USAGE': 'gpu_watts'}[name] AS what,
           coalesce(MAP {'vllm:gpu_cache_usage_perc': 'vllm:kv_cache_usage_perc', 'vllm:gpu_prefix_cache_queries_total': 'vllm:prefix_cache_queries_total',
                         'vllm:gpu_prefix_cache_hits_total': 'vllm:prefix_cache_hits_total',
                         'sglang:num_retracted_reqs_total': 'sglang:num_retracted_requests_total'}[name], name) AS newest
    FROM {metrics}
  )
  WHERE what IS NOT NULL
)
WHERE NOT doubled AND at_us >= coalesce({from_us}, at_us) AND at_us < coalesce({to_us}, at_us + 1)
