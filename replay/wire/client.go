package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Options of a [Client]. The zero value is ready.
type Options struct {
	Limits        Limits      // zero: DefaultLimits
	TLS           *tls.Config // nil: the system's roots
	MaxEvent      int         // bytes; 0: DefaultMaxEvent
	MaxBody       int         // bytes of an answer that is not streamed; 0: 64 MiB
	ReplicaHeader string      // response header that names the engine instance
	Ahead         int         // connections kept ready ahead of need, see Warm
	ClockStamps   bool        // stamp by the clock even where the kernel can: what a client without its stamps would measure
}

// Client sends calls to one or more servers. It is safe for concurrent use; its pool keeps every idle connection, so as
// many calls as are in flight at once run on as many connections and no more (RPL-27). HTTP/1.1 only: one connection
// a stream means no call waits for another's window (RPL-28). Proxy settings of the environment are not read.
type Client struct {
	opt       Options
	transport *http.Transport
	base      time.Time
	buffers   sync.Pool
	stamping  io.Closer // nil when the kernel cannot stamp
	ahead     sync.Map  // scheme and address to *spares
	open      atomic.Int64
	once      atomic.Bool // the server closes a connection behind its answer, whatever it said: use each for one call
}

// idleTimeout is below the 5 s after which uvicorn (vLLM, SGLang) and Node close an idle connection: a request must not
// meet the close halfway, which looks like a failure of the server.
const idleTimeout = 4 * time.Second

// NewClient returns a client with its own connections.
func NewClient(o Options) *Client {
	if o.Limits == (Limits{}) {
		o.Limits = DefaultLimits()
	}
	if o.MaxBody == 0 {
		o.MaxBody = 64 << 20
	}
	c := &Client{opt: o, base: time.Now()}
	if !o.ClockStamps {
		c.stamping, _ = keepStamping() // without it the outcomes say StampUser
	}
	c.buffers.New = func() any { return new([4 << 10]byte) }
	c.transport = &http.Transport{
		DialContext: c.dial, DialTLSContext: c.dialTLS,
		MaxIdleConns: 0, MaxIdleConnsPerHost: 1 << 20, IdleConnTimeout: idleTimeout,
		DisableCompression: true,
	}
	return c
}

// Close drops the idle connections. No call may be under way.
func (c *Client) Close() {
	c.transport.CloseIdleConnections()
	c.ahead.Range(func(_, s any) bool { s.(*spares).close(); return true })
	if c.stamping != nil {
		c.stamping.Close()
	}
}

// dial and dialTLS take a connection made ahead, or make one.
func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if ready := c.spare("http", addr); ready != nil {
		return ready, nil
	}
	return c.connect(ctx, network, addr)
}

func (c *Client) dialTLS(ctx context.Context, network, addr string) (net.Conn, error) {
	if ready := c.spare("https", addr); ready != nil {
		return ready, nil
	}
	return c.handshake(ctx, network, addr)
}

func (c *Client) connect(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: c.opt.Limits.Connect}
	raw, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return c.own(raw), nil
}

// Open is how many connections there are, idle and in use.
func (c *Client) Open() int { return int(c.open.Load()) }

// handshake does TLS itself, so that the stamping connection sits below it and HTTP/2 is never offered.
func (c *Client) handshake(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := c.connect(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	conf := c.opt.TLS.Clone()
	if conf == nil {
		conf = &tls.Config{}
	}
	if conf.ServerName == "" {
		conf.ServerName, _, _ = net.SplitHostPort(addr)
	}
	t := tls.Client(raw, conf)
	if c.opt.Limits.Connect > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.opt.Limits.Connect)
		defer stop()
	}
	if err := t.HandshakeContext(ctx); err != nil {
		raw.Close()
		return nil, &handshakeError{err}
	}
	return t, nil
}

// API is the shape of an answer.
type API string

// Shapes of answers.
const (
	Chat       API = "" // chat completions and completions, of OpenAI and of every engine
	Responses  API = "responses"
	Messages   API = "messages" // Anthropic's
	Embeddings API = "embeddings"
)

// Call is one POST of a JSON body.
type Call struct {
	URL    string
	API    API
	Header http.Header // Authorization and the like; Content-Type and Accept are set here
	Body   []byte
	Stream bool          // the body asks for an event stream
	Keep   bool          // Outcome.Text is wanted
	Limit  time.Duration // longest time of this call, when it is shorter than Limits.Whole; 0 none
	At     time.Time     // nothing is written before it, when Do is called a little ahead of need; zero: at once
}

// Do sends the call and reads the answer to its end. When ctx ends first, the connection is closed (which is how a server
// learns that a user went away) and the outcome is ClassCancel with what had come.
func (c *Client) Do(ctx context.Context, call *Call) Outcome {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	x := &exchange{client: c, call: call, stamps: &stamps{base: c.base, due: int64(max(call.At.Sub(c.base), 0))}, watch: newWatch(stop, c.limits(call))}
	defer x.watch.close()
	x.out.Begun = x.watch.start
	x.frame.api, x.frame.keep = call.API, call.Keep
	x.out.Stamps = StampKernel
	req, err := x.request(ctx)
	if err != nil {
		x.out.Class, x.out.Reason = ClassNetwork, "bad_url"
		return x.out
	}
	x.run(req)
	return x.finish(ctx)
}

func (c *Client) limits(call *Call) Limits {
	l := c.opt.Limits
	if call.Limit > 0 && (l.Whole == 0 || call.Limit < l.Whole) {
		l.Whole = call.Limit
	}
	return l
}

func (x *exchange) request(ctx context.Context) (*http.Request, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: x.gotConn, GotFirstResponseByte: x.gotHeaders})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, x.call.URL, bytes.NewReader(x.call.Body))
	if err != nil {
		return nil, err
	}
	for k, v := range x.call.Header {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	// llama.cpp promises to keep a connection open and closes it behind a stream: the next call on it would fail.
	req.Close = x.client.once.Load()
	// With one of these the transport would send a POST twice when a connection breaks (RPL-29).
	req.Header.Del("Idempotency-Key")
	req.Header.Del("X-Idempotency-Key")
	req.Header.Set("Content-Type", "application/json")
	if x.call.Stream {
		req.Header.Set("Accept", "text/event-stream")
	} else {
		req.Header.Set("Accept", "application/json")
	}
	return req, nil
}

// Endpoint joins the base address of a server and a path below /v1, whether the base ends in /v1, before it, or is the
// address of an endpoint itself.
func Endpoint(base, path string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		return "", err
	}
	dir := strings.TrimSuffix(u.Path, "/")
	for _, end := range []string{"/completions", "/chat", "/responses", "/messages", "/embeddings"} {
		dir = strings.TrimSuffix(dir, end)
	}
	if !strings.HasSuffix(dir, "/v1") {
		dir += "/v1"
	}
	u.Path = dir + "/" + path
	return u.String(), nil
}
