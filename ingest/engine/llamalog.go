package engine

import (
	"strconv"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// LlamaCPPLog is the text log of llama.cpp's server.
func LlamaCPPLog() decode.Format {
	return decode.Format{Name: "llamacpp-log", Title: "llama.cpp server log", About: aboutLlamaLog,
		Units:   "durations in ms; the stamp M.SS.mmm.uuu counts from the server's start (relative); older builds have none",
		Defects: "the prompt eval line counts tokens that were not cached",
		Example: `0.07.002.884 I slot launch_slot_: id  3 | task 1 | processing task, is_child = 0
0.07.061.329 I slot print_timing: id  3 | task 1 | prompt eval time =      35.80 ms /   107 tokens (    0.33 ms per token,  2988.41 tokens per second)
0.07.061.411 I slot print_timing: id  3 | task 1 |        eval time =      22.61 ms /    27 tokens (    0.87 ms per token,  1150.14 tokens per second)
0.07.061.426 I slot print_timing: id  3 | task 1 |       total time =      58.41 ms /   134 tokens
0.07.061.568 I slot      release: id  3 | task 1 | stop processing: n_tokens = 133, truncated = 0`,
		Detect: detectLlamaLog, Group: llamaLog}
}

const aboutLlamaLog = `Text lines of the slots: a task is launched, timed, released; its lines are put together by task number.
Can contain: prefill, decode, tokens, cached tokens, refusals, cancels, when each began. Cannot: the wait for a slot
(queue_unseen: arrival is the launch), so no end_us and no first_us: without the wait they would look better than any
caller saw; ids that anybody else knows (request_id is FILE:LINE of the launch), models, streams, tenants, the wall clock.

arrival        of the launch line, microseconds since the server's start (clock_domain relative); builds that write no
               stamp: unknown.
input_tokens   tokens in the slot at its release, less the generated ones (the last of them is not in the slot); where
               the slot was cut (truncated = 1) from the line that names the prompt's length, else unknown.
error_class    ok with timings; the text of send_error; client_cancel where the task was cancelled (the one who asked,
               client or proxy, had left); a task without any of these: unknown.
`

// llamaTask is what is known of a task so far.
type llamaTask struct {
	r                   *trace.Request
	timed, cancelled    bool
	released            bool
	failed              string
	prompt, total, held *int64 // uncached prompt tokens, whole prompt, tokens in the slot at the release
	cut                 bool
}

func detectLlamaLog(s *decode.Sample) int {
	launch, timing, release := false, false, false
	for line := range s.Lines() {
		text := string(line)
		launch = launch || strings.Contains(text, "launch_slot_: id ")
		timing = timing || strings.Contains(text, "eval time =") && strings.Contains(text, " ms /")
		release = release || strings.Contains(text, "release: id ") && strings.Contains(text, "stop processing: n_")
	}
	return decode.One(launch) + decode.One(timing) + decode.One(release)
}

// llamaReader reads one log.
type llamaReader struct {
	tasks *pending[llamaTask]
	slots map[string]string // slot: task that was launched in it last
	now   string            // the task whose timings stand on lines of their own (older builds)
}

func llamaLog() decode.Group {
	l := llamaReader{slots: map[string]string{}}
	l.tasks = newPending(func(c *decode.Context, t *llamaTask) { t.emit(c) })
	return decode.Group{Line: l.line, End: l.tasks.finish}
}

func (l *llamaReader) line(c *decode.Context, line []byte) error {
	text := string(line)
	event, slot, task, rest := llamaEvent(text)
	t := l.tasks.get(task)
	switch {
	case event == "launch_slot_":
		if old := l.slots[slot]; old != "" {
			if t := l.tasks.take(old); t != nil {
				t.emit(c)
			}
		}
		r := newRow(c, "llamacpp-log", "")
		r.ClockDomain = trace.Relative
		r.AddQuality(trace.QQueueUnseen)
		r.Arrival = llamaClock(text)
		if len(l.slots) > maxOpen { // no server has so many
			clear(l.slots)
		}
		l.slots[slot] = task
		l.tasks.add(c, task, llamaTask{r: r})
	case event == "print_timing" && t != nil && rest == "":
		l.now = task
	case event == "print_timing" && t != nil:
		t.timing(rest)
	case event == "update_slots" && t != nil:
		t.promptLength(rest)
	case event == "release" && t != nil:
		t.release(rest)
	case event == "":
		if t, task = l.loose(text); t == nil {
			c.Skip(otherLine)
			return nil
		}
	default:
		c.Skip(otherLine)
		return nil
	}
	if t != nil && t.over() {
		l.tasks.take(task)
		t.emit(c)
		return nil
	}
	c.Skip(partOfRequest)
	return nil
}

// loose reads lines that do not name their slot: refusals and cancels name the task; timings of older builds follow the
// line that does.
func (l *llamaReader) loose(text string) (*llamaTask, string) {
	if _, after, ok := strings.Cut(text, "send_error: task id = "); ok {
		task, message, _ := strings.Cut(after, ", error: ")
		if t := l.tasks.get(task); t != nil {
			t.failed = firstOf(message, "unknown")
			return t, task
		}
	}
	if _, task, ok := strings.Cut(text, "cancel task, id_task = "); ok {
		if t := l.tasks.get(task); t != nil {
			t.cancelled = true
			return t, task
		}
	}
	if t := l.tasks.get(l.now); t != nil && strings.Contains(text, " time = ") && t.timing(text) {
		return t, l.now
	}
	return nil, ""
}

// llamaEvent cuts "slot EVENT: id  S | task T | rest".
func llamaEvent(text string) (event, slot, task, rest string) {
	head, after, ok := strings.Cut(text, ": id ")
	at := strings.LastIndex(head, "slot ")
	if !ok || at < 0 {
		return "", "", "", ""
	}
	f := strings.SplitN(after, "|", 3)
	if len(f) < 2 {
		return "", "", "", ""
	}
	task, ok = strings.CutPrefix(strings.TrimSpace(f[1]), "task ")
	if !ok {
		return "", "", "", ""
	}
	if len(f) == 3 {
		rest = strings.TrimSpace(f[2])
	}
	return strings.TrimSpace(head[at+len("slot "):]), strings.TrimSpace(f[0]), task, rest
}

// llamaClock reads the stamp M.SS.mmm.uuu before the level letter, perhaps behind a prefix of syslog; nil without one.
func llamaClock(text string) *int64 {
	head, _, _ := strings.Cut(text, "slot ")
	for _, f := range strings.Fields(head) {
		p := strings.Split(f, ".")
		if len(p) != 4 || len(p[1]) != 2 || len(p[2]) != 3 || len(p[3]) != 3 {
			continue
		}
		us, weights := int64(0), []int64{60e6, 1e6, 1e3, 1}
		for i, weight := range weights {
			n, err := strconv.ParseInt(p[i], 10, 32)
			if err != nil || n < 0 {
				return nil
			}
			us += n * weight
		}
		return &us
	}
	return nil
}

// timing reads one of the three lines of timings; false for other ones.
func (t *llamaTask) timing(text string) bool {
	name, value, ok := strings.Cut(text, " time = ")
	ms, rest, ok2 := strings.Cut(value, " ms /")
	if !ok || !ok2 {
		return false
	}
	took, tokens := microsOf(strings.TrimSpace(ms), time.Millisecond), number(rest)
	switch name = strings.TrimSpace(name); {
	case strings.HasSuffix(name, "prompt eval"):
		t.r.PrefillUS, t.prompt = took, tokens
	case strings.HasSuffix(name, "eval"):
		t.r.DecodeUS, t.r.OutputTokens = took, tokens
	case strings.HasSuffix(name, "total"):
		t.timed = true
	default:
		return false
	}
	return true
}

func (t *llamaTask) promptLength(rest string) {
	for _, name := range []string{"n_prompt_tokens = ", "task.n_tokens = "} {
		if _, after, ok := strings.Cut(rest, name); ok {
			t.total = number(after)
		}
	}
}

func (t *llamaTask) release(rest string) {
	t.released = true
	for _, name := range []string{"n_tokens = ", "n_past = "} {
		if _, after, ok := strings.Cut(rest, name); ok {
			t.held = number(after)
		}
	}
	t.cut = !strings.Contains(rest, "truncated = 0")
}

// over: released, and what became of it is known. Newer builds time a task before its release, older ones after it.
func (t *llamaTask) over() bool { return t.released && (t.timed || t.cancelled || t.failed != "") }

func (t *llamaTask) emit(c *decode.Context) {
	r := t.r
	switch {
	case t.failed != "":
		if r.ErrorClass = (decode.Failure{Text: t.failed}).ErrorClass(); r.ErrorClass == "" {
			r.ErrorClass = trace.ClassUnknown
		}
	case t.cancelled && !t.timed:
		r.ErrorClass = trace.ClassCancel
	case t.timed:
		r.ErrorClass, r.TokensSource = trace.ClassOK, "usage"
		t.tokens()
	case !t.released:
		r.ErrorClass = trace.ClassInFlight
	}
	c.Emit(r, nil)
}

func (t *llamaTask) tokens() {
	r := t.r
	r.InputTokens = t.total
	if r.InputTokens == nil && t.held != nil && !t.cut && r.OutputTokens != nil {
		r.InputTokens = trace.Ptr(*t.held - *r.OutputTokens + 1)
	}
	if r.InputTokens != nil && t.prompt != nil && *r.InputTokens >= *t.prompt {
		r.CachedInputTokens = trace.Ptr(*r.InputTokens - *t.prompt)
	} else {
		r.InputTokens = nil // fewer than were just read: not the prompt's length
	}
}
