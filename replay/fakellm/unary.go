package fakellm

import (
	"net/http"
	"strconv"
)

// unary writes the answer in one piece once it is complete, and says how it ended. Of Behaviour it knows Status, End,
// ContentType, and what shapes the tokens.
func (s *Server) unary(w http.ResponseWriter, r *http.Request, c *call) string {
	for {
		made, complete := c.job.after(0)
		if c.do.End != "" && len(made) >= c.do.After {
			return s.unaryEnd(w, r, c)
		}
		if complete {
			break
		}
		select {
		case <-c.job.signal:
		case <-s.done:
			return OutcomeClosed
		case <-r.Context().Done():
			return OutcomeCancelled
		}
	}
	s.readCached(c)
	setContentType(w, c.do.ContentType, "application/json")
	body := c.answer()
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	if _, err := w.Write(body); err != nil || http.NewResponseController(w).Flush() != nil {
		return OutcomeCancelled
	}
	at := s.now().Microseconds()
	for range c.job.chunks {
		c.truth.WrittenUS = append(c.truth.WrittenUS, at)
	}
	return c.reason
}

// unaryEnd is the counterpart of a stream that goes wrong.
func (s *Server) unaryEnd(w http.ResponseWriter, r *http.Request, c *call) string {
	switch c.do.End {
	case EndError:
		c.truth.HTTPStatus = http.StatusInternalServerError
		(&refusal{status: c.truth.HTTPStatus, message: "programmed fault"}).write(w)
	case EndCut:
		setContentType(w, c.do.ContentType, "application/json")
		w.Write([]byte("{" + c.envelope("") + `,"choices":[{"ind`))
		http.NewResponseController(w).Flush()
	case EndMarker:
		setContentType(w, c.do.ContentType, "application/json")
		w.Write([]byte("{" + c.envelope("") + `,"choices":[]}`))
	case EndSilence:
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
	}
	return string(c.do.End)
}

func setContentType(w http.ResponseWriter, programmed, usual string) {
	if programmed == "" {
		programmed = usual
	}
	w.Header().Set("Content-Type", programmed)
}

// answer is a whole body.
func (c *call) answer() []byte {
	n := c.job.output
	f := newFrames(c, n)
	b := append([]byte("{"), c.envelope("")...)
	b = append(b, `,"choices":[{"index":0,`...)
	switch {
	case f.tool:
		b = append(b, `"message":{"role":"assistant","content":null,"tool_calls":`...)
		b = append(f.toolCalls(b, 0, n), '}')
	case f.chat:
		b = append(f.textFields(append(b, `"message":{"role":"assistant",`...), 0, n), '}')
	default:
		b = append(b, `"text":"`...)
		b = append(f.words(b, 0, n, 0), '"')
	}
	b = append(append(append(b, `,"finish_reason":"`...), c.reason...), `"}],"usage":`...)
	return append(append(b, c.usage(n)...), '}')
}
