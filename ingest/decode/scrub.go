package decode

import (
	"regexp"
	"strconv"
	"strings"

	"reprise/ingest/trace"
)

// Tidy makes the texts of a request clean ([trace.CleanText]) and takes secrets out of its names and ids: a gateway may log
// an address with a password, a path with a key in its query, or a token where a name should be. Most texts stood in the
// record before too, or beside (the root of most calls is themselves).
func (c *Context) Tidy(r *trace.Request) {
	before := ""
	for i, text := range r.Texts() {
		s := *text
		if s == "" || s == before || s == c.tidy[i] {
			continue
		}
		clean := trace.CleanText(s)
		if i < scrubbed {
			clean = c.Hash.Scrub(clean)
		}
		if *text = clean; clean == s {
			c.tidy[i], before = s, s
		}
	}
}

// scrubbed is how many texts of a request may hold a secret: the others are hashes and the name of the file.
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
var telling = [256]uint8{'?': 1, '@': 1, '=': 1, '-': 1, '_': 1, ' ': 1, '\t': 1, '\n': 1, 'J': 1, 'A': 1}

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
	for i := 0; i < len(s); i++ {
		for len(s)-i >= 8 && telling[s[i]]|telling[s[i+1]]|telling[s[i+2]]|telling[s[i+3]]|telling[s[i+4]]|telling[s[i+5]]|telling[s[i+6]]|telling[s[i+7]] == 0 {
			i += 8
		}
		if i == len(s) || telling[s[i]] == 0 {
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
