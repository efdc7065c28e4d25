package reports

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// By hand: 0, 7, 1 and 8 in eighths of 8; a missing step is blank; one peak among a thousand values stays; equal values are a line.
func TestSpark(t *testing.T) {
	at := func(ys ...float64) (out []Point) {
		for i, y := range ys {
			out = append(out, Point{X: float64(i), Y: y})
		}
		return out
	}
	peak := make([]float64, 1000)
	peak[500] = 9
	for _, c := range []struct {
		points []Point
		cells  int
		want   string
	}{
		{at(0, 7, 1, 8), 60, "▁█▂█"}, {at(0, math.NaN(), 8), 60, "▁ █"}, {at(3, 3, 3), 60, "▄▄▄"}, {at(8, 0), 60, "█▁"},
		{at(1), 60, ""}, {at(math.NaN(), math.NaN(), 1), 60, ""}, {nil, 60, ""},
		{at(peak...), 10, "▁▁▁▁▁█▁▁▁▁"},
	} {
		from, to := rangeOf([]Series{{Points: c.points}})
		if got, _, _ := spark(c.points, from, to, c.cells); got != c.want {
			t.Errorf("%v: %q, want %q", c.points[:min(len(c.points), 5)], got, c.want)
		}
	}
}

// The terminal shows charts over time in little, with their values; a narrow one narrower.
func TestSparksInText(t *testing.T) {
	s := section("latency_over_time", timeResult(), "")
	s.PageOnly = true
	for width, cells := range map[int]int{0: 60, 80: 28} {
		var b bytes.Buffer
		if err := WriteText(&b, Report{Title: "T", Sections: []Section{s}}, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "Latency over time, 2026-11-23 00:00 to 2026-11-23 23:59 UTC") || !strings.Contains(b.String(), "900 ms to 9.1") {
			t.Errorf("%s", b.String())
		}
		if n := strings.Count(b.String(), "▁") + strings.Count(b.String(), " "); n == 0 {
			t.Error("no blocks")
		}
		line := ""
		for l := range strings.Lines(b.String()) {
			if strings.HasPrefix(l, "chat") {
				line = l
			}
		}
		blocks := strings.IndexFunc(line, func(r rune) bool { return r >= '▁' && r <= '█' })
		end := strings.LastIndexFunc(line, func(r rune) bool { return r >= '▁' && r <= '█' })
		if blocks < 0 || len([]rune(line[blocks:end]))+1 != cells {
			t.Errorf("width %d: %q has no %d cells", width, line, cells)
		}
	}
}
