package wire

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// exchange is one call under way.
type exchange struct {
	client *Client
	call   *Call
	watch  *watch
	stamps *stamps
	out    Outcome

	connAt  atomic.Int64 // since Begun, when the connection was there
	reused  atomic.Bool
	headers atomic.Int64 // instant of the first byte, 0 before

	err    error // transport or body error
	parser Parser
	frame  frame
	fail   *failure // first error the server reported
	body   []byte   // of an answer that is no event stream
	done   bool     // [DONE] was seen
	reason string   // why the content is no answer
	seen   int64    // number of the read that brought the newest payload
	tokens int64    // completion tokens so far, when frames say
	every  bool     // each payload frame said so
	text   []byte   // content as it stood in the JSON, when it is wanted
}

func (x *exchange) gotConn(info httptrace.GotConnInfo) {
	x.stamps.sent.Store(0) // the transport may have tried a connection that was gone before anything was written
	attach(info.Conn, x.stamps)
	x.connAt.Store(int64(time.Since(x.out.Begun)))
	x.reused.Store(info.Reused)
	x.watch.enter(lateFirstByte, x.client.opt.Limits.FirstByte)
}

func (x *exchange) gotHeaders() { x.headers.CompareAndSwap(0, x.stamps.last.Load()) }

// run sends the request and reads the whole answer.
func (x *exchange) run(req *http.Request) {
	resp, err := x.client.transport.RoundTrip(req)
	if err != nil {
		x.err = err
		return
	}
	defer resp.Body.Close()
	x.out.Status = resp.StatusCode
	x.out.RetryAfter = retryAfter(resp.Header.Get("Retry-After"))
	if h := x.client.opt.ReplicaHeader; h != "" {
		x.out.Replica = resp.Header.Get(h)
	}
	if resp.Header.Get("Content-Encoding") != "" {
		x.reason = "content_encoding"
	}
	x.read(resp.Body, mediaType(resp.Header.Get("Content-Type")))
}

func mediaType(header string) string {
	t, _, err := mime.ParseMediaType(header)
	if err != nil {
		t, _, _ = strings.Cut(header, ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

// retryAfter reads seconds; a date is of no use to someone who does not wait.
func retryAfter(s string) time.Duration {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// read takes the body to its end: as events when it is an event stream, else as one JSON text.
func (x *exchange) read(body io.Reader, media string) {
	buf := x.client.buffers.Get().(*[4 << 10]byte)
	defer x.client.buffers.Put(buf)
	x.parser.Max = x.client.opt.MaxEvent
	x.out.Streamed = media == "text/event-stream" && x.out.Status/100 == 2
	x.every = true
	for first := true; ; first = false {
		n, err := body.Read(buf[:])
		if n > 0 && first {
			x.sniff(buf[:n], media)
			x.watch.enter(lateSilence, x.client.opt.Limits.Silence)
		} else if n > 0 && !x.done {
			x.watch.extend(x.client.opt.Limits.Silence)
		}
		if !x.consume(buf[:n]) || err != nil {
			x.end(err)
			return
		}
	}
}

// sniff takes a body that is not called an event stream for what it looks like; HTML and the like are refused.
func (x *exchange) sniff(b []byte, media string) {
	if x.out.Status/100 != 2 || x.out.Streamed {
		return
	}
	text := strings.TrimLeft(strings.TrimPrefix(string(b[:min(len(b), 64)]), "\xEF\xBB\xBF"), " \r\n\t")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if strings.HasPrefix(text, field) {
			x.out.Streamed = true
			return
		}
	}
	if !strings.HasPrefix(text, "{") && media != "application/json" && x.reason == "" {
		x.reason = "content_type"
	}
}

// consume handles bytes as they come; false when there is no sense in reading on.
func (x *exchange) consume(b []byte) bool {
	if x.out.Streamed {
		if err := x.parser.Feed(b, time.Duration(x.stamps.last.Load()), x.event); err != nil {
			x.reason = "event_too_large"
			return false
		}
		return true
	}
	if len(x.body)+len(b) > x.client.opt.MaxBody {
		x.reason = "body_too_large"
		return false
	}
	x.body = append(x.body, b...)
	return true
}

// end notes how reading ended and, at a proper end, takes what is left.
func (x *exchange) end(err error) {
	if err != nil && err != io.EOF && !x.done {
		x.err = err
	}
	switch {
	case x.err != nil || x.reason != "":
	case x.out.Streamed:
		x.parser.Close(time.Duration(x.stamps.last.Load()), x.event)
	default:
		x.unary()
	}
	if x.every {
		return
	}
	for i := range x.out.Chunks { // usage beside the last payload is a total and says nothing about that frame
		x.out.Chunks[i].Tokens = -1
	}
}

// finish turns what was seen into the outcome.
func (x *exchange) finish(ctx context.Context) Outcome {
	o := &x.out
	o.ConnWait = time.Duration(x.connAt.Load())
	o.Reused = x.reused.Load()
	if x.stamps.user.Load() > 0 || x.stamps.read.Load() == 0 {
		o.Stamps = StampUser
	}
	o.Lateness = time.Duration(x.stamps.late.Load())
	if x.err == nil {
		x.stamps.over.Store(x.stamps.now())
	}
	if x.stamps.closedBehind() || x.err != nil && o.Reused && x.stamps.read.Load() == 0 && x.watch.timeout() == "" && ctx.Err() == nil {
		x.client.once.Store(true)
	}
	x.classify(ctx)
	x.relate()
	o.Text = plain(x.text)
	return *o
}

// relate counts the times from the first write.
func (x *exchange) relate() {
	sent := x.stamps.sent.Load()
	if sent == 0 {
		return
	}
	o := &x.out
	o.Sent = x.client.base.Add(time.Duration(sent))
	since := func(instant int64) *time.Duration {
		d := max(time.Duration(instant-sent), 0)
		return &d
	}
	if h := x.headers.Load(); h > 0 {
		o.Headers = since(h)
	}
	for i := range o.Chunks {
		o.Chunks[i].At = *since(int64(o.Chunks[i].At))
	}
	if x.err != nil {
		o.End = since(x.stamps.now()) // a break or giving up has no stamp
	} else {
		o.End = since(x.stamps.last.Load())
	}
}
