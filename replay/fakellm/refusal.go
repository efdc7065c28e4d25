package fakellm

import (
	"net/http"
	"strconv"
	"time"
)

// refusal is an answer with an error status.
type refusal struct {
	status     int
	retryAfter time.Duration // 0: no header
	message    string
}

func (e *refusal) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(e.retryAfter/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.status)
	w.Write([]byte(errorBody(e.status, e.message)))
}

// errorBody is an error object as OpenAI's and vLLM's servers send it.
func errorBody(status int, message string) string {
	kind := "server_error"
	switch {
	case status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case status == http.StatusUnauthorized:
		kind = "authentication_error"
	case status == http.StatusNotFound:
		kind = "not_found_error"
	case status < http.StatusInternalServerError:
		kind = "invalid_request_error"
	}
	return `{"error":{"message":` + quoted(message) + `,"type":"` + kind + `","param":null,"code":` + strconv.Itoa(status) + `}}`
}
