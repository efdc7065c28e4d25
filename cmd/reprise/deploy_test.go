package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"reprise/replay/fakellm"
)

// job is what of the Kubernetes job matters here.
type job struct {
	Kind string
	Spec struct {
		CompletionMode           string `yaml:"completionMode"`
		Completions, Parallelism int
		Template                 struct {
			Spec struct {
				Containers []struct {
					Args []string
					Env  []struct {
						Name      string
						ValueFrom struct {
							FieldRef struct {
								FieldPath string `yaml:"fieldPath"`
							} `yaml:"fieldRef"`
						} `yaml:"valueFrom"`
					}
				}
			}
		}
	}
}

// manifest reads the job of a file in which the words that begin with @ have been put in.
func manifest(t *testing.T, words ...string) job {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "replay-job.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(strings.NewReader(strings.NewReplacer(words...).Replace(string(text))))
	for {
		var j job
		if err := d.Decode(&j); errors.Is(err, io.EOF) || err != nil {
			t.Fatalf("no job in the manifest: %v", err)
		}
		if j.Kind == "Job" {
			return j
		}
	}
}

// What the pods of the manifest would run, as its indexes say, makes one run in a bucket of all that was planned.
func TestReplayJob(t *testing.T) {
	w := newBucketWorld(t)
	s, target, err := fakellm.Listen(fakellm.Config{Slots: 64, DecodeBase: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var log strings.Builder
	for i := range 40 {
		log.WriteString(logLine(i))
	}
	w.put("log.jsonl", []byte(log.String()))
	w.run(0, "plan s3://logs/log.jsonl -o s3://logs/plan.parquet")
	at := time.Now().Add(5 * time.Second).UTC().Format(time.RFC3339Nano)
	j := manifest(t, "@PLAN@", "s3://logs/plan.parquet", "@TARGET@", target+"/v1", "@RUN@", "s3://logs/run", "@START_AT@", at)
	c := j.Spec.Template.Spec.Containers[0]
	n := j.Spec.Completions
	if j.Spec.CompletionMode != "Indexed" || n < 2 || j.Spec.Parallelism != n || !strings.Contains(strings.Join(c.Args, " "), "--shard=$(SHARD)/"+strconv.Itoa(n)) ||
		c.Env[0].Name != "SHARD" || c.Env[0].ValueFrom.FieldRef.FieldPath != "metadata.annotations['batch.kubernetes.io/job-completion-index']" {
		t.Fatalf("the job is %+v", j)
	}
	pods, said := make([]*exec.Cmd, n), make([]bytes.Buffer, n)
	for i := range pods {
		line := strings.NewReplacer("$(SHARD)", strconv.Itoa(i)).Replace(strings.Join(c.Args, " ")) // as Kubernetes does
		pods[i] = w.command(line)
		pods[i].Stdout, pods[i].Stderr = &said[i], &said[i]
		if err := pods[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	for i, p := range pods {
		if err := p.Wait(); err != nil {
			t.Fatalf("pod %d: %v\n%s", i, err, said[i].String())
		}
		if text := said[i].String(); !strings.Contains(text, "s3://logs/run") || strings.Contains(text, "cache/reprise/out") {
			t.Errorf("pod %d said %s", i, text)
		}
	}
	if out, _ := w.run(0, "query s3://logs/run --format csv --sql SELECT|count(DISTINCT|request_id),count(*)|FROM|requests"); !strings.Contains(out, "\n40,40\n") {
		t.Errorf("the run holds %s", out)
	}
	out, _ := w.run(0, "analyze s3://logs/run")
	for i := range n {
		if !strings.Contains(out, "shard "+strconv.Itoa(i)+" of "+strconv.Itoa(n)) {
			t.Errorf("shard %d of %d is not told of", i, n)
		}
	}
	for _, line := range []string{"replay s3://logs/plan.parquet --target " + target + " -o s3://logs/run", "replay s3://logs/plan.parquet --target " + target + " --shard 0/4 --start-at 2999-01-01 -o s3://logs/run"} {
		if _, said := w.run(1, line); !strings.Contains(said, "s3://logs/run") || !strings.Contains(said, "there is a run already") {
			t.Errorf("again into the same run: %s", said)
		}
	}
}
