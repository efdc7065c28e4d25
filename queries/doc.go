// Package queries is the catalogue of metrics: one SQL file a metric family, and base views that are the only readers
// of raw Parquet columns.
//
// Flow: analyze asks the catalogue for a query by name; the catalogue parses the header, resolves which base views the
// text names (and which those name), and returns one statement: the base views as CTEs in dependency order, a params
// CTE of typed values, then the query's own CTEs. The same text runs on any engine; what differs between engines
// stands in base/ and the rules of its dialect alone.
//
// Dialects. Texts are written in DuckDB's words. For Trino and Spark a few calls and words are replaced (trino.go, spark.go), and a view, or a
// part {NAME} of one, whose shape is another there has a file of its own in base/trino, which Spark takes too, its words replaced, unless base/spark
// has one; base/duckdb holds the same parts for DuckDB. Percentiles are counted there, exactly, instead of DuckDB's function. Every query of
// the catalogue runs on all three with the same rows (make test-trino, test-spark); Spark's text is printed, not run.
// A view that is new needs nothing as long as TestForeignText finds no word that only DuckDB knows.
// Trino and Spark work out a step of a WITH wherever it is read, so views that are kept are tables of steps where tables can be made, and a
// statement that reads the run more than MaxScans times is cut in such tables (Stage). Mount gives the table of a run. What such a table does not do: it has no metadata of the files, so nobody knows what a
// replay says of itself; it sees new days once sync_partition_metadata has been called; shards of a replay in folders of their own are
// tables of their own.
//
// A query file begins with header comments, then WITH:
//
//	-- title Latency by group
//	-- about One paragraph: what the figure is, its formula, who is left out.
//	-- metric ttft | ms | first token - arrival   (optional, any number: a row of the README's table: name, unit or -, formula)
//	-- param bin_us BIGINT 60000000        (type BIGINT, DOUBLE, TEXT or BOOLEAN, then the default, NULL without; TEXT a|b allows a and b only, a is the
//	                                        default. BOUND is a limit in microseconds, see Bound: a view reads {NAME} and {NAME_set}. Read as (SELECT bin_us FROM params), which is replaced by the value, or by CROSS JOIN params.)
//	-- key grp                             (columns that identify a row, in order; key start_us time gives a unit, else text)
//	-- column n requests none              (name, unit, better: higher, lower or none; every output column that is not a key)
//	-- level L1                            (metrics.md 0.4: what the log must hold; L0 endpoints, L1 first token, L2 chunks, L3 replica, L4 cache or prefix, L5 stages)
//	-- chart line x=start_us y=p50_ms,p99_ms  (optional: how a report draws it: line, bar, cdf, heat)
//	-- quantiles value_us 1e3              (optional, see below)
//
// With "quantiles VALUE [DIVISOR] [whole | weight COLUMN] [type1 CONDITION]" the text ends after a CTE named samples(key columns...,
// VALUE, and COLUMN) and the catalogue adds the stage that gives, for each key: n, n_total, mean, p50, p90, p95, p99, p99_9, max of
// VALUE / DIVISOR (exact, type 7; type 1 when CONDITION holds, which reads parameters only).
// n_total counts all samples, n those whose VALUE is known; the figures are over these. whole: VALUE is an integer, which is quicker.
// weight: a sample counts COLUMN times, a whole number, in n and n_total too; without it, or under 1, not at all.
//
// A file of base/ may begin with about and param lines (its parameters become the query's) and a line "once WHY", which
// makes a statement compute the view once although several of its steps read it, or "kept WHY", which lets all statements of an engine read what
// the first one computed, or "swept NAME | VIEW ...", see Sweeps; {source}, {grp}, {by} (the columns of grp, each behind a comma), {grouped}, {range}, {clock} and
// {PARAMETER} in it are filled in when the statement is composed, so that the engine folds what a parameter turns off:
// a metric without a bound is not even read. The parameters from_us and to_us are the bounds of the scope. A query may
// not name a CTE as a base view is named.
//
// Base views. Every duration is microseconds, NULL when undefined; nothing else in a query may read raw columns. A call is known
// by request_id, attempt and arrival_us: clients send an id twice, and both are calls.
//
//	requests: one row an attempt (gateway row and spans of one call are already one row), within the time range asked for
//	  grp               text: the columns of --by joined by " / " (a slash beside a blank within one of several is doubled), "(unknown)" for one that the log does not name, "all" without
//	  request_id, root_request_id, attempt, session_id, turn, source_format, told_by (all formats of a joined call), vantage, clock_domain, ttft_kind, quality
//	  arrival_us        BIGINT since 1970 (UTC); NULL when the source has no time, or no wall clock where others have
//	  model (asked for, else served), model_served, tenant, app, route, replica, deployment, provider, user_hash, endpoint_kind
//	  stream            BOOLEAN or NULL; cached_response BOOLEAN, never NULL
//	  status            ok, ok_length, cancelled, client_error, failed, in_flight, unknown   (metrics.md 0.2)
//	  error_class, http_status, finish_reason
//	  generation        BOOLEAN: a call that generates text (chat, completions, responses, messages, or kind unknown)
//	  input_tokens, cached_tokens, output_tokens, reasoning_tokens, visible_tokens, max_tokens, uncached_tokens (NULL when cached is unknown)
//	  system_tokens, system_hash, prefix_ids (list), prefix_block_tokens (DOUBLE)
//	  prefix_exact      BOOLEAN, never NULL: the log gives the size of a block; else blocks are equal shares of the text
//	  first_us, last_us, end_us, headers_us, send_lag_us, queue_us, prefill_us, decode_us   as recorded, from arrival
//	  engine_first_us   first token by the engine's own clock, from the engine's arrival, where the engine told queue_us too
//	  ttft_us, ttfvt_us, e2e_us, max_gap_us   BIGINT; tpot_us, ntpot_us   DOUBLE   (metrics.md 1)
//	  streamed          BOOLEAN: TRUE when the caller got it piece by piece (also when only a first token says so), FALSE when it came whole or in one piece (pseudo_stream), else NULL
//	  paced_tokens      BIGINT: tokens that tpot counts: visible ones when reasoning stayed hidden; NULL when the log cannot tell which
//	  whole             BOOLEAN: TRUE when it came whole or in one piece; NULL or FALSE else
//	  outcome           as status, without ok_length
//	  chunks            BIGINT: chunks after merging (metrics.md 0.1); NULL when chunk times are unknown
//	  latency           BOOLEAN: enters latency percentiles (generation, ok, not from a response cache)
//	  excluded          text: why not: not_generation, cached_response, cancelled, client_error, failed, in_flight, unknown; NULL when latency
//	gaps: one row a chunk gap after the first chunk, of requests with latency, merged by metrics.md 0.1
//	  request_id, attempt, arrival_us, grp, model, tenant, replica, k (2 is the first gap), gap_us, end_us (BIGINT since 1970), tokens (of the chunk, NULL unknown),
//	  weight (tokens of the chunk, else the chunks of one read), usual_weight (its median over the stream)
//	judged: requests with a verdict under the SLO of params (ttft_slo_us, ttfvt_slo_us, tpot_slo_us, e2e_slo_us, max_gap_slo_us; NULL: no term)
//	  all columns of requests, the bounds as the row has them, asked (the terms that it has), verdict (good, bad, unevaluable, excluded), ttft_ok, ttfvt_ok, tpot_ok, e2e_ok, max_gap_ok (NULL: term not applicable)
//	  params client_errors (beside: out of the ratio, or bad) and nonstream (what streaming terms say of a call given whole: skip, fail, or e2e as ttft)
//	calls: judged, one row a logical request: attempts that share root_request_id as their caller saw them, times from the start of the first
//	  and of the attempts that do not speak for it: other_attempts, other_judged, other_good, other_tokens; NULL without others
//	callers: one row a logical request, as calls, without a verdict: the columns of requests, times from the start of the first attempt;
//	  own_arrival_us: when the attempt that speaks for it began
//	latency_samples: one row a sample of a latency metric: metric, grp, at_us, value_us, tokens (what it counts as when tokens are the weight);
//	  params failures (exclude, or inf: infinitely slow) and view (attempts, or calls)
//	recorded_gaps: one row a chunk gap as recorded, of calls with latency: grp, gap_us, tokens; nothing is merged: for the definitions of other tools
//	quantile_ranks: which order statistics hold a percentile: n, percentile, lower_rank, upper_rank (0 and over n: none), from the parameter ranks,
//	  which analyze fills in
//	covered: one row: start_us, end_us and seconds of the time that rates are divided by: the range asked for, else first arrival to last end
//	bins: start_us of every step of bin_us in covered
//	events: grp, replica, at_us, change: +1 where an attempt to generate text begins, -1 where it ends
//	token_steps: gaps with known tokens, one row a token: step_us DOUBLE = gap / tokens, end_us of its gap
//	prompts, blocks: prompts in order of arrival (place) and their prefix blocks
//	judged_sets: calls to generate text by group, verdict and missed terms; judged_steps: by group and step of time ({step_us}: the part that bin_us, where
//	  a query has it, and a minute have in common)
//	burn_windows: the burn rate rules, one row each; burn_states: what each rule sees of a group, one row a minute at which that changes (metrics.md 3.6)
//	timelines: calls whose tokens have deadlines and known times: lateness, and what the tokens were worth (metrics.md 3.3 to 3.5)
//	weeks: the ISO weeks that the log touches
//	stretch: the time in which calls arrive; load_steps: what is in progress, arrives and waits in each thirtieth of it
//	batch_time: decode time by the number of streams in decode on a replica; clean_steps, step_fits: the length of a step by that number (metrics.md 7.2)
//	prefix_curves: what caches of many sizes would have held of the prompts; analyze works it out
//	target_samples: values of the target's metrics pages, see its about line; no rows for a run without (replay --metrics-url)
//	probes: probes of a replay, one row each (replay --probe-tokens)
//	flags, field_counts: quality flags, one row each; how many requests have what, one row a source format, kind and name
//
// Views of stalls (metrics.md 4), each read by the next; their about lines say the rest. They need the parameter fits, which analyze fills in.
//
//	prefill_fits       the fitted cost of prefill work, one row a model: token_us under load, alone_us on an idle replica; prefill_costs: of prefills alone
//	prefill_windows    when a replica worked on each prompt (arrived_prompts), by that cost or as the engine measured it
//	request_lists      requests with their chunk times as lists, merged; gap_lists: those of gaps, paced_streams: those on a known replica but for
//	                   buffered ones, streams that have no gap worth telling; stream_shapes, decode_streams: what they say without the times
//	placed_gaps        one row a gap of paced_streams, with what went on on its replica; gap_pools, gap_baselines: usual lengths
//	paced_gaps         placed_gaps with their usual length and excess; long_gaps: those far above it
//	stretched_windows  prefill_windows moved back to the step of the engine that they cut; window_levels: what they cover
//	lost_gaps          paced_gaps with the part lost to others' prefills
//	stalled_gaps       those of long_gaps 100 ms above the usual (stood_gaps) with that part and a label; stall_gaps: lost_gaps and this label
//	decode_load        what each stream decoded beside, known from its ends alone; ended_streams: of those without chunk times, with the part lost
//	stall_victims      decode time and the part lost, from either
//	stall_sums         what these add up to by group and tenant (chunk_sums, ended_streams); stream_spans: when they decoded; chunk_counts: equal gaps counted, with and without the part lost
//	blamed             who cost whom how much, by victims and chunk_blame; gap_counts: equal gaps of gaps counted
//
// Sweeps. A row a chunk gap costs a kilobyte and microseconds, so on DuckDB a view with a line "swept NAME [ARGUMENT] | VIEW ..." gets its rows from analyze's sweep of
// that name (also where it is kept for other engines), which walks the lists of paced_streams (packed in a file once they have been read; batch_time: of decoded, gap_counts: of requests) along each replica and reads the views named. The text of the view is the
// definition: any other engine runs it, and a test holds each sweep against it. A query over all gaps as rows (stall_gaps, paced_gaps) still costs that much.
package queries
