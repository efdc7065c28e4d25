package reports

import (
	"bytes"
	"strings"
	"testing"

	"reprise/analyze"
)

func sweepStory() SweepInput {
	return SweepInput{Base: sweepOf("runs/prod", .99, .95, .5), Cand: sweepOf("runs/prod", .999, .99, .97), Names: [2]string{"sweep-a", "sweep-" + hostile},
		Prices: [2]Price{{8, 2.5}, {8, 1.5}}, Notes: []string{"client: not measured"}}
}

func TestSweepText(t *testing.T) {
	var b bytes.Buffer
	r := BuildSweep(sweepStory())
	if err := WriteText(&b, r, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sweep.txt", b.Bytes())
	// by hand: 8 x $2.5 an hour over 990 good tokens a second is 20 / 3600 / 990 x 1e6
	if !strings.Contains(b.String(), " 5.61") || len(r.Sections[1].Charts) != 3 {
		t.Errorf("%d charts\n%s", len(r.Sections[1].Charts), b.String())
	}
}

// A bound on either side makes the ratio a bound, or nothing at all.
func TestRatioOfCapacities(t *testing.T) {
	at := func(bound string, x float64) *analyze.Sweep {
		return &analyze.Sweep{Capacity: []analyze.LoadAtLevel{{Attainment: .99, Speed: &x, Bound: bound}}}
	}
	for _, c := range []struct{ base, cand, want string }{
		{"exact", "exact", "carries 2 times"}, {"exact", "at_least", "at least 2"}, {"at_most", "at_least", "at least 2"}, {"at_most", "exact", "at least 2"},
		{"at_least", "exact", "at most 2"}, {"at_least", "at_most", "at most 2"}, {"exact", "at_most", "at most 2"},
		{"at_least", "at_least", "is not known"}, {"at_most", "at_most", "is not known"},
	} {
		if got := moreCapacity(at(c.base, 1), at(c.cand, 2)); !strings.Contains(got, c.want) {
			t.Errorf("%s and %s: %q, want %q", c.base, c.cand, got, c.want)
		}
	}
	if got := moreCapacity(&analyze.Sweep{Capacity: []analyze.LoadAtLevel{{Attainment: .9}}}, at("exact", 1)); got != "" {
		t.Errorf("nothing measured: %q", got)
	}
}
