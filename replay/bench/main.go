package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"reprise/replay/fakellm"
)

func main() {
	work := flag.String("work", filepath.Join(os.TempDir(), "reprise-bench"), "folder for environments and runs")
	scale := flag.Float64("scale", 1, "of the length of each load")
	peers := flag.Bool("peers", true, "run AIPerf, GuideLLM and inference-perf, too")
	only := flag.String("only", "", "only loads whose name holds this")
	url, dir, timeline := flag.String("url", "", "for the programs it starts"), flag.String("dir", "", "for the programs it starts"), flag.String("timeline", "", "for the programs it starts")
	flag.Parse()
	var err error
	switch flag.Arg(0) {
	case "serve":
		var t fakellm.Timeline
		if err = json.Unmarshal([]byte(*timeline), &t); err == nil {
			err = serve(t, os.Stdin, os.Stdout)
		}
	case "plain", "replay":
		var l load
		if err = json.NewDecoder(os.Stdin).Decode(&l); err == nil && flag.Arg(0) == "plain" {
			err = plain(*url, l, os.Stdout)
		} else if err == nil {
			err = clockStamps(*url, *dir, l)
		}
	default:
		err = all(*work, *scale, *peers, *only)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// all runs every tool on every load that it runs, and prints a table a load.
func all(work string, scale float64, peers bool, only string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return err
	}
	runs, err := os.MkdirTemp(work, "runs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(runs)
	b := &bench{self: self, reprise: filepath.Join(work, "reprise"), work: runs}
	build := exec.Command("go", "build", "-trimpath", "-o", b.reprise, "./cmd/reprise")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building reprise (run this in the folder of the module): %w", err)
	}
	tools := ownTools()
	if peers {
		more, err := installPeers(work)
		if err != nil {
			return err
		}
		tools = append(tools, more...)
	}
	fmt.Print(intro)
	for _, l := range loads(scale) {
		if !strings.Contains(l.Name, only) {
			continue
		}
		var list []figures
		for i := range tools {
			if t := &tools[i]; t.runs(&l) {
				fmt.Fprintf(os.Stderr, "bench: %s: %s\n", l.Name, t.name)
				o := b.one(t, &l)
				list = append(list, o.measure(&l))
			}
		}
		writeTable(os.Stdout, &l, list)
	}
	return nil
}
