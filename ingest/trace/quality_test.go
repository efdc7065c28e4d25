package trace

import "testing"

func TestAddQuality(t *testing.T) {
	var r Request
	for _, f := range []string{"b", "c", "a", "b"} {
		r.AddQuality(f)
	}
	if r.Quality != "a,b,c" {
		t.Errorf("got %q, want sorted flags without doubles", r.Quality)
	}
	if !r.HasQuality("b") || r.HasQuality("d") {
		t.Error("HasQuality must find exactly the flags that were added")
	}
}
