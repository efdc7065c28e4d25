package decode

import (
	"testing"
	"time"
)

func TestMicros(t *testing.T) {
	for _, c := range []struct {
		in   string
		unit time.Duration
		want int64
	}{
		{"1795961911.985598", time.Second, 1795961911985598},
		{"0.5", time.Second, 500000}, {"500", time.Millisecond, 500000}, {"1999", time.Nanosecond, 2},
		{"-0.0015", time.Millisecond, -2}, {"1.5e3", time.Microsecond, 1500}, {"1e-7", time.Second, 0},
		{"4717109203338623e-16", time.Second, 471711}, {"0", time.Second, 0}, {"7", time.Microsecond, 7},
	} {
		if got, err := Micros(c.in, c.unit); err != nil || got != c.want {
			t.Errorf("Micros(%q, %v) = %d, %v; want %d", c.in, c.unit, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "-", "abc", "1.2.3", "NaN", "99999999999999999999999", "1e99"} {
		if got, err := Micros(bad, time.Second); err == nil {
			t.Errorf("Micros(%q) = %d, want an error", bad, got)
		}
	}
}

func TestTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in    string
		zone  *time.Location
		want  int64
		naive bool
	}{
		{"1970-01-01T00:00:01Z", berlin, 1000000, false},
		{"1970-01-01 00:00:01.5+00:00", nil, 1500000, false},
		{"1970-01-01 00:00:01.000001", nil, 1000001, true},
		{"1970-01-01T01:00:01", berlin, 1000000, true},
	} {
		if got, naive, err := Time(c.in, c.zone); err != nil || got != c.want || naive != c.naive {
			t.Errorf("Time(%q) = %d, %v, %v; want %d, %v", c.in, got, naive, err, c.want, c.naive)
		}
	}
	if _, _, err := Time("yesterday", nil); err == nil {
		t.Error("want an error")
	}
}

// Every second day of two years, every hour and odd fractions: the quick reading against the standard library.
func TestTimeLikeLibrary(t *testing.T) {
	for at := time.Date(2023, 12, 30, 0, 0, 0, 987654321, time.UTC); at.Year() < 2026; at = at.Add(49*time.Hour + 61*time.Second) {
		for _, layout := range []string{"2006-01-02 15:04:05.999999", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05-07:00", "2006-01-02T15:04:05.0"} {
			s := at.In(time.FixedZone("", -int(at.Unix()%1000)*60)).Format(layout)
			got, naive, err := Time(s, time.UTC)
			if want, wantNaive, _ := anyTime(s, time.UTC); got != want || naive != wantNaive || err != nil {
				t.Fatalf("Time(%q) = %d, %v, %v; want %d, %v", s, got, naive, err, want, wantNaive)
			}
		}
	}
}
