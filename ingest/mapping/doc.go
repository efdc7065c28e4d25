// Package mapping reads gateway logs whose records are flat or nested JSON objects, CSV rows or lines of text, by a
// description in YAML: a new gateway is a file, not Go code. [Presets] are the descriptions that come with the program
// (presets/*.yaml), [Load] reads one of a user.
//
// # What a mapping says
//
//	name: example               # as -f takes it
//	title: Example gateway      # one line
//	about: |                    # what the log can and cannot contain
//	  ...
//	units: took in ms; began is the START     # as the log writes them
//	defects: none known                       # what the producer gets wrong, by version
//	example: |                                # one record; a test reads it
//	  {"began": "2026-11-29T10:00:00Z", "took": 5}
//	vantage: gateway            # client, gateway (default) or engine
//	text: {match: '...'}        # for lines of text, see below
//	once: true                  # of the rows with one request_id only the first counts (repeated_id); reads no CSV
//	inside: data                # where the record stands in its object, if it is there
//	input_excludes_cached: true # input_tokens are then the sum of the three
//	detect: [start_time, [upstream, backend], {path: type, is: [request]}]
//	signs: [tokens.in]          # more keys that a record may have
//	skip:                       # records that are not requests to a model
//	  - {path: path, prefix: [/health], reason: health_check}
//	  - {path: path, model_path: false, reason: other_endpoint}
//	columns:                    # Parquet column: source, or a list of sources of which the first with a value counts
//	  arrival: {path: start_time, time: rfc3339}
//	  end_us: {path: duration, unit: ms}
//	  error_class: [{path: flags, split: ",", values: {DC: client_cancel}}, status]
//
// Detection: every entry of detect must be in one record (of a list: any of its paths), each is one sign, and there are
// at least two; each path of signs adds one.
//
// # Text
//
// match is a regular expression (RE2: its time is linear), or a list of which the first that matches counts. Its named
// groups are the keys; a group that matched nothing is missing, and a path that begins with no group is an error.
// logfmt: true, in place of match, reads key=value and key="value" pairs, and JSON objects with the same keys; words
// without a value are the keys 1, 2 and so on. Colour codes are taken out before. A line that does not match is refused
// (no_match), or with other: skip counted as other_line. A line longer than 16 KiB is refused (too_long).
//
// # Paths
//
// Keys with dots between them; a number is an element of an array, -1 the last. A key that itself holds dots is found
// too: at each level the longest name that exists wins. "json:" before a key enters the JSON that is in its text:
// json:ai_log.model. In CSV the first key is the column. JSON null, "", "-", "null" and "None" are missing.
//
// # Sources
//
// A path alone, or a mapping with
//
//	path        one path or several, of which the first with a value counts
//	const       a fixed text instead of a path
//	values      what the text means, {text: value}; "abc*" is a prefix and "*" anything; other texts are missing
//	missing     texts that mean nothing, such as "0"
//	split       separators of a list inside the text, take: first, last (default), an index, or only (of a list
//	            of one); with values any part may match
//	unit        of a duration: s, ms, us, ns or text (706ms, 1m4s)
//	time        of a stamp: rfc3339 (also without a zone), unix_s, unix_ms, unix_us, unix_ns, rfc3339_or_unix (the
//	            number of digits tells the unit), dotnet_ticks, or a Go layout (02/Jan/2006:15:04:05 -0700)
//	stamp       which moment it is: start (default); end or headers: arrival is the stamp minus end_us or headers_us,
//	            and NULL (end_only) in a row without it; late: some moment behind the start, arrival is NULL
//	zone        of stamps without one; without it they are read in the zone of --assume-tz and flagged naive_time
//	plus        is added to an integer
//	sum         of integers and durations at several paths: all (missing when one is) or any (of those that are there)
//	when        a condition: path with is, prefix, not_prefix, present, missing, empty (there but ""), model_path (names a call of a
//	            model), below or not_below another path; and: more conditions
//	quality     a flag for the rows that use this source
//
// endpoint_kind without values reads a URL path or an operation, finish_reason the usual words, error_class an HTTP
// status. Durations that are stamps count from arrival. key_hash and user_hash are always hashed.
//
// # Rules no mapping can break
//
// A row with time to the response headers only is flagged ttft_is_headers and has no first_us. Zero input tokens are
// missing, zero output tokens too unless the call went well. A row without an id gets FILE:LINE and id_derived. Values
// that do not parse refuse the record. An error in a mapping is FILE:LINE, the key, and the nearest name that exists.
package mapping
