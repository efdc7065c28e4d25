package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"reprise/replay/fakellm"
)

// By hand: a request that arrived at 1000.1 ms by the kernel; chunks written 1100 to 1100.05 and 1120 to 1120.05 ms.
func TestFigures(t *testing.T) {
	o := outcome{Tool: "x", tool: &sampler{}, server: &sampler{}}
	at := time.UnixMilli(900)
	for i := range 8 { // a sample each 50 ms: the tool burns a tenth of a processor, the server a twentieth, the machine 1.5
		now := at.Add(time.Duration(i) * 50 * ms)
		o.tool.list = append(o.tool.list, usage{at: now, tool: .005 * float64(i), all: .075 * float64(i), rss: int64(i) * 1e6})
		o.server.list = append(o.server.list, usage{at: now, tool: .0025 * float64(i)})
	}
	o.from, o.to = time.UnixMilli(800), time.UnixMilli(1300)
	o.Server.StartUnixUS = 1_000_000
	o.Requests = []fakellm.RequestTruth{{ID: "a", EndUS: 150_100, WritingUS: []int64{100_000, 120_000}, WrittenUS: []int64{100_050, 120_050}, ChunkUS: []int64{99_950, 119_000}}}
	o.ArrivedNS = map[string]int64{"a": 1_000_100_000}
	// it says: due at 1000, sent at 1000.05, chunks at 1100.04 (within the write) and 1120.351 (.3 after it)
	o.rows = []said{{ID: "a", Due: 1_000_000_000, Sent: 1_000_050_000, Chunk: []int64{1_100_040_000, 1_120_351_000}, OK: true}}
	f := o.measure(&load{Due: []time.Duration{0}})
	for _, c := range []struct {
		name      string
		got, want float64
	}{
		{"TTFT error", f.TTFT50, .039}, // 99.99 ms where the server knows 99.9 to 99.95, and a microsecond
		{"gap error", f.Gap99, .26},    // 20.311 ms where it knows 19.95 to 20.05
		{"stamp error", f.Stamp99, .3},
		{"send lag", f.Lag50, .1},
		{"CPU for 1,000 chunks", f.CPU, .015 / 2 * 1000}, // 150 ms of a tenth, two chunks
		{"RSS", f.RSS, 7},
		{"over", f.Over, .35},
		{"server late", f.ServerLate, 1.05},
		{"others", f.Others, 1.35},
	} {
		if math.Abs(c.got-c.want) > 1e-6 {
			t.Errorf("%s: %g, want %g", c.name, c.got, c.want)
		}
	}
	if f.OK != 1 || f.Sent != 1 {
		t.Errorf("%d of %d", f.OK, f.Sent)
	}
}

// Rows without ids of the server are matched in order of start, if none is lost.
func TestMatched(t *testing.T) {
	o := outcome{rows: []said{{ID: "file:1", Sent: 20}, {ID: "file:2", Sent: 10}}}
	requests := []fakellm.RequestTruth{{ID: "a"}, {ID: "b"}}
	if m := o.matched(requests); m["a"].ID != "file:2" || m["b"].ID != "file:1" {
		t.Errorf("%v", m)
	}
	o.rows = append(o.rows, said{ID: "b"})
	if m := o.matched(requests); len(m) != 1 || m["b"].ID != "b" {
		t.Errorf("%v", m)
	}
}

// The plain client against the server, in this process: it reads every chunk, and not before it was written.
func TestPlainAgainstServer(t *testing.T) {
	in, stop := io.Pipe()
	out, said1 := io.Pipe()
	fault := make(chan error, 1)
	go func() { fault <- serve(fakellm.Timeline{First: 20 * ms, Gap: 5 * ms}, in, said1) }()
	var head [64]byte
	n, err := out.Read(head[:])
	if err != nil {
		t.Fatal(err)
	}
	l := even("x", 50, 6, 200*ms)
	var text bytes.Buffer
	if err := plain(strings.TrimSpace(string(head[:n])), l, &text); err != nil {
		t.Fatal(err)
	}
	stop.Close()
	var o outcome
	if err := json.NewDecoder(out).Decode(&o.truth); err != nil {
		t.Fatal(err, <-fault)
	}
	if err := json.Unmarshal(text.Bytes(), &o.rows); err != nil {
		t.Fatal(err)
	}
	o.tool, o.server = watch(os.Getpid()), watch(os.Getpid())
	o.tool.stop()
	o.server.stop()
	f := o.measure(&l)
	if f.OK != 10 || f.Sent != 10 || f.TTFT50 < 0 || f.Lag50 < 0 || len(o.rows[0].Chunk) != 6 || math.IsNaN(f.Gap99) {
		t.Errorf("%+v", f)
	}
	var table bytes.Buffer
	writeTable(&table, &l, []figures{f, {Tool: "y", Why: "a|b"}})
	if lines := strings.Split(table.String(), "\n"); len(lines) != 8 || strings.Count(lines[2], "|") != strings.Count(lines[4], "|") {
		t.Errorf("%s", table.String())
	}
}

func TestLoads(t *testing.T) {
	for _, l := range loads(1) {
		if span := l.Due[len(l.Due)-1]; span > 20*time.Second || l.Due[0] < 0 {
			t.Errorf("%s: from %v to %v", l.Name, l.Due[0], span)
		}
		if p, err := l.plan(); err != nil || len(p.Items) != len(l.Due) || p.Items[0].RequestID != l.id(0) {
			t.Errorf("%s: %v", l.Name, err)
		}
	}
	if got := len(loads(1)); got != 10 {
		t.Errorf("%d loads", got)
	}
}
