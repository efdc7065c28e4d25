package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"reprise/ingest/trace"
)

// peer is a load tool of the Python registry. Settings are those its documents give for the job, defaults elsewhere; the tokenizer is a
// local one of words, so that nothing is downloaded.
type peer struct {
	name, version string
	drawn         bool   // its constant rate is one on average
	export        string // below the folder of the run
	args          func(url, dir, tokenizer string, l *load) []string
	files         func(url, dir, tokenizer string, l *load) map[string]string
}

var peers = []peer{
	{name: "aiperf", version: "0.13.0", export: "out/profile_export.jsonl", args: func(url, dir, tokenizer string, l *load) []string {
		return []string{"profile", "-m", model, "-u", url, "--endpoint-type", "chat", "--streaming", "--request-rate", fmt.Sprint(l.Rate), "--request-rate-mode", "constant", "--request-count", fmt.Sprint(len(l.Due)),
			"--isl", fmt.Sprint(inputTokens), "--isl-stddev", "0", "--osl", fmt.Sprint(l.Tokens), "--osl-stddev", "0", "--extra-inputs", "ignore_eos:true",
			"--tokenizer", tokenizer, "--artifact-dir", filepath.Join(dir, "out"), "--ui", "none", "--no-auto-plot"}
	}},
	{name: "guidellm", version: "0.8.1", export: "benchmarks.json", args: func(url, dir, tokenizer string, l *load) []string {
		return []string{"run", "--backend", "kind=openai_http,target=" + url + ",model=" + model, "--profile", fmt.Sprintf("kind=constant,rate=%d", l.Rate),
			"--constraint", fmt.Sprintf("kind=max_requests,count=%d", len(l.Due)), "--tokenizer", "kind=huggingface_auto,model=" + tokenizer,
			"--data", fmt.Sprintf("kind=synthetic_text,prompt_tokens=%d,output_tokens=%d", inputTokens, l.Tokens), "--output", "kind=json,path=" + filepath.Join(dir, "benchmarks.json"), "--disable-console"}
	}},
	{name: "inference-perf", version: "0.7.0", drawn: true, export: "out/per_request_lifecycle_metrics.json", args: func(_, dir, _ string, _ *load) []string {
		return []string{"-c", filepath.Join(dir, "load.yaml"), "--log-level", "WARNING"}
	}, files: func(url, dir, tokenizer string, l *load) map[string]string {
		return map[string]string{"load.yaml": fmt.Sprintf(inferencePerf, model, url, tokenizer, inputTokens, l.Tokens, len(l.Due), l.Rate, float64(len(l.Due))/float64(l.Rate), filepath.Join(dir, "out"))}
	}},
}

//go:embed inferenceperf.yaml
var inferencePerf string

//go:embed tokenizer.py
var tokenizerScript string

// installPeers makes an environment for each peer, which takes some minutes the first time.
func installPeers(work string) (tools []tool, err error) {
	python, err := findPython()
	if err != nil {
		return nil, err
	}
	tokenizer := filepath.Join(work, "tokenizer")
	for _, p := range peers {
		env := filepath.Join(work, p.name+"-"+p.version)
		if err := p.install(python, env); err != nil {
			return nil, err
		}
		if _, err := os.Stat(tokenizer); err != nil {
			if err := quietly(filepath.Join(env, "bin", "python"), "-c", tokenizerScript, tokenizer); err != nil {
				return nil, err
			}
		}
		tools = append(tools, p.tool(env, tokenizer))
	}
	return tools, nil
}

// findPython wants 3.12 or later, which inference-perf asks for.
func findPython() (string, error) {
	home, _ := os.UserHomeDir()
	var tried []string
	for _, pattern := range []string{"python3.12", "python3.13", "python3", filepath.Join(home, ".pyenv/versions/3.12.*/bin/python3"), filepath.Join(home, ".pyenv/versions/3.13.*/bin/python3")} {
		found, _ := filepath.Glob(pattern)
		if !strings.Contains(pattern, "/") {
			found = []string{pattern}
		}
		for _, python := range found {
			if quietly(python, "-c", "import sys; assert sys.version_info >= (3, 12)") == nil {
				return python, nil
			}
			tried = append(tried, python)
		}
	}
	return "", fmt.Errorf("the peers need Python 3.12 or later; tried %s (-peers=false leaves them out)", strings.Join(tried, ", "))
}

func (p *peer) install(python, env string) error {
	done := filepath.Join(env, "installed")
	if _, err := os.Stat(done); err == nil {
		return nil
	}
	fmt.Fprintf(os.Stderr, "bench: installing %s %s into %s\n", p.name, p.version, env)
	if err := quietly(python, "-m", "venv", env); err != nil {
		return err
	}
	if err := quietly(filepath.Join(env, "bin", "python"), "-m", "pip", "install", "-q", p.name+"=="+p.version); err != nil {
		return err
	}
	return os.WriteFile(done, nil, 0o644)
}

// quietly runs a program and says what it said when it fails.
func quietly(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func (p peer) tool(env, tokenizer string) tool {
	return tool{name: p.name + " " + p.version, peer: true, drawn: p.drawn, command: func(b *bench, dir, url string, l *load) (*exec.Cmd, error) {
		if p.files != nil {
			for name, text := range p.files(url, dir, tokenizer, l) {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					return nil, err
				}
			}
		}
		cmd := exec.Command(filepath.Join(env, "bin", p.name), p.args(url, dir, tokenizer, l)...)
		if p.name != "aiperf" { // its workers take a folder for a repository when they are offline
			cmd.Env = []string{"HF_HUB_OFFLINE=1"}
		}
		return cmd, nil
	}, read: func(b *bench, dir string) ([]said, error) { return p.read(b, dir) }}
}

// read takes the tool's export through reprise, which renames it to the definitions used here.
func (p *peer) read(b *bench, dir string) ([]said, error) {
	ingest := exec.Command(b.reprise, "ingest", filepath.Join(dir, p.export), "-q", "-o", filepath.Join(dir, "run"))
	ingest.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir)
	if out, err := ingest.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("reading the export: %w: %s", err, out)
	}
	rows, err := readRun(b, dir)
	if err == nil && len(rows) == 0 {
		err = errors.New("the export holds no requests")
	}
	return rows, err
}

// serverID is the id by which the server knows a row.
func serverID(r *trace.Request) string {
	if id, ok := strings.CutPrefix(r.ResponseID, "chatcmpl-"); ok && r.SourceFormat == "guidellm" {
		return id
	}
	return r.RequestID
}
