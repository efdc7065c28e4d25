package fakellm

import (
	"net/http"
	"time"
)

// batch bounds the chunks of one write, for streams that fell behind or cost nothing.
const batch = 256

// streamer writes one event stream.
type streamer struct {
	*call
	server *Server
	gone   <-chan struct{} // the client hung up
	w      http.ResponseWriter
	rc     *http.ResponseController
	frames script
	buf    []byte
	chunks int // written
	tokens int // written
	role   bool
	free   bool // the hold is over
}

// stream writes the answer as it is made and says how it ended.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, c *call) string {
	st := &streamer{
		call: c, server: s, gone: r.Context().Done(), w: w, rc: http.NewResponseController(w),
		frames: newScript(c, c.job.output), role: !c.api.talks() || c.do.Role == RoleNone,
	}
	st.header()
	for {
		made, complete := c.job.after(st.chunks)
		made = st.allowed(made)
		complete = complete && st.tokens == c.job.output
		switch {
		case c.do.End != "" && (complete || st.chunks >= c.do.After):
			return st.end()
		case len(made) > 0:
			if !st.write(made) {
				return st.left()
			}
		case complete:
			return st.finish()
		default:
			if why := st.wait(); why != "" {
				return why
			}
		}
	}
}

func (st *streamer) header() {
	setContentType(st.w, st.do.ContentType, "text/event-stream; charset=utf-8")
	st.w.Header().Set("Cache-Control", "no-cache")
	if st.do.Role == RoleEarly && !st.role {
		st.role, st.buf = true, st.frames.role(st.buf)
		st.flush()
	} else if !st.do.LateHeaders {
		st.w.WriteHeader(http.StatusOK)
		st.flush()
	}
}

// allowed is the part of what is made that may be written now.
func (st *streamer) allowed(made []chunk) []chunk {
	if st.do.End != "" {
		made = made[:min(len(made), st.do.After-st.chunks)]
	}
	if st.do.HoldFor > 0 && !st.free {
		made = made[:min(len(made), st.do.HoldAfter-st.chunks)]
	}
	return made[:min(len(made), batch)]
}

// write sends chunks in one flush, and false when the client is gone.
func (st *streamer) write(made []chunk) bool {
	if !st.role {
		st.server.readCached(st.call)
		st.role, st.buf = true, st.frames.role(st.buf)
	}
	for _, c := range made {
		st.buf = st.frames.tokens(st.buf, st.tokens, c.tokens)
		st.tokens += c.tokens
	}
	from := st.server.now().Microseconds()
	if !st.flush() {
		return false
	}
	at := st.server.now().Microseconds()
	for range made {
		st.truth.WritingUS, st.truth.WrittenUS = append(st.truth.WritingUS, from), append(st.truth.WrittenUS, at)
	}
	st.chunks += len(made)
	return true
}

// flush writes the buffer to the socket.
func (st *streamer) flush() bool {
	_, err := st.w.Write(st.buf)
	st.buf = st.buf[:0]
	return err == nil && st.rc.Flush() == nil
}

// finish sends what follows the last token: the reason, the usage when asked, the end marker.
func (st *streamer) finish() string {
	st.server.readCached(st.call)
	st.buf = st.frames.finish(st.buf, st.tokens)
	if !st.flush() {
		return st.left()
	}
	return st.reason
}

// end does what Behaviour.End asks for.
func (st *streamer) end() string {
	switch st.do.End {
	case EndSilence:
		return st.silence()
	case EndError:
		st.buf = append(st.buf, "data: "+errorBody(http.StatusInternalServerError, "programmed fault")+"\n\n"+doneFrame...)
	case EndMarker:
		if !st.role {
			st.role, st.buf = true, st.frames.role(st.buf)
		}
		st.buf = append(st.buf, doneFrame...)
	}
	st.flush()
	return string(st.do.End)
}

func (st *streamer) silence() string {
	select {
	case <-st.gone:
	case <-st.server.done:
	}
	return string(EndSilence)
}

// left says why nothing more can be written.
func (st *streamer) left() string {
	select {
	case <-st.server.done:
		return OutcomeClosed
	default:
		return OutcomeCancelled
	}
}

// wait returns "" when there may be something to write, else why there never will be.
func (st *streamer) wait() string {
	var tick, release <-chan time.Time
	if st.do.KeepAlive > 0 && st.chunks == 0 {
		tick = time.After(st.do.KeepAlive)
	}
	if st.held() {
		release = time.After(time.Duration(*st.truth.HeldToUS)*time.Microsecond - st.server.now())
	}
	select {
	case <-st.job.signal:
	case <-tick:
		st.buf = append(st.buf, ": keep-alive\n\n"...)
		st.flush()
	case <-release:
		st.free = true
	case <-st.gone:
		return st.left()
	case <-st.server.done:
		return st.left()
	}
	return ""
}

// held says whether a chunk is being held back, and dates the hold when it is the first.
func (st *streamer) held() bool {
	if st.do.HoldFor == 0 || st.free {
		return false
	}
	made, _ := st.job.after(st.chunks)
	first := st.do.HoldAfter - st.chunks
	if len(made) <= first {
		return false
	}
	if st.truth.HeldFromUS == nil {
		from := made[first].at.Microseconds()
		to := from + st.do.HoldFor.Microseconds()
		st.truth.HeldFromUS, st.truth.HeldToUS = &from, &to
	}
	return true
}
