package decode

import (
	"math/big"
	"regexp"
	"testing"
	"time"
)

// number: exponents up to 30, as many as any log has.
var number = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?0*([0-9]|[12][0-9]|30))?$`)

// exact computes what Micros must give with big rationals; false when it is no number or does not fit.
func exact(s string, unit time.Duration) (int64, bool) {
	if !number.MatchString(s) {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false
	}
	r.Mul(r, big.NewRat(int64(unit), 1000))
	half := big.NewRat(int64(r.Sign()), 2) // to nearest, half away from zero
	r.Add(r, half)
	n := new(big.Int).Quo(r.Num(), r.Denom())
	return n.Int64(), n.IsInt64()
}

// FuzzMicros: right to the microsecond or an error, never a value next to the right one. Only numbers that are very
// long or very large may be refused although they are numbers.
func FuzzMicros(f *testing.F) {
	for _, s := range []string{"1795961911.985598", "0.5", "-0.0015", "1.5e3", "1e-7", "4717109203338623e-16", ".5", "5.", "+1", "1e5x", "1e+2", "1_0", "0x1p4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
			want, ok := exact(s, unit)
			got, err := Micros(s, unit)
			switch {
			case err == nil && !ok:
				t.Errorf("Micros(%q, %v) = %d, want an error", s, unit, got)
			case err == nil && got != want:
				t.Errorf("Micros(%q, %v) = %d, want %d", s, unit, got, want)
			case err != nil && ok && len(s) <= 16 && want < 1<<60 && want > -1<<60:
				t.Errorf("Micros(%q, %v): %v; want %d", s, unit, err, want)
			}
		}
	})
}

// FuzzTime: what is read can be written and read again, and the machine's zone plays no part.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-11-24T14:02:03.5Z", "2026-11-24 14:02:03.123456+01:00", "2026-11-24 14:02:03", "2023-11-16 18:17:03.9799600", "2026-02-30T00:00:00Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		us, naive, err := Time(s, nil)
		if year := time.UnixMicro(us).UTC().Year(); err != nil || year < 0 || year > 9999 { // a zone can move it where no text says it
			return
		}
		again, stillNaive, err := Time(time.UnixMicro(us).UTC().Format("2006-01-02T15:04:05.999999Z07:00"), nil)
		if err != nil || again != us || stillNaive {
			t.Errorf("Time(%q) = %d, %v; read again %d, %v, %v", s, us, naive, again, stillNaive, err)
		}
		zone := time.FixedZone("", 3600)
		if shifted, n, _ := Time(s, zone); naive != n || naive && shifted != us-3600e6 || !naive && shifted != us {
			t.Errorf("Time(%q) in +01:00 = %d, in UTC %d, naive %v", s, shifted, us, naive)
		}
	})
}

// FuzzTimeLikeLibrary: the quick reading of the usual form gives what the standard library gives.
func FuzzTimeLikeLibrary(f *testing.F) {
	for _, s := range []string{"2026-11-24T14:02:03.5Z", "2026-02-28 14:02:03.123456789+23:59", "2026-03-29 02:30:00", "2026-10-25 02:30:00.9999999",
		"2024-02-29T23:59:59-00:30", "2026-13-01 00:00:00", "2026-12-31 24:00:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:60", "2026-01-01T00:00:00.", "2026-01-01 00:00:00,5"} {
		f.Add(s)
	}
	berlin, err := time.LoadLocation("Europe/Berlin") // with clock changes
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, naive, err := Time(s, berlin)
		want, wantNaive, wantErr := anyTime(s, berlin)
		if got != want || naive != wantNaive || (err == nil) != (wantErr == nil) {
			t.Errorf("Time(%q) = %d, %v, %v; the library gives %d, %v, %v", s, got, naive, err, want, wantNaive, wantErr)
		}
	})
}
