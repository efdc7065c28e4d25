package analyze

import (
	"fmt"
	"math"
	"testing"
)

// TestCounter counts beyond what a short count holds.
func TestCounter(t *testing.T) {
	var c counter
	c.add(7, math.MaxUint32)
	c.add(8, math.MaxUint32-1)
	c.add(9, 5<<32)
	if most := c.merged([]int32{7, 0, 8, 8, 9, 1 << 24, 3}, 3); most != 1<<24 {
		t.Errorf("longest %d", most)
	}
	c.add(7, 1)
	var got []string
	_ = c.each(func(v, n int64) error {
		got = append(got, fmt.Sprint(v, " ", n))
		return nil
	})
	if want := "[7 4294967297 8 4294967296 9 21474836481 16777216 1]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
