package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// bench is where programs are and files go.
type bench struct {
	self, reprise, work string
	runs                int
}

// one runs a tool on a load, against a server of its own.
func (b *bench) one(t *tool, l *load) (o outcome) {
	o.Tool = t.name
	if err := b.attempt(t, l, &o); err != nil {
		o.Why = err.Error()
	}
	return o
}

func (b *bench) attempt(t *tool, l *load, o *outcome) error {
	b.runs++
	dir := filepath.Join(b.work, fmt.Sprintf("run-%03d", b.runs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	server, url, err := b.serve(l)
	if err != nil {
		return err
	}
	defer server.kill()
	cmd, err := t.command(b, dir, url, l)
	if err != nil {
		return err
	}
	o.server = watch(server.Process.Pid)
	failed := b.watched(cmd, dir, l, o)
	o.server.stop()
	if err := server.truth(&o.truth); err != nil {
		return err
	}
	if failed != nil {
		return failed
	}
	o.verdict = verdict(dir)
	o.rows, err = t.read(b, dir)
	o.drawn = t.drawn
	return err
}

// watched runs the command of a tool to its end. One that takes much longer than the load is ended.
func (b *bench) watched(cmd *exec.Cmd, dir string, l *load, o *outcome) error {
	out, err := os.Create(filepath.Join(dir, "stdout"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	if cmd.Args[0] == b.self {
		cmd.Stderr = os.Stderr
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append(append(os.Environ(), "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir), cmd.Env...)
	o.from = time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	o.tool = watch(cmd.Process.Pid)
	limit := 2*l.Due[len(l.Due)-1] + 90*time.Second
	end := time.AfterFunc(limit, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	o.to = time.Now()
	o.tool.stop()
	if !end.Stop() {
		return fmt.Errorf("ended after %.0f s", limit.Seconds())
	}
	if err != nil {
		text, _ := os.ReadFile(out.Name())
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		return fmt.Errorf("%w: %s", err, strings.Join(lines[max(len(lines)-3, 0):], " "))
	}
	return nil
}

// server is the process of the server.
type server struct {
	*exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

func (b *bench) serve(l *load) (*server, string, error) {
	timeline, err := json.Marshal(l.Server)
	if err != nil {
		return nil, "", err
	}
	s := &server{Cmd: exec.Command(b.self, "-timeline", string(timeline), "serve")}
	s.Stderr = os.Stderr
	if s.in, err = s.StdinPipe(); err != nil {
		return nil, "", err
	}
	pipe, err := s.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	s.out = bufio.NewReader(pipe)
	if err := s.Start(); err != nil {
		return nil, "", err
	}
	url, err := s.out.ReadString('\n')
	return s, strings.TrimSpace(url), err
}

// truth ends the server and takes what it knows.
func (s *server) truth(t *truth) error {
	s.in.Close()
	err := json.NewDecoder(s.out).Decode(t)
	s.Wait()
	return err
}

func (s *server) kill() {
	if s.ProcessState == nil {
		s.Process.Kill()
		s.Wait()
	}
}
