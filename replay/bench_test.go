package replay

import (
	"fmt"
	"testing"

	"reprise/ingest/trace"
)

// A body of 12,000 tokens in blocks of 512, and the check of its sharing: what the builder does for each request of a long
// context trace.
func BenchmarkBuild(b *testing.B) {
	r := row("r", 0, 12_000, 300)
	for i := range int64(24) {
		r.PrefixHashIDs = append(r.PrefixHashIDs, i)
	}
	r.PrefixBlockTokens = trace.Ptr(int32(512))
	p, err := BuildPlan(seq(r), PlanOptions{})
	if err != nil {
		b.Fatal(err)
	}
	m := maker(Options{}, LengthsRecorded)
	meter := newShareMeter(Calibration{})
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		body, err := m.body(&p.Items[0])
		if err != nil {
			b.Fatal(err)
		}
		meter.add(&p.Items[0], body.text)
		size = len(body.bytes)
	}
	b.SetBytes(int64(size))
}

func BenchmarkPlan(b *testing.B) {
	var rows []trace.Request
	for i := range int64(10_000) {
		rows = append(rows, shaped(fmt.Sprint(i), i, 1300, 512, i%7, 100+i%50, 1000+i))
	}
	for b.Loop() {
		if _, err := BuildPlan(seq(rows...), PlanOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
