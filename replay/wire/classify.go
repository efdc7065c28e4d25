package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
)

// handshakeError is a TLS handshake that failed, whoever's fault.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "tls: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

// classify sets Class, Reason and Code. Order: the status, an error inside the answer, our own end of the call, an answer
// that is none, a broken transport.
func (x *exchange) classify(ctx context.Context) {
	o := &x.out
	o.ID, o.Model = x.frame.id, x.frame.model
	if x.fail != nil {
		o.Code = cleanCode(x.fail)
	}
	switch {
	case o.Status != 0 && o.Status/100 != 2:
		o.Class, o.Reason = statusClass(o.Status, x.fail), "status"
		if o.Status/100 == 3 {
			o.Reason = "redirect"
		}
	case x.fail != nil:
		o.Class, o.Reason = failureClass(x.fail), x.reason
	case x.err != nil && x.watch.timeout() != "":
		o.Class, o.Reason = ClassTimeout, x.watch.timeout()
		if o.Status == 0 && o.Reason == lateFirstByte {
			o.Reason = lateHeaders
		}
	case x.err != nil && ctx.Err() != nil:
		o.Class, o.Reason = ClassCancel, "cancelled"
	case x.reason != "":
		o.Class, o.Reason = ClassUpstream, x.reason
	case x.err != nil:
		o.Class, o.Reason = ClassNetwork, networkReason(x.err, o.Status)
	default:
		x.judge()
	}
}

// judge decides about an answer that came whole and names no error.
func (x *exchange) judge() {
	o := &x.out
	payload := len(o.Chunks) > 0
	for i := range x.frame.choices {
		payload = payload || !o.Streamed && x.frame.choices[i].kind != 0
	}
	declared := o.Finish != "" && o.Usage.Output != nil // it says that it ended, and after how many tokens (maybe hidden ones)
	o.Class = ClassUpstream
	switch {
	case o.Finish == "error" || o.Finish == "abort":
		o.Reason = "finish_" + o.Finish
	case !payload && !declared:
		o.Reason = "empty"
	case o.Streamed && o.Finish == "": // gateways end a broken stream with a clean close, and even with the end marker
		if o.Reason = "truncated"; x.done {
			o.Reason = "no_finish"
		}
	default:
		o.Class = ClassOK
	}
}

// statusClass says whose fault an answer other than 2xx is (metrics.md 0.2).
func statusClass(status int, f *failure) string {
	if f != nil && status/100 == 4 {
		if c := failureClass(f); c == ClassContextLength || c == ClassContentFilter {
			return c
		}
	}
	switch {
	case status == 429:
		return ClassRateLimited
	case status == 408 || status == 504:
		return ClassTimeout
	case status == 499 || status/100 == 5:
		return ClassUpstream
	default: // a redirect too: it is not followed
		return ClassClientError
	}
}

// failureClass goes by code and type, and for an over-long prompt by the message, which engines send without a code.
func failureClass(f *failure) string {
	text := strings.ToLower(f.code + " " + f.kind)
	message := strings.ToLower(f.message)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("context_length", "context_window", "exceed_context"), strings.Contains(message, "context length"), strings.Contains(message, "context size"):
		return ClassContextLength
	case has("content_filter", "content_policy", "responsibleai"):
		return ClassContentFilter
	case has("rate_limit", "ratelimit", "quota", "429"):
		return ClassRateLimited
	case has("timeout", "504", "408"):
		return ClassTimeout
	case has("invalid_request", "badrequest", "bad_request", "not_found", "notfound", "authentication", "permission", "400", "401", "403", "404", "422"):
		return ClassClientError
	}
	return ClassUpstream
}

// cleanCode keeps the code, else the type, if it is a word and not a sentence.
func cleanCode(f *failure) string {
	for _, s := range []string{f.code, f.kind} {
		if s != "" && len(s) <= 64 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") == "" {
			return s
		}
	}
	return ""
}

func networkReason(err error, status int) string {
	var dns *net.DNSError
	var op *net.OpError
	var hand *handshakeError
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var invalid x509.CertificateInvalidError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired: // or not valid yet: the clocks may differ
		return "certificate_expired"
	case errors.As(err, &hand), errors.As(err, &cert), errors.As(err, &unknown):
		return "tls"
	case errors.As(err, &dns):
		return "name_lookup"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.As(err, &op) && op.Op == "dial":
		return "dial"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "cut_off"
	case status == 0:
		return "no_answer"
	}
	return "broken"
}
