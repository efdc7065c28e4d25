package replay

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"reprise/ingest/trace"
	"reprise/replay/wire"
)

const oneToken = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"

// misbehave answers a request as its id says.
func misbehave(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	switch r.Header.Get("X-Request-Id") {
	case "rate_limited":
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
	case "server_error":
		w.WriteHeader(502)
	case "reset":
		stream(w, oneToken)
		http.NewResponseController(w).Flush()
		conn, _, _ := http.NewResponseController(w).Hijack()
		time.Sleep(20 * time.Millisecond)
		conn.(*net.TCPConn).SetLinger(0)
		conn.Close()
	case "error_event":
		stream(w, oneToken+"event: error\ndata: {\"error\":{\"message\":\"x\",\"type\":\"server_error\"}}\n\n")
	case "early_eof":
		stream(w, oneToken)
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case "clean_close":
		stream(w, oneToken)
	case "done_without_finish":
		stream(w, oneToken+"data: [DONE]\n\n")
	case "stall":
		stream(w, oneToken)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "slow_headers":
		<-r.Context().Done()
	case "slow_body":
		stream(w, "")
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	case "content_type":
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<html>sign in</html>")
	case "redirect":
		http.Redirect(w, r, "/elsewhere", 307)
	default:
		stream(w, goodStream)
	}
}

// Every way for a call to go wrong is a kind of its own in the report, with its count and its requests, and leaves nothing behind.
func TestEachOutcomeIsItsOwnKind(t *testing.T) {
	descriptors := func() int { list, _ := os.ReadDir("/proc/self/fd"); return len(list) } // 0 where there is no /proc
	goroutines, files := runtime.NumGoroutine(), descriptors()
	kinds := map[string]struct{ class, reason string }{
		"rate_limited": {trace.ClassRateLimited, "status"}, "server_error": {trace.ClassUpstream, "status"}, "reset": {trace.ClassNetwork, "reset"},
		"error_event": {trace.ClassUpstream, "error_frame"}, "early_eof": {trace.ClassNetwork, "cut_off"}, "clean_close": {trace.ClassUpstream, "truncated"},
		"done_without_finish": {trace.ClassUpstream, "no_finish"}, "stall": {trace.ClassTimeout, "silence_timeout"},
		"slow_headers": {trace.ClassTimeout, "headers_timeout"}, "slow_body": {trace.ClassTimeout, "first_byte_timeout"},
		"content_type": {trace.ClassUpstream, "content_type"}, "redirect": {trace.ClassClientError, "redirect"}, "fine": {trace.ClassOK, ""},
	}
	var rows []trace.Request
	for id := range kinds {
		rows = append(rows, row(id, int64(len(rows)), 5, 3))
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(misbehave))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.Start()
	rep, got := replayed(t, mustPlan(t, PlanOptions{}, rows...), Options{Target: s.URL, NoPreflight: true, StopShare: -1})
	s.Close()
	seen := map[string]Example{}
	for _, e := range rep.Examples {
		seen[e.RequestID] = e
	}
	if len(rep.Examples) != len(kinds)-1 || len(got) != len(kinds) {
		t.Errorf("%d kinds of failure of %d, %d rows", len(rep.Examples), len(kinds)-1, len(got))
	}
	for _, r := range got {
		want := kinds[r.RequestID]
		if e := seen[r.RequestID]; r.ErrorClass != want.class || e.Reason != want.reason || want.reason != "" && e.Count != 1 {
			t.Errorf("%s: %s, %+v; want %s %s", r.RequestID, r.ErrorClass, e, want.class, want.reason)
		}
		partial := want.reason == "reset" || want.reason == "error_frame" || want.reason == "cut_off" || want.reason == "truncated" || want.reason == "no_finish" || want.reason == "silence_timeout"
		if partial && (r.FirstUS == nil || len(r.GapsUS) != 1) {
			t.Errorf("%s: the token that had come is lost", r.RequestID)
		}
	}
	if seen["rate_limited"].RetryAfterS != 7 || seen["server_error"].Status != 502 {
		t.Errorf("%+v", rep.Examples)
	}
	eventually(func() bool { return runtime.NumGoroutine() <= goroutines+1 && descriptors() <= files+1 })
	if g, f := runtime.NumGoroutine(), descriptors(); g > goroutines+1 || f > files+1 {
		t.Errorf("%d goroutines and %d descriptors, before %d and %d", g, f, goroutines, files)
	}
}

// What happens before there is a connection: nobody listens, or the certificate has run out.
func TestOutcomesWithoutAConnection(t *testing.T) {
	closed, _ := net.Listen("tcp", "127.0.0.1:0")
	closed.Close()
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	sheet := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	old := httptest.NewUnstartedServer(http.NotFoundHandler())
	old.Config.ErrorLog = log.New(io.Discard, "", 0)
	old.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	old.StartTLS()
	defer old.Close()
	for url, reason := range map[string]string{"http://" + closed.Addr().String(): "refused", old.URL: "certificate_expired"} {
		rep, rows := replayed(t, mustPlan(t, PlanOptions{}, requests(3, 5)...), Options{Target: url, NoPreflight: true, Wire: wire.Options{Limits: shortLimits}})
		if len(rep.Examples) != 1 {
			t.Fatalf("%s: %+v", reason, rep.Examples)
		}
		if e := rep.Examples[0]; e.Class != trace.ClassNetwork || e.Reason != reason || e.Count != 3 || len(e.Others) != 2 {
			t.Errorf("%s: %+v", reason, e)
		}
		if rows[0].SendLagUS != nil || rows[0].EndUS != nil {
			t.Errorf("%s: nothing was sent, yet %+v", reason, rows[0])
		}
	}
}
