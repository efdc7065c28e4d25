package stats

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestChangePointExample(t *testing.T) { // EX-2.10, whose indices count from 1
	x := []float64{10, 10, 11, 9, 10, 20, 21, 19, 20, 20}
	sums, alarm, onset := CUSUM(x, 10, 1)
	if diff := cmp.Diff([]float64{0, 0, .5, 0, 0, 9.5, 20, 28.5, 38, 47.5}, sums); diff != "" {
		t.Error(diff)
	}
	if alarm+1 != 6 || onset+1 != 6 {
		t.Errorf("alarm at %d, onset %d; want 6, 6", alarm+1, onset+1)
	}
	split, q := EnergySplit(x, 1)
	if split != 5 {
		t.Errorf("split after %d, want 5", split)
	}
	near(t, "q", q, 46, 1e-12)
}

func TestEnergySplitAgainstDefinition(t *testing.T) {
	x := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}
	for minPart := 1; minPart <= 6; minPart++ {
		wantSplit, want := 0, 0.0
		for m := minPart; m <= len(x)-minPart; m++ {
			if q := energy(x[:m], x[m:]); wantSplit == 0 || q > want {
				wantSplit, want = m, q
			}
		}
		split, q := EnergySplit(x, minPart)
		if split != wantSplit {
			t.Errorf("minPart %d: split %d, want %d", minPart, split, wantSplit)
		}
		near(t, "q", q, want, 1e-12)
	}
	if split, _ := EnergySplit(x, 7); split != 0 {
		t.Errorf("too short a series was split at %d", split)
	}
}

// energy is the formula of metrics.md 2.5 term by term; its neighbours of the example are 28.72.
func energy(x, y []float64) float64 {
	m, n := float64(len(x)), float64(len(y))
	within := func(v []float64) float64 {
		s, pairs := 0.0, 0.0
		for i := range v {
			for j := range i {
				s, pairs = s+max(v[i]-v[j], v[j]-v[i]), pairs+1
			}
		}
		return s / max(pairs, 1)
	}
	cross := 0.0
	for _, a := range x {
		for _, b := range y {
			cross += max(a-b, b-a)
		}
	}
	return m * n / (m + n) * (2*cross/(m*n) - within(x) - within(y))
}

func TestEnergyNeighbours(t *testing.T) {
	x := []float64{10, 10, 11, 9, 10, 20, 21, 19, 20, 20}
	for _, m := range []int{4, 6} {
		if d := cmp.Diff(28.72, energy(x[:m], x[m:]), cmpopts.EquateApprox(0, .01)); d != "" {
			t.Errorf("split after %d: %s", m, d)
		}
	}
}

func TestCUSUMWithoutAlarm(t *testing.T) {
	if _, alarm, onset := CUSUM([]float64{1, 2, 1, 2}, 1.5, 1); alarm != -1 || onset != -1 {
		t.Errorf("alarm %d, onset %d; want none", alarm, onset)
	}
	if _, alarm, onset := CUSUM([]float64{0, 3, 3, 3}, 0, 1); alarm != 3 || onset != 1 {
		t.Errorf("slow rise: alarm %d, onset %d; want 3, 1", alarm, onset) // sums 0, 2.5, 5, 7.5
	}
}
