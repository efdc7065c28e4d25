package analyze

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// metrics.md EX-4.5: none of 200 moves explains as much.
func TestPlaceboEX45(t *testing.T) {
	if p := placeboP(0, 200); math.Abs(p-.004975) > 5e-7 {
		t.Errorf("p %v, want .004975", p)
	}
}

func TestCoverAgainstPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var spans []span
		for range rng.IntN(8) {
			from := rng.Int64N(100)
			spans = append(spans, span{from, from + 1 + rng.Int64N(20)})
		}
		c := newCover(append([]span(nil), spans...))
		for range 20 {
			s := span{rng.Int64N(130) - 5, 0}
			s.to = s.from + rng.Int64N(40)
			if got, want := c.within(s.from, s.to), union(s, spans); got != want {
				t.Fatalf("%v within %v: %d, want %d", spans, s, got, want)
			}
		}
	}
}

// A move stays within the hour and goes at least 10 s away.
func TestMove(t *testing.T) {
	c := newCover([]span{{1e9, 1e9 + 1e6}, {1e9 + 5400e6 - 1e6, 1e9 + 5400e6}})
	for _, at := range []int64{1e9, 1e9 + 1800e6, 1e9 + 3700e6, 1e9 + 5399e6} {
		for _, turn := range []float64{0, .5, .999999} {
			moved := c.move(at, turn)
			if away := max(moved-at, at-moved); (moved-1e9)/hourUS != (at-1e9)/hourUS || away < minShiftUS || moved < 1e9 || moved > 1e9+5400e6 {
				t.Errorf("%d by %v to %d", at, turn, moved)
			}
		}
	}
	if got := newCover([]span{{0, 1e6}}).move(5e5, .5); got != 5e5 {
		t.Errorf("moved to %d within an hour of one second", got)
	}
}

// On the capture the stalls follow the prefills; pauses that have nothing to do with them do not pass.
func TestStallControls(t *testing.T) {
	e := newEngine(t)
	real, err := e.StallControls(context.Background(), ingested(t, "../testdata/truth/baseline.jsonl.gz"), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if !real.Holds || real.Stalled < 250 || *real.Enrichment < 1.5 || *real.P > .005 || real.OthersS != nil {
		t.Errorf("capture: %+v", real)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	rows := quiet(80)
	for i := range rows {
		rows[i].GapsUS = []int32{int32(*rows[i].FirstUS)}
		for range 19 {
			rows[i].GapsUS = append(rows[i].GapsUS, 20000)
		}
		rows[i].GapsUS[1+rng.IntN(18)] += 300000
		*rows[i].LastUS, *rows[i].EndUS = *rows[i].FirstUS+680000, *rows[i].FirstUS+680000
	}
	none, err := e.StallControls(context.Background(), writeRun(t, rows), Scope{})
	if err != nil {
		t.Fatal(err)
	}
	if none.Holds || none.Stalled != 80 || none.LostS != 0 {
		t.Errorf("pauses: %+v", none)
	}
}

// What fails or is unknown is told beside the figure, and the table says which.
func TestControlsTable(t *testing.T) {
	p, enrichment, placebo, others, dose := .3, 1.2, 10., 11., .9
	c := StallControls{Stalled: 5, LostS: 12, PlaceboS: &placebo, Enrichment: &enrichment, P: &p, OthersS: &others, LaterS: 12, Dose: &dose}
	c.judge()
	r := c.table()
	want := [][]any{{"placebo: share of moves", .3, "at most 0.01", "no"}, {"placebo: times the mean", 1.2, "at least 1.5", "no"},
		{"other replica, of placebo", 1.1, "at most 1.2", "yes"}, {"later, of now", 1., "at most 0.8", "no"}, {"dose", .9, "0.5 to 2", "yes"}}
	if diff := gocmp.Diff(want, r.Rows); diff != "" || len(r.Warnings) != 1 {
		t.Errorf("%s %v", diff, r.Warnings)
	}
	if r := (StallControls{}).table(); r.Rows[0][1] != nil || r.Rows[0][3] != "unknown" {
		t.Errorf("nothing measured: %v", r.Rows)
	}
}
