package decode

import (
	"regexp"
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// Scrub takes secrets out of the names and ids of a request: a gateway may log an address with a password, a path with a
// key in its query, or a token where a name should be. Other texts are words of the record or hashes.
func (c *Context) Scrub(r *trace.Request) {
	for i, text := range [scrubbed]*string{&r.RequestID, &r.RootRequestID, &r.ResponseID, &r.TraceID, &r.SessionID, &r.SpanID, &r.ParentSpanID,
		&r.Tenant, &r.App, &r.Route, &r.ModelRequested, &r.ModelServed, &r.Provider, &r.Deployment, &r.Replica, &r.FinishReason, &r.EndpointKind} {
		if *text == "" || *text == c.harmless[i] || i > 0 && *text == c.harmless[i-1] { // the root of most calls is themselves
			continue
		}
		if !mayHoldSecret(*text) {
			c.harmless[i] = *text
			continue
		}
		*text = c.Hash.Scrub(*text)
	}
}

// scrubbed is how many texts of a request may hold a secret.
const scrubbed = 17

// What is taken out: the user of an address, queries, values of telling parameters, and tokens by their look.
var (
	addressUser = regexp.MustCompile(`://[^/\s@]*@`)
	user        = regexp.MustCompile(`(^|[/\s])[^/\s:@]+:[^/\s@]*@`) // where a decoder has cut the address
	addressRest = regexp.MustCompile(`((?:://|^/)[^\s?]*)\?\S*`)
	parameter   = regexp.MustCompile(`(?i)\b((?:api[_-]?)?key|(?:access[_-]?)?token|secret|password|passwd|authorization|sig(?:nature)?)=[^\s&]+`)
	token       = regexp.MustCompile(`(?i:\bbearer\s+[^\s"',]+|\bbasic\s+[\w+/=-]{12,})|\b(?:sk|pk|rk|gsk|xai|glpat|xox[abp])-[\w-]{16,}|\b(?:ghp|gho|hf|github_pat)_\w{16,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{30,}|\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]+)?`)
)

// Scrub returns s without secrets. In place of a token stands its keyed hash, so that ids stay apart.
func (h *Hasher) Scrub(s string) string {
	if !mayHoldSecret(s) {
		return s
	}
	s = addressUser.ReplaceAllString(s, "://")
	s = user.ReplaceAllString(s, "$1")
	s = addressRest.ReplaceAllString(s, "$1")
	s = parameter.ReplaceAllString(s, "$1=redacted")
	return token.ReplaceAllStringFunc(s, func(secret string) string { return h.Name("redacted", secret) })
}

// telling are the bytes that the signs below end or begin with.
var telling = [256]bool{'?': true, '@': true, '=': true, '-': true, '_': true, ' ': true, '\t': true, '\n': true, 'J': true, 'A': true}

// mayHoldSecret looks for a sign of each of the patterns: most texts have none, and there are many in each row.
func mayHoldSecret(s string) bool {
	ends := func(i int, last string, signs ...string) bool { // last: the letters that signs end with
		if i == 0 || strings.IndexByte(last, s[i-1]|0x20) < 0 {
			return false
		}
		for _, sign := range signs {
			if i >= len(sign) && strings.EqualFold(s[i-len(sign):i], sign) {
				return true
			}
		}
		return false
	}
	for i := range len(s) {
		if !telling[s[i]] {
			continue
		}
		found := false
		switch s[i] {
		case '?', '@', '=':
			found = true
		case '-':
			found = ends(i, "kitabp", "sk", "pk", "rk", "xai", "glpat", "xoxa", "xoxb", "xoxp")
		case '_':
			found = ends(i, "poft", "ghp", "gho", "hf", "pat")
		case ' ', '\t', '\n':
			found = ends(i, "rc", "bearer", "basic")
		case 'J':
			found = ends(i, "y", "ey")
		case 'A':
			found = strings.HasPrefix(s[i:], "AKIA") || strings.HasPrefix(s[i:], "AIza")
		}
		if found {
			return true
		}
	}
	return false
}

// Told is what may be said of a detail of an error: texts in quotes come from the log and may be what somebody wrote. A
// number, a time, a short word and what a text was expected to be "like" stay; of any other only the shape is told: x for
// a letter, 9 for a digit.
func Told(detail string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(detail, '"')
		if at < 0 {
			return b.String() + detail
		}
		b.WriteString(detail[:at])
		quoted, err := strconv.QuotedPrefix(detail[at:])
		if err != nil { // cut
			return b.String() + shape(detail[at:])
		}
		text, err := strconv.Unquote(quoted)
		if ours := strings.HasSuffix(b.String(), "like "); err != nil || !ours && !harmless(text) {
			text = shape(text)
		}
		b.WriteString(strconv.Quote(text))
		detail = detail[at+len(quoted):]
	}
}

// harmless texts are numbers, times and short words.
func harmless(s string) bool {
	const longest = 20
	numeric := strings.Trim(s, "0123456789 .,:;+-/TZ%") == ""
	word := len(s) <= longest && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz_") == ""
	return numeric || word
}

func shape(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9':
			return '9'
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80:
			return 'x'
		}
		return r
	}, s)
}
