package mapping

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// flags a source may set.
func flags() []string {
	return []string{trace.QSuspectFirst, trace.QTokensEstimated, trace.QCachedExclusive, trace.QFirstIsHeaders, trace.QNoServerCount, trace.QModelTextCut}
}

// decode turns one record into a request.
func (m *mapping) decode(c *decode.Context, v *decode.Value) error {
	rec := m.record(v)
	for i := range m.skip {
		if m.skip[i].holds(rec) {
			c.Skip(m.skip[i].reason)
			return nil
		}
	}
	r := c.New(m.name, m.vantage)
	row := row{c, rec, r, reflect.ValueOf(r).Elem(), nil}
	for i := range m.columns {
		if err := row.fill(&m.columns[i]); err != nil {
			return err
		}
	}
	if err := row.times(m); err != nil {
		return err
	}
	row.finish()
	if m.exclusive {
		row.addCached()
	}
	if m.seen != nil && m.seen.again(r.RequestID) {
		c.Skip("repeated_id")
		return nil
	}
	c.Emit(r, nil)
	return nil
}

// row is a request in the making.
type row struct {
	c      *decode.Context
	rec    *record
	r      *trace.Request
	fields reflect.Value
	later  []later // stamps that wait for the arrival
}

type later struct {
	column *column
	at     int64
}

// fill sets the column from the first source that has a value. Arrival waits for end_us.
func (w *row) fill(col *column) error {
	if col.kind == kindArrival {
		return nil
	}
	for i := range col.sources {
		s := &col.sources[i]
		if s.sum != "" {
			us, err := s.total(w.rec)
			if err != nil {
				return w.c.Reject("bad_value", "%s: %v", col.name, err)
			}
			if us != nil {
				w.fields.Field(col.index).Set(reflect.ValueOf(us))
				return nil
			}
			continue
		}
		text := s.text(w.rec)
		if text == "" {
			continue
		}
		if err := w.set(col, s, text); err != nil {
			return w.c.Reject("bad_value", "%s: %v", col.name, err)
		}
		if s.quality != "" {
			w.r.AddQuality(s.quality)
		}
		return nil
	}
	return nil
}

func (w *row) set(col *column, s *source, text string) error {
	switch col.kind {
	case kindDuration:
		return w.duration(col, s, text)
	case kindBool:
		return w.bool(col, text)
	case kindInt, kindStatus:
		return w.int(col, s, text)
	case kindClass:
		return w.class(s, text)
	case kindEndpoint:
		if s.values == nil && s.constant == "" {
			text, _ = endpoint(text)
		}
	case kindFinish:
		text = decode.FinishReason(text)
	case kindUser:
		text = w.c.User(text)
	case kindKey:
		text = w.c.Key(text)
	}
	if strings.HasSuffix(col.name, "span_id") || col.name == "trace_id" {
		text = hexID(text)
	}
	w.fields.Field(col.index).SetString(text)
	return nil
}

// hexID writes a hex id in small letters, anything else as it is.
func hexID(s string) string {
	if strings.Trim(s, "0123456789abcdefABCDEF") == "" {
		return strings.ToLower(s)
	}
	return s
}

func (w *row) duration(col *column, s *source, text string) error {
	if s.stamp != nil {
		at, _, naive, err := s.stamp.read(text, w.c.Zone)
		if naive {
			w.r.AddQuality(trace.QNaiveTime)
		}
		w.later = append(w.later, later{col, at})
		return err
	}
	us, err := duration(text, s.unit)
	w.fields.Field(col.index).Set(reflect.ValueOf(&us))
	return err
}

func (w *row) bool(col *column, text string) error {
	b := strings.EqualFold(text, "true") || text == "1"
	if !b && !strings.EqualFold(text, "false") && text != "0" {
		return fmt.Errorf("expected true or false, got %q", text)
	}
	w.fields.Field(col.index).Set(reflect.ValueOf(&b))
	return nil
}

// integer reads 12 and 12.0.
func integer(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
		return 0, fmt.Errorf("expected an integer, got %q", s)
	}
	return int64(f), nil
}

func (w *row) int(col *column, s *source, text string) error {
	n, err := integer(text)
	if err != nil {
		return err
	}
	if col.kind == kindStatus && (n < 100 || n > 599) { // 0 or 000: no answer came
		return nil
	}
	field := w.fields.Field(col.index)
	if field.Kind() == reflect.Pointer {
		field.Set(reflect.New(field.Type().Elem()))
		field = field.Elem()
	}
	if n += s.plus; field.OverflowInt(n) {
		return fmt.Errorf("expected an integer up to %d, got %q", math.MaxInt32, text)
	}
	field.SetInt(n)
	return nil
}

// class takes a class that values gave, else an HTTP status.
func (w *row) class(s *source, text string) error {
	if s.values != nil || s.constant != "" {
		w.r.ErrorClass = text
		return nil
	}
	n, err := integer(text)
	switch {
	case err != nil:
		return err
	case n == 0 || n >= 100 && n <= 599:
		w.r.ErrorClass = trace.HTTPClass(int32(n))
	}
	return nil
}

// times sets arrival and what counts from it.
func (w *row) times(m *mapping) error {
	at, err := w.arrival(m)
	if err != nil || at == nil {
		return err
	}
	w.r.Arrival = at
	for _, l := range w.later {
		us := l.at - *at
		w.fields.Field(l.column.index).Set(reflect.ValueOf(&us))
	}
	return nil
}

// arrival is nil when only a later moment of the call is known, and not how much later it was.
func (w *row) arrival(m *mapping) (*int64, error) {
	for i, col := 0, m.column("arrival"); i < len(col.sources); i++ {
		s := &col.sources[i]
		text := s.text(w.rec)
		if text == "" {
			continue
		}
		at, step, naive, err := s.stamp.read(text, w.c.Zone)
		if err != nil {
			return nil, w.c.Reject("bad_time", "arrival: %v", err)
		}
		if naive {
			w.r.AddQuality(trace.QNaiveTime)
		}
		if m.column("time_precision_us") == nil {
			w.r.TimePrecision = step
		}
		before := w.before(s.stamp.moment)
		if before == nil {
			w.r.AddQuality(trace.QEndOnly)
			return nil, nil
		}
		at -= *before
		return &at, nil
	}
	return nil, w.c.Reject("no_time", "expected a time, got none")
}

// before is how long before the moment the call began; nil when that is not known.
func (w *row) before(moment string) *int64 {
	switch moment {
	case "end":
		return w.r.EndUS
	case "headers":
		return w.r.HeadersUS
	case "late":
		return nil
	}
	return trace.Ptr(int64(0))
}

// finish applies the rules that hold for every source.
func (w *row) finish() {
	r := w.r
	if r.RequestID == "" {
		r.RequestID = w.c.Position()
		r.AddQuality(trace.QIDDerived)
	}
	if r.FirstUS == nil {
		r.TTFTKind = ""
		if r.HeadersUS != nil && (r.Stream == nil || *r.Stream) {
			r.AddQuality(trace.QFirstIsHeaders)
		}
	}
	if r.InputTokens != nil && *r.InputTokens == 0 { // no call has an empty prompt (ING-11)
		r.InputTokens = nil
	}
	if r.OutputTokens != nil && *r.OutputTokens == 0 && (r.InputTokens == nil || r.ErrorClass != trace.ClassOK) {
		r.OutputTokens = nil
	}
}

// addCached makes input tokens that exclude the cached and cache-written ones include them.
func (w *row) addCached() {
	r := w.r
	sum := int64(0)
	for _, n := range []*int64{r.InputTokens, r.CachedInputTokens, r.CacheWriteTokens} {
		if n != nil {
			sum += *n
		}
	}
	if sum == 0 || r.InputTokens != nil && sum == *r.InputTokens { // no call has an empty prompt
		return
	}
	r.InputTokens = &sum
	r.AddQuality(trace.QCachedExclusive)
}
