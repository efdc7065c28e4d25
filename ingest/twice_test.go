package ingest

import (
	"testing"
	"time"
)

// Berlin's clock goes from 03:00 back to 02:00 on 2026-10-25 (01:00 UTC), and on from 02:00 to 03:00 on 2026-03-29.
func TestShownTwice(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{
		"2026-10-24T23:59:59Z": false, // 01:59:59
		"2026-10-25T00:00:00Z": true,  // 02:00, the first
		"2026-10-25T00:59:59Z": true,
		"2026-10-25T01:00:00Z": true, // 02:00, the second
		"2026-10-25T01:59:59Z": true,
		"2026-10-25T02:00:00Z": false, // 03:00
		"2026-03-29T00:59:59Z": false,
		"2026-03-29T01:00:00Z": false,
		"2026-07-01T00:00:00Z": false,
	} {
		instant, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		if got := shownTwice(instant.UnixMicro(), berlin); got != want {
			t.Errorf("%s: got %v, want %v", at, got, want)
		}
		if shownTwice(instant.UnixMicro(), time.UTC) {
			t.Errorf("%s: UTC has no such hour", at)
		}
	}
}
