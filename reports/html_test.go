package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"reprise/analyze"
)

func page1(t *testing.T, r Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The golden page is without the chart library, which has its own place.
func TestPageGolden(t *testing.T) {
	r := everything()
	r.Sections[1].Result.Rows = r.Sections[1].Result.Rows[:20]
	r.Sections[1].Charts, _ = chartsOf(r.Sections[1].Result)
	got := bytes.Replace(page1(t, r), []byte(asset("echarts.min.js")), []byte("(ECharts)"), 1)
	golden(t, "everything.html", got)
	if again := bytes.Replace(page1(t, r), []byte(asset("echarts.min.js")), []byte("(ECharts)"), 1); !bytes.Equal(got, again) {
		t.Error("the same report gives other bytes")
	}
}

// RPT-02: nothing on the page points anywhere outside it.
func TestNoExternalReference(t *testing.T) {
	text := string(page1(t, everything()))
	if m := regexp.MustCompile(`(?i)\b(src|href|srcset|action|poster|data)\s*=\s*["']?\s*([a-z][a-z0-9+.-]*:|//)[^"'\s>]*`).FindString(text); m != "" {
		t.Errorf("external reference %q", m)
	}
	if m := regexp.MustCompile(`(?i)@import|url\(\s*["']?[a-z]+:|<link|<base|<iframe|<object`).FindString(strings.Replace(text, asset("echarts.min.js"), "", 1)); m != "" {
		t.Errorf("external reference %q", m)
	}
}

// The policy allows nothing by default, and exactly the scripts that stand in the page.
func TestPolicy(t *testing.T) {
	text := string(page1(t, everything()))
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text)
	if policy == nil {
		t.Fatal("no policy")
	}
	rules := strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy[1])
	if !strings.HasPrefix(rules, "default-src 'none'; script-src 'sha256-") || strings.Contains(rules, "unsafe-eval") || strings.Contains(rules, "http") {
		t.Errorf("policy %q", rules)
	}
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(text, -1)
	if len(scripts) != 2 || strings.Count(rules, "sha256-") != 2 {
		t.Fatalf("%d scripts, policy %q", len(scripts), rules)
	}
	for _, s := range scripts {
		sum := sha256.Sum256([]byte(s[1]))
		if h := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(rules, "'sha256-"+h+"'") {
			t.Errorf("the hash of a script, %s, is not in %q", h, rules)
		}
	}
}

// A report without charts carries no script at all.
func TestPageWithoutCharts(t *testing.T) {
	text := string(page1(t, Report{Title: "T", Sections: []Section{section("latency", latencyResult(), "")}}))
	if strings.Contains(text, "<script") || !strings.Contains(text, "script-src &#39;none&#39;") || len(text) > 20_000 {
		t.Errorf("%d bytes: %.400s", len(text), text)
	}
}

// RPT-01: the name never stands unescaped, and stands escaped in every place it was put.
func TestHostileNames(t *testing.T) {
	text := string(page1(t, everything()))
	own := strings.Replace(text, asset("echarts.min.js"), "", 1)
	for _, bad := range []string{"<img", "</script><", "\u2028", "\u202e", "\x1b"} {
		if i := strings.Index(own, bad); i >= 0 {
			t.Errorf("%q stands in the page: %q", bad, own[max(0, i-40):i+40])
		}
	}
	if n := strings.Count(own, "&lt;/script&gt;&lt;img src=x"); n < 15 {
		t.Errorf("the name stands escaped in %d places, want it in title, subtitle, answer, figures, notes, next, tables, warning, SQL and reason", n)
	}
	if n := strings.Count(own, `\u003c/script\u003e\u003cimg`); n < 4 {
		t.Errorf("the name stands in %d chart options, want it in a line, a bar and both axes of the heat map", n)
	}
}

// RPT-04 and the size budget: 1.5 MB and the data, however many rows there are. What is left out is said.
func TestPageSize(t *testing.T) {
	if n := len(page1(t, everything())); n > 1_500_000 {
		t.Errorf("page of %d bytes", n)
	}
	r := manyGroups(25000, 40) // a million rows
	text := string(page1(t, Report{Title: "T", Sections: []Section{section(r.Query, r, "")}}))
	if len(text) > 1_700_000 {
		t.Errorf("page of %d bytes for a million rows", len(text))
	}
	if !strings.Contains(text, "999,500 more rows are not shown (1,000,000 in all)") || !strings.Contains(text, "987654") {
		t.Error("the page does not say what is left out, or has lost the highest value")
	}
}

// The header says what the report was made from and with, and every section has a link to copy.
func TestHeaderAndLinks(t *testing.T) {
	r := everything()
	first, last := int64(1795392000000000), int64(1795392000000000+3600e6)
	r.Facts = FactsOf([]analyze.Identity{{Role: "base", Path: "runs/" + hostile, ID: "0123456789ab", Parts: 2, Rows: 1204, FirstUS: &first, LastUS: &last,
		Sources: []analyze.Source{{Format: "otlp", Vantage: "engine", Rows: 4}, {Format: "litellm", Vantage: "gateway", Rows: 1200}}}}, "v1.2.3")
	text := string(page1(t, r))
	for _, want := range []string{"(0123456789ab, 1,204 requests in 2 parts)", "<dd>litellm as seen by the gateway (1,200), otlp as seen by the engine (4)</dd>",
		"<dt>arrived</dt><dd>2026-11-23 00:00:00 to 2026-11-23 01:00:00</dd>", "<dt>zone</dt><dd>UTC</dd>", "<dd>reprise v1.2.3</dd>", "ECharts " + EChartsVersion} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	for _, s := range r.Sections {
		if !strings.Contains(text, `<section id="`+s.ID+`">`) || !strings.Contains(text, `<a class="link" href="#`+s.ID+`"`) {
			t.Errorf("section %s has no link", s.ID)
		}
	}
}
