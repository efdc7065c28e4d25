package public

import (
	"fmt"
	"slices"
	"strconv"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// Azure2023 is the Azure LLM inference trace of 2023 (code and conversation); the week of 2024 has the same columns.
func Azure2023() decode.Format {
	return decode.Format{Name: "azure-llm-2023", Title: "Azure LLM inference traces 2023 and 2024 (CSV)", About: aboutAzure2023,
		Units: "TIMESTAMP: text without a zone, in steps of 100 ns", Defects: "the text of the data set of 2023 names another day; answers of its conversation file are cut at 1000 tokens",
		Example: "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10",
		Detect:  func(s *decode.Sample) int { return azureSigns(s.Header, false) }, CSV: azure("azure-llm-2023")}
}

// Azure2025 is the Azure trace of requests with pictures of 2025.
func Azure2025() decode.Format {
	return decode.Format{Name: "azure-lmm-2025", Title: "Azure multimodal inference trace 2025 (CSV)", About: aboutAzure2025,
		Units: "TIMESTAMP: text without a zone, in steps of 100 ns", Defects: "says the number of pictures, not their share of the tokens",
		Example: "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15 00:00:00.0300000,1,1430,9",
		Detect:  func(s *decode.Sample) int { return azureSigns(s.Header, true) }, CSV: azure("azure-lmm-2025")}
}

const aboutAzure2023 = `CSV with the columns TIMESTAMP, ContextTokens, GeneratedTokens (https://github.com/Azure/AzurePublicDataset).
Can contain: arrivals and lengths in tokens. Cannot: when anything was answered, outcomes, models, tenants, prefixes.

TIMESTAMP      when the call came in, without a zone: read as UTC (--assume-tz), to the microsecond (the file has steps
               of 100 ns). Rows of 2024 may carry an offset, which then counts. The text of the data set of 2023 says 11
               November, the rows say 16 November.
GeneratedTokens of the conversation file of 2023 end at 1000: a cap, not a length people chose.
error_class    unknown: the trace does not say. request_id is FILE:LINE.
`

const aboutAzure2025 = `CSV with the columns TIMESTAMP, NumImages, ContextTokens, GeneratedTokens: as azure-llm-2023, and the number of
pictures in each request, which a run has no column for: it must be a number and is not kept.
ContextTokens  as written; the data set does not say for every row how many of them are the pictures'. A replay of text of
               that length costs a model with a picture encoder less than the recorded request did.
`

const azureImages = "NumImages"

var azureColumns = []string{"TIMESTAMP", "ContextTokens", "GeneratedTokens"}

// azureSigns counts the columns; the one that the other trace does not have decides between the two.
func azureSigns(header []string, images bool) int {
	n := named(header, azureColumns)
	switch has := slices.Contains(header, azureImages); {
	case n > 0 && has && images:
		return n + 1
	case n > 0 && has != images:
		return n - 1
	}
	return n
}

// named counts the columns of a CSV file that have one of the names.
func named(header, names []string) (n int) {
	for _, name := range names {
		if slices.Contains(header, name) {
			n++
		}
	}
	return n
}

// indices finds the columns of a CSV file by their names.
func indices(header, names []string) ([]int, error) {
	at := make([]int, len(names))
	for i, name := range names {
		if at[i] = slices.Index(header, name); at[i] < 0 {
			return nil, fmt.Errorf("expected a column %q, got %q", name, header)
		}
	}
	return at, nil
}

func azure(format string) func(header []string) (func(*decode.Context, []string) error, error) {
	return func(header []string) (func(*decode.Context, []string) error, error) {
		at, err := indices(header, azureColumns)
		if err != nil {
			return nil, err
		}
		images := slices.Index(header, azureImages)
		return func(c *decode.Context, row []string) error {
			if len(row) <= max(slices.Max(at), images) {
				return c.Reject("bad_row", "expected %d columns, got %d", len(header), len(row))
			}
			if images >= 0 && count(row[images]) == nil {
				return c.Reject("bad_length", "expected NumImages, got %q", row[images])
			}
			r := traced(c, format)
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
}

// count reads a number of tokens; nil when it is none.
func count(s string) *int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 {
		return nil
	}
	return &n
}
