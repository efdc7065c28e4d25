package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// columns of the tables, with their words.
var columns = []struct {
	head string
	of   func(f *figures) string
}{
	{"TTFT error p50 / p99 ms", func(f *figures) string { return signed(f.TTFT50) + " / " + number(f.TTFT99, 3) }},
	{"gap error p99 ms", func(f *figures) string { return number(f.Gap99, 3) }},
	{"chunk stamp error p99 ms", func(f *figures) string { return number(f.Stamp99, 3) }},
	{"send lag p50 / p99 ms", func(f *figures) string { return number(f.Lag50, 3) + " / " + number(f.Lag99, 3) }},
	{"CPU-s per 1,000 chunks", func(f *figures) string { return number(f.CPU, 4) }},
	{"RSS MB", func(f *figures) string { return number(f.RSS, 0) }},
	{"s over the work", func(f *figures) string { return number(f.Over, 1) }},
	{"ok, its own verdict", func(f *figures) string {
		return strings.TrimSuffix(fmt.Sprintf("%d of %d, %s", f.OK, f.Sent, f.Verdict), ", ")
	}},
	{"floor: server late p99, thread late p99 ms", func(f *figures) string { return number(f.ServerLate, 3) + ", " + number(f.Hiccup, 3) }},
	{"others used, processors", func(f *figures) string { return number(f.Others, 2) }},
}

// intro says what the figures are.
const intro = `One server of known timing (first token 100 ms after a request's last byte, then 20 ms a token) in a process of its own, on the same processors. An error is the tool's value
minus the server's truth, and 0 within what the server cannot know (the length of its own write call). TTFT p50 is signed, counted from when the tool says it began to send; the others
are absolute. Send lag: arrival in the server's kernel after the planned time (of the Python tools, which do not tell their plan's start, after taking out the least). Processor time is
that of all processes of a tool while requests were open; RSS their sum at its highest. The floor stands beside: how late the server wrote, how late a sleeping thread woke.

`

func writeTable(w io.Writer, l *load, list []figures) {
	fmt.Fprintf(w, "### %s\n\n| tool |", l.Name)
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.head)
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---|", len(columns)+1))
	for i := range list {
		f := &list[i]
		fmt.Fprintf(w, "| %s |", f.Tool)
		if f.Why != "" {
			fmt.Fprintf(w, " no figures: %s |\n", strings.ReplaceAll(f.Why, "|", "/"))
			continue
		}
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", c.of(f))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

func number(v float64, digits int) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

func signed(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%+.3f", v)
}
