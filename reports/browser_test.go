package reports

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// browser is a headless Chromium for pages on disk. It fails where there is none: a page that nobody has seen drawn is
// not tested.
type browser struct {
	t    *testing.T
	path string
	dir  string
}

func newBrowser(t *testing.T) browser {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return browser{t, path, t.TempDir()}
		}
	}
	t.Fatal("no Chromium in PATH: install it with apt-get install chromium (make test does)")
	return browser{}
}

// write puts a file beside the pages and returns its URL.
func (b browser) write(name string, content []byte) string {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return "file://" + path
}

// run opens url without any network and returns what the browser printed.
func (b browser) run(url string, flags ...string) (stdout, stderr string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	args := append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--allow-file-access-from-files",
		"--enable-logging=stderr", "--virtual-time-budget=2000", "--user-data-dir=" + filepath.Join(b.dir, "profile")}, flags...)
	cmd := exec.CommandContext(ctx, b.path, append(args, url)...)
	var out, talk bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &talk
	if err := cmd.Run(); err != nil {
		b.t.Fatalf("chromium: %v\n%s", err, talk.String())
	}
	return out.String(), talk.String()
}

var (
	consoleLine = regexp.MustCompile(`(?m)^.*CONSOLE.*$`)
	scriptBody  = regexp.MustCompile(`(?s)<script[^>]*>.*?</script>`)
	tagName     = regexp.MustCompile(`<([a-zA-Z]+)[\s>]`)
)

func TestPageInBrowser(t *testing.T) {
	b := newBrowser(t)
	dom, talk := b.run(b.write("page.html", page1(t, everything())), "--dump-dom")
	if lines := consoleLine.FindAllString(talk, -1); len(lines) > 0 {
		t.Errorf("console: %q", lines)
	}
	if !strings.Contains(dom, `data-charts="4"`) || strings.Contains(dom, "data-errors") {
		t.Errorf("charts are not drawn: %.200s", dom)
	}
	if n := strings.Count(dom, "<svg"); n != 4 {
		t.Errorf("%d drawings, want 4", n)
	}
	// Axes carry names and units; the hostile name is a text of the drawing.
	for _, want := range []string{">start (UTC)</text>", ">p99 (ms)</text>", ">share (%)</text>", ">n (requests)</text>", ">rate_limited</text>", "&lt;/script&gt;&lt;img"} {
		if !strings.Contains(dom, want) {
			t.Errorf("the drawn page has no %q", want)
		}
	}
	assertOnlyOurElements(t, scriptBody.ReplaceAllString(dom, ""))
	if strings.Contains(dom, "<title>hit") || !strings.Contains(dom, "<title>Analysis of &lt;/script&gt;") {
		t.Error("the title was changed by a name")
	}
}

// assertOnlyOurElements checks the elements of a drawn page against what the template and ECharts make.
func assertOnlyOurElements(t *testing.T, dom string) {
	t.Helper()
	ours := " html head meta title style body header h p div dl dt dd caption table tbody thead tr th td small sup ul li code nav a noscript main section figure figcaption " +
		"details summary pre b span footer svg g path text rect defs clipPath linearGradient stop filter feDropShadow pattern "
	for _, m := range tagName.FindAllStringSubmatch(dom, -1) {
		if !strings.Contains(ours, " "+m[1]+" ") {
			t.Errorf("element <%s> is not one of ours", m[1])
		}
	}
	if regexp.MustCompile(`<[^>]*\son[a-z]+\s*=`).MatchString(regexp.MustCompile(`"[^"]*"`).ReplaceAllString(dom, `""`)) {
		t.Error("an element has an event handler")
	}
}

// The checks above must be able to fail: a script that a name could have smuggled in is refused by the policy, is seen
// on the console, and does not run.
func TestPolicyStopsForeignScript(t *testing.T) {
	b := newBrowser(t)
	page := bytes.Replace(page1(t, everything()), []byte("<main>"), []byte(`<main><script>document.documentElement.dataset.hit = 1</script><img src=x onerror="document.documentElement.dataset.hit = 1">`), 1)
	dom, talk := b.run(b.write("page.html", page), "--dump-dom")
	if strings.Contains(dom, "data-hit") {
		t.Error("a foreign script ran")
	}
	if n := len(consoleLine.FindAllString(talk, -1)); n < 2 {
		t.Errorf("%d lines on the console, want one for the script and one for the handler:\n%s", n, talk)
	}
}

// A picture of the page has the colours of its charts: it is not blank. Paper and a dark screen are looked at by people;
// this keeps them from failing outright.
func TestScreenshotAndPrint(t *testing.T) {
	b := newBrowser(t)
	url := b.write("page.html", page1(t, everything()))
	shot, paper := filepath.Join(b.dir, "shot.png"), filepath.Join(b.dir, "page.pdf")
	b.run(url, "--window-size=1200,3000", "--screenshot="+shot)
	b.run(url, "--print-to-pdf="+paper)
	for _, f := range []string{shot, paper} {
		if info, err := os.Stat(f); err != nil || info.Size() < 20_000 {
			t.Errorf("%s: %v, %s", filepath.Base(f), err, fmt.Sprint(info))
		}
	}
}

// A tooltip is where chart libraries write names as HTML. Without the policy, and with tooltips open on a line, a bar and
// a cell of the hostile name, still nothing becomes an element.
func TestHostileTooltip(t *testing.T) {
	b := newBrowser(t)
	page := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAll(page1(t, everything()), nil)
	open := `<script>[["latency_over_time-chart-1", 1, 0], ["errors-chart-1", 0, 1], ["stall_culprits-chart-1", 0, 5]].forEach(function (c) {
		echarts.getInstanceByDom(document.getElementById(c[0])).dispatchAction({ type: "showTip", seriesIndex: c[1], dataIndex: c[2] }) });
		document.documentElement.dataset.tips = "open";</script></body>`
	end := bytes.LastIndex(page, []byte("</body>")) // the library holds the word too
	page = append(page[:end:end], open...)
	dom, _ := b.run(b.write("page.html", page), "--dump-dom")
	dom = scriptBody.ReplaceAllString(dom, "")
	if !strings.Contains(dom, `data-tips="open"`) || strings.Contains(dom, "<title>hit") {
		t.Errorf("tooltips did not open, or a name ran: %.200s", dom)
	}
	// Full names stand in the drawing only inside tooltips: axes and labels cut them.
	if n := len(regexp.MustCompile(`>&lt;/script&gt;&lt;img src=x onerror=[^<]*</text>`).FindAllString(dom, -1)); n < 3 {
		t.Errorf("the name stands in %d tooltips as text", n)
	}
	assertOnlyOurElements(t, dom)
}

// RPT-02 by experiment: a proxy that would carry any request of the page sees none, and sees the one of a page that makes one. What
// Chromium asks for itself goes to its maker's hosts.
func TestNoRequest(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !regexp.MustCompile(`(google|gstatic|googleapis|gvt1)\.com`).MatchString(r.Host) {
			asked = append(asked, r.Host)
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	defer proxy.Close()
	b := newBrowser(t)
	open := func(name string, page []byte) []string {
		asked = nil
		b.run(b.write(name, page), "--dump-dom", "--host-resolver-rules=MAP none.test ~NOTFOUND", "--proxy-server="+proxy.Listener.Addr().String())
		mu.Lock()
		defer mu.Unlock()
		return asked
	}
	page := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy"[^>]*>`).ReplaceAll(page1(t, everything()), nil)
	if asked := open("page.html", page); len(asked) > 0 {
		t.Errorf("the page asks %q", asked)
	}
	if asked := open("loud.html", bytes.Replace(page, []byte("<main>"), []byte(`<main><img src="http://elsewhere.test/x.png">`), 1)); !slices.Equal(asked, []string{"elsewhere.test"}) {
		t.Errorf("a page with a foreign picture asks %q, so this test sees nothing", asked)
	}
}
