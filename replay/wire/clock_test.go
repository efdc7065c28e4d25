package wire

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A client that is told to read the clock does, and says so.
func TestClockStamps(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer s.Close()
	kinds := map[bool]string{}
	for _, clock := range []bool{true, false} {
		c := NewClient(Options{ClockStamps: clock})
		defer c.Close()
		o := c.Do(t.Context(), &Call{URL: s.URL, Body: []byte("{}"), Stream: true})
		if o.Class != ClassOK || len(o.Chunks) != 1 {
			t.Fatalf("%+v", o)
		}
		kinds[clock] = o.Stamps
	}
	if kinds[true] != StampUser {
		t.Errorf("with ClockStamps the stamps are of kind %s", kinds[true])
	}
}
