package public

import (
	"fmt"
	"slices"
	"strconv"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Azure2023 is the Azure LLM inference trace of 2023 (code and conversation); the 2024 files have the same columns.
func Azure2023() decode.Format {
	return decode.Format{Name: "azure-llm-2023", Title: "Azure LLM inference trace 2023 (CSV)", About: aboutAzure2023,
		Units: "TIMESTAMP: text without a zone, in steps of 100 ns", Defects: "the text of the data set names another day; answers of the conversation file are cut at 1000 tokens",
		Example: "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10",
		Detect:  detectAzure2023, CSV: azure2023}
}

const aboutAzure2023 = `CSV with the columns TIMESTAMP, ContextTokens, GeneratedTokens (https://github.com/Azure/AzurePublicDataset).
Can contain: arrivals and lengths in tokens. Cannot: when anything was answered, outcomes, models, tenants, prefixes.

TIMESTAMP      when the call came in, without a zone: read as UTC (--assume-tz), to the microsecond (the file has steps
               of 100 ns). The text of the data set says 11 November 2023, the rows say 16 November.
GeneratedTokens of the conversation file end at 1000: a cap, not a length people chose.
error_class    unknown: the trace does not say. request_id is FILE:LINE.
`

var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

func detectAzure2023(s *decode.Sample) int {
	n := 0
	for _, name := range azureColumns {
		if slices.Contains(s.Header, name) {
			n++
		}
	}
	return n
}

func azure2023(header []string) (func(*decode.Context, []string) error, error) {
	var at [3]int
	for i, name := range azureColumns {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("expected a column %q, got %q", name, header)
		}
	}
	return func(c *decode.Context, row []string) error {
		if len(row) <= slices.Max(at[:]) {
			return c.Reject("bad_row", "expected %d columns, got %d", len(header), len(row))
		}
		r := traced(c, "azure-llm-2023")
		us, naive, err := decode.Time(row[at[0]], c.Zone)
		if err != nil {
			return c.Reject("bad_time", "TIMESTAMP: %v", err)
		}
		if r.Arrival = &us; naive {
			r.AddQuality(trace.QNaiveTime)
		}
		if r.InputTokens, r.OutputTokens = count(row[at[1]]), count(row[at[2]]); r.InputTokens == nil || r.OutputTokens == nil {
			return c.Reject("bad_length", "expected ContextTokens and GeneratedTokens, got %q and %q", row[at[1]], row[at[2]])
		}
		c.Emit(r, nil)
		return nil
	}, nil
}

// count reads a number of tokens; nil when it is none.
func count(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
