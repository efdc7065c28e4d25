package fakellm

import (
	"net/http"
	"strconv"
)

// unary writes the answer in one piece once it is complete, and says how it ended.
func (s *Server) unary(w http.ResponseWriter, r *http.Request, c *call) string {
	for {
		made, complete := c.job.after(0)
		if c.do.End != "" && (complete || len(made) >= c.do.After) {
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
	c.rest = "\n"
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+len(c.rest)))
	if _, err := w.Write(body); err != nil || http.NewResponseController(w).Flush() != nil {
		return OutcomeCancelled
	}
	at := s.now().Microseconds()
	made, _ := c.job.after(0)
	for range made {
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
	switch c.api {
	case apiResponses:
		return (&responsesScript{frames: f}).whole(n)
	case apiMessages:
		return (&messagesScript{frames: f}).whole(n)
	case apiEmbeddings:
		return c.embedding()
	}
	b := append([]byte("{"), c.envelope("")...)
	b = append(b, `,"choices":[{"index":0,`...)
	if f.chat {
		b = append(b, `"message":{"role":"assistant",`...)
		if f.tool || f.reasoning == n {
			b = append(b, `"content":null,`...)
		}
		b = append(f.fields(b, 0, n), '}')
	} else {
		b = append(f.words(append(b, `"text":"`...), 0, n, 0), '"')
	}
	b = append(append(append(b, `,"finish_reason":"`...), c.reason...), `"}],"usage":`...)
	return append(append(b, c.usage(n)...), '}')
}
