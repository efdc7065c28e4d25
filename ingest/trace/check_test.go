package trace

import (
	"math"
	"strings"
	"testing"
	"time"
)

// The cases are the "Try" lines of pitfalls.md part A.
func TestCheck(t *testing.T) {
	us := func(ms int64) *int64 { return Ptr(ms * 1000) }
	n := Ptr[int64]
	for name, c := range map[string]struct {
		in      Request
		first   *int64
		quality string
	}{
		"ING-01 first token stored as end":   {Request{Stream: Ptr(true), FirstUS: us(8000), EndUS: us(8000), OutputTokens: n(300)}, nil, QFirstIsEnd},
		"ING-01 one millisecond before it":   {Request{Stream: Ptr(true), FirstUS: us(7999), EndUS: us(8000), OutputTokens: n(300)}, nil, QFirstIsEnd},
		"ING-01 two tokens at once":          {Request{Stream: Ptr(true), FirstUS: us(8000), EndUS: us(8000), OutputTokens: n(2)}, nil, QFirstIsEnd},
		"a short answer after a long wait":   {Request{Stream: Ptr(true), FirstUS: us(9075), EndUS: us(9106), OutputTokens: n(8)}, us(9075), ""}, // measured, captures: r00415
		"too fast within the last percent":   {Request{Stream: Ptr(true), FirstUS: us(7950), EndUS: us(8000), OutputTokens: n(300)}, nil, QFirstIsEnd},
		"one token may end at once":          {Request{Stream: Ptr(true), FirstUS: us(8000), EndUS: us(8000), OutputTokens: n(1)}, us(8000), ""},
		"ING-02 unstreamed has no first":     {Request{Stream: Ptr(false), FirstUS: us(4000), EndUS: us(4000)}, nil, ""},
		"ING-03 two ms for 12000 tokens":     {Request{Stream: Ptr(true), FirstUS: us(2), EndUS: us(900), InputTokens: n(12000), CachedInputTokens: n(0)}, us(2), QSuspectFirst},
		"ING-03 not when it was cached":      {Request{Stream: Ptr(true), FirstUS: us(2), EndUS: us(900), InputTokens: n(12000), CachedInputTokens: n(11900)}, us(2), ""},
		"ING-05 negative":                    {Request{FirstUS: us(-3), EndUS: us(900)}, nil, QNegative},
		"ING-09 first after end":             {Request{FirstUS: us(500), EndUS: us(2)}, nil, QFirstAfterEnd},
		"chunk times prove the first token":  {Request{Stream: Ptr(true), GapsUS: []int32{900, 1, 1, 1, 1}, EndUS: n(904), OutputTokens: n(5)}, n(900), ""},
		"a negative gap drops the list only": {Request{Stream: Ptr(true), FirstUS: us(1), GapsUS: []int32{900, -1}, EndUS: us(40)}, us(1), QNegative},
		"buffered":                           {Request{Stream: Ptr(true), GapsUS: []int32{900}, OutputTokens: n(5)}, n(900), QPseudoStream},
	} {
		r := c.in
		r.TTFTKind = TTFTAny
		Check(&r)
		if (r.FirstUS == nil) != (c.first == nil) || r.FirstUS != nil && *r.FirstUS != *c.first || r.Quality != c.quality {
			t.Errorf("%s: first %v, quality %q; want %v, %q", name, r.FirstUS, r.Quality, c.first, c.quality)
		}
		if r.FirstUS == nil && r.TTFTKind != "" {
			t.Errorf("%s: a kind without a time", name)
		}
	}
}

func TestCheckTokens(t *testing.T) {
	n := Ptr[int64]
	r := Request{RequestID: "a", ErrorClass: ClassOK, InputTokens: n(10), CachedInputTokens: n(11), OutputTokens: n(5), ReasoningTokens: n(6)}
	Check(&r)
	if r.CachedInputTokens != nil || r.ReasoningTokens != nil || r.Quality != QCachedOver+","+QReasoningOver {
		t.Errorf("contradicting parts must go and be named: %+v", r)
	}
	if r.RootRequestID != "a" || r.Attempt != 1 {
		t.Error("a lone attempt is its own root")
	}
	r = Request{ErrorClass: ClassOK, OutputTokens: n(-1), TokensSource: "usage"}
	Check(&r)
	if r.OutputTokens != nil || r.Quality != QTokensMissing || r.TokensSource != "" {
		t.Errorf("a negative count is no count: %+v", r)
	}
}

func TestCheckPrefix(t *testing.T) { // RPL-21
	r := Request{InputTokens: Ptr(int64(300)), PrefixBlockTokens: Ptr(int32(512)), PrefixHashIDs: []int64{1, 2, 3}}
	Check(&r)
	if r.PrefixHashIDs != nil || !r.HasQuality(QPrefixInvalid) {
		t.Errorf("three blocks of 512 cannot hold 300 tokens: %+v", r)
	}
}

func TestCheckText(t *testing.T) {
	r := Request{Tenant: "a\xffb", App: strings.Repeat("x", 5000)}
	Check(&r)
	if r.Tenant != "a\uFFFDb" || len(r.App) != maxName {
		t.Errorf("names must be bounded, valid UTF-8: %q, %d bytes", r.Tenant, len(r.App))
	}
}

func TestSetGaps(t *testing.T) {
	var r Request
	r.SetGaps([]int64{200, 240, 900})
	if len(r.GapsUS) != 3 || r.GapsUS[0] != 200 || r.GapsUS[1] != 40 || r.GapsUS[2] != 660 {
		t.Errorf("gaps %v", r.GapsUS)
	}
	r.SetGaps([]int64{1, 1 << 32})
	if r.GapsUS != nil || !r.HasQuality(QGapOverflow) {
		t.Error("a gap beyond 32 bits must drop the list and say so")
	}
}

func TestCheckArrival(t *testing.T) {
	for text, kept := range map[string]bool{"1000-01-01T00:00:00Z": true, "0999-12-31T23:59:59Z": false, "0001-01-01T00:00:00Z": false, "9999-12-31T23:59:59Z": true} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Arrival: Ptr(at.UnixMicro())}
		Check(&r)
		if (r.Arrival != nil) != kept || r.HasQuality(QTimeRange) == kept {
			t.Errorf("%s: arrival %v, quality %q", text, r.Arrival, r.Quality)
		}
	}
}

// A day of 1e6 microseconds times 86,400; an instant in place of a duration is 56 years since 1970.
func TestCheckTooLong(t *testing.T) {
	day, instant := int64(86_400_000_000), int64(1795961900000000)
	r := Request{Arrival: &instant, FirstUS: Ptr(day), EndUS: Ptr(366 * day)}
	if Check(&r); r.FirstUS == nil || r.EndUS == nil || r.Quality != "" {
		t.Errorf("a year: %v, %v, %q", r.FirstUS, r.EndUS, r.Quality)
	}
	r = Request{Arrival: &instant, QueueUS: Ptr(day), EndUS: Ptr(366*day + 1), PrefillUS: &instant}
	if Check(&r); r.QueueUS == nil || r.EndUS != nil || r.PrefillUS != nil || r.Quality != QTooLong {
		t.Errorf("more: %v, %v, %v, %q", r.QueueUS, r.EndUS, r.PrefillUS, r.Quality)
	}
}

func TestCheckTooManyTokens(t *testing.T) {
	r := Request{InputTokens: Ptr[int64](2147483647), OutputTokens: Ptr[int64](2147483648), MaxTokens: Ptr[int64](math.MaxInt64)}
	if Check(&r); r.InputTokens == nil || r.OutputTokens != nil || r.MaxTokens != nil || r.Quality != QTokensTooMany {
		t.Errorf("%v, %v, %v, %q", r.InputTokens, r.OutputTokens, r.MaxTokens, r.Quality)
	}
	r = Request{MaxTokens: Ptr[int64](-1), InputTokens: Ptr[int64](7)}
	if Check(&r); r.MaxTokens != nil || r.Quality != "" {
		t.Errorf("no limit: %v, %q", r.MaxTokens, r.Quality)
	}
}

func TestCheckChunkTokens(t *testing.T) {
	for _, c := range []struct {
		tokens []int32
		kept   bool
	}{{[]int32{1 << 20, 0}, true}, {[]int32{1 << 20, 1}, false}, {[]int32{math.MaxInt32, math.MaxInt32}, false}, {[]int32{2, -1}, false}} {
		r := Request{GapsUS: []int32{1, 2}, ChunkTokens: c.tokens}
		if Check(&r); (r.ChunkTokens != nil) != c.kept || r.HasQuality(QChunkTokens) == c.kept || r.GapsUS == nil {
			t.Errorf("%v: %v, %q", c.tokens, r.ChunkTokens, r.Quality)
		}
	}
}
