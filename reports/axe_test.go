package reports

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"reprise/analyze"
)

// axe-core is fetched once with npm and kept outside the checkout.
const (
	axeVersion = "4.14.1"
	axeSum     = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745" // of the package
)

func axe(t *testing.T) []byte {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "reprise-tests")
	file := filepath.Join(dir, "axe-core-"+axeVersion+".tgz")
	b, err := os.ReadFile(file)
	if err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("npm", "pack", "--silent", "--pack-destination", dir, "axe-core@"+axeVersion).CombinedOutput(); err != nil {
			t.Fatalf("no axe-core in %s, and npm (apt-get install npm; make test does it) does not bring it: %v\n%s", dir, err, out)
		}
		if b, err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != axeSum {
		t.Fatalf("%s is not the axe-core that was looked at: remove it", file)
	}
	return fromTar(t, b, "package/axe.min.js")
}

func fromTar(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err != nil {
			t.Fatalf("no %s: %v", name, err)
		}
		if h.Name == name {
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
	}
}

// pageKinds are a page of every kind, hostile names in each.
func pageKinds() map[string]Report {
	return map[string]Report{"analyze": everything(), "incidents": Build(incidentStory()), "compare": BuildComparison(comparison()), "weekly": BuildWeekly(weeklyStory()),
		"incident": BuildIncident(caseStory()), "migration": migrationReport(), "sweep": BuildSweep(sweepStory()), "empty": Build(AnalyzeInput{Run: "empty"})}
}

// caseStory is one incident of the story with all its parts.
func caseStory() IncidentInput {
	in := incidentStory()
	v := &analyze.Investigation{Incident: in.Incidents[0], Others: in.Incidents[1:], Results: in.Results, Missing: map[string]string{"stall_blame": "no replica " + hostile}, Budget: ptr(.41)}
	v.Hit = table("incident_bad", "Who was hit", "", columnsOf(2, "dimension text", "name text", "judged requests", "bad requests", "share_of_excess share"),
		[][]any{{"tenant", hostile, int64(900), int64(800), .8}, {"tenant", "globex", int64(900), int64(20), .01}})
	return IncidentInput{Run: "run", SLO: in.SLO, Case: v, Next: []string{"reprise replay run"}}
}

type axeViolation struct {
	ID, Impact, Help string
	Nodes            []struct {
		HTML           string
		Target         []any
		FailureSummary string
	}
}

// audit is what axe-core found on each page. The pages' policy would refuse it, so it is taken out.
func (b browser) audit(pages map[string][]byte, script []byte, flags ...string) map[string][]axeViolation {
	b.t.Helper()
	run := `<script>document.querySelectorAll("details").forEach(function (d) { d.open = true });
		axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(function (r) {
		parent.report(name, { violations: r.violations, passes: r.passes.length, dark: matchMedia("(prefers-color-scheme: dark)").matches }) });</script></body>`
	changed := map[string][]byte{}
	for name, page := range pages {
		page = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAll(page, nil)
		end := bytes.LastIndex(page, []byte("</body>"))
		changed[name] = fmt.Appendf(page[:end:end], "<script>%s</script>%s", script, run)
	}
	found := map[string][]axeViolation{}
	for name, raw := range b.framed(changed, "", flags...) {
		var result struct {
			Violations []axeViolation
			Passes     int
			Dark       bool
		}
		if err := json.Unmarshal(raw, &result); err != nil {
			b.t.Fatal(err)
		}
		if result.Passes < 5 || result.Dark != slices.Contains(flags, dark) {
			b.t.Errorf("%s: axe checked %d rules, dark is %v", name, result.Passes, result.Dark)
		}
		found[name] = result.Violations
	}
	return found
}

// framed opens all pages at once, each in a frame of 1100 pixels (or as style says), and returns what each reported.
func (b browser) framed(pages map[string][]byte, style string, flags ...string) map[string]json.RawMessage {
	b.t.Helper()
	outer := "<!DOCTYPE html><script>var all = {}; function report(name, what) { all[name] = what; if (Object.keys(all).length === %d) document.documentElement.dataset.all = JSON.stringify(all) }</script>"
	outer = fmt.Sprintf(outer, len(pages))
	for name, page := range pages {
		b.write(name+".html", page)
		outer += fmt.Sprintf(`<iframe name=%q src="%s.html" style="width:1100px;height:900px;border:0;%s"></iframe>`, name, name, style)
	}
	dom, _ := b.run(b.write("outer.html", []byte(outer)), append([]string{"--dump-dom", "--virtual-time-budget=60000"}, flags...)...)
	m := regexp.MustCompile(`data-all="([^"]*)"`).FindStringSubmatch(dom)
	if m == nil {
		b.t.Fatalf("not every page reported: %.300s", dom)
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(html.UnescapeString(m[1])), &all); err != nil {
		b.t.Fatal(err)
	}
	return all
}

// dark has Chromium prefer dark pages.
const dark = "--blink-settings=preferredColorScheme=0"

func pagesOf(t *testing.T) map[string][]byte {
	out := map[string][]byte{}
	for name, r := range pageKinds() {
		out[name] = page1(t, r)
	}
	return out
}

// No page of any kind breaks a rule of level A or AA, light or dark.
func TestAccessible(t *testing.T) {
	b, script, pages := newBrowser(t), axe(t), pagesOf(t)
	for look, flags := range map[string][]string{"light": nil, "dark": {dark}} {
		for name, violations := range b.audit(pages, script, flags...) {
			for _, v := range violations {
				t.Errorf("%s, %s: %s (%s): %s, in %d places: %.300s: %s", name, look, v.ID, v.Impact, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
			}
		}
	}
}

// The audit must be able to fail.
func TestAuditFinds(t *testing.T) {
	b, script := newBrowser(t), axe(t)
	page := bytes.Replace(page1(t, Report{Title: "T"}), []byte("<main>"), []byte(`<main><img src="data:,"><p style="color:#bbb;background:#fff">pale</p>`), 1)
	var found []string
	for _, v := range b.audit(map[string][]byte{"bad": page}, script)["bad"] {
		found = append(found, v.ID)
	}
	if strings.Join(found, " ") != "color-contrast image-alt" {
		t.Errorf("found %v", found)
	}
}

// On a phone no page of any kind scrolls sideways; every chart of every page is drawn and no script failed.
func TestPagesFitPhone(t *testing.T) {
	b, pages := newBrowser(t), pagesOf(t)
	for name, page := range pages {
		page = regexp.MustCompile(`script-src [^;]*;`).ReplaceAll(page, []byte(`script-src &#39;unsafe-inline&#39;;`))
		end := bytes.LastIndex(page, []byte("</body>"))
		pages[name] = append(page[:end:end], `<script>var d = document.documentElement; parent.report(name, { wide: d.scrollWidth - d.clientWidth, width: d.clientWidth,
			charts: document.querySelectorAll(".chart").length, drawn: document.querySelectorAll(".chart svg").length, errors: d.dataset.errors || "" });</script></body>`...)
	}
	for name, raw := range b.framed(pages, "width:390px") {
		var got struct {
			Wide, Width, Charts, Drawn int
			Errors                     string
		}
		if err := json.Unmarshal(raw, &got); err != nil || got.Wide != 0 || got.Width < 370 || got.Charts != got.Drawn || got.Errors != "" {
			t.Errorf("%s: %+v %v", name, got, err)
		}
	}
}
