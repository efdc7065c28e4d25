package wire

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
	"testing"
	"time"
)

// certificate is one for 127.0.0.1 that is valid until then, and the roots that trust it.
func certificate(t *testing.T, until time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sheet := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, _ := x509.ParseCertificate(der)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// A certificate that ran out has a reason of its own: the target may be fine for everybody whose clock or trust differs.
func TestExpiredCertificate(t *testing.T) {
	for reason, until := range map[string]time.Time{"": time.Now().Add(time.Minute), "certificate_expired": time.Now().Add(-time.Minute)} {
		own, roots := certificate(t, until)
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, delta(0, `"content":"a"`).text+done(0).text)
		}))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
		s.StartTLS()
		defer s.Close()
		o := short()
		o.TLS = &tls.Config{RootCAs: roots}
		out := do(t, o, s.URL)
		if out.Reason != reason || reason != "" && (out.Class != ClassNetwork || !out.Sent.IsZero()) {
			t.Errorf("valid until %v: %s %q, want %q", until, out.Class, out.Reason, reason)
		}
	}
}
