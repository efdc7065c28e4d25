package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// usage is what the processes of a tool, and the whole machine, had used by an instant.
type usage struct {
	at   time.Time
	tool float64 // processor seconds, of all that descend from it
	all  float64 // of the machine, in all states but idle
	rss  int64   // bytes, the sum over the processes
}

// ticks are the kernel's units of processor time in a second.
const ticks = 100

// sampler watches a process and its descendants, five times a second.
type sampler struct {
	pid    int
	seen   map[string]float64 // processor seconds of each process that was met
	list   []usage
	late   []float64 // how late a sleeping thread woke, ms
	ended  chan struct{}
	finish chan struct{}
}

func watch(pid int) *sampler {
	s := &sampler{pid: pid, seen: map[string]float64{}, ended: make(chan struct{}), finish: make(chan struct{})}
	go func() {
		defer close(s.ended)
		for {
			s.list = append(s.list, s.take())
			select {
			case <-s.finish:
				return
			default:
			}
			for range 20 {
				start := time.Now()
				nap(10 * ms)
				s.late = append(s.late, float64(time.Since(start)-10*ms)/1e6)
			}
		}
	}()
	return s
}

func (s *sampler) stop() {
	close(s.finish)
	<-s.ended
}

// take adds up the processes of the tool. What a process used before it ended stays in the sum. It looks at no process of others: to
// read all of /proc took both processors 5 to 10 ms, and every tool was late by that.
func (s *sampler) take() usage {
	u := usage{at: time.Now(), all: machine()}
	for procs := []string{strconv.Itoa(s.pid)}; len(procs) > 0; procs = procs[1:] {
		procs = append(procs, children(procs[0])...)
		fields := stat(procs[0])
		if fields == nil {
			continue
		}
		user, _ := strconv.ParseFloat(fields[11], 64)
		system, _ := strconv.ParseFloat(fields[12], 64)
		s.seen[procs[0]] = (user + system) / ticks
		pages, _ := strconv.ParseInt(fields[21], 10, 64)
		u.rss += pages * int64(os.Getpagesize())
	}
	for _, used := range s.seen {
		u.tool += used
	}
	return u
}

// children are those of all threads of a process.
func children(pid string) (pids []string) {
	lists, _ := filepath.Glob("/proc/" + pid + "/task/*/children")
	for _, name := range lists {
		text, _ := os.ReadFile(name)
		pids = append(pids, strings.Fields(string(text))...)
	}
	return pids
}

// stat reads the fields of /proc/PID/stat behind the name, which may hold anything.
func stat(pid string) []string {
	text, err := os.ReadFile("/proc/" + pid + "/stat")
	end := bytes.LastIndexByte(text, ')')
	if err != nil || end < 0 {
		return nil
	}
	return strings.Fields(string(text[end+1:]))
}

// machine is what /proc/stat says of all processors: user, nice, system, irq, softirq and steal.
func machine() (busy float64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	for i, f := range bytes.Fields(line) {
		if v, err := strconv.ParseFloat(string(f), 64); err == nil && i <= 8 && i != 4 && i != 5 { // idle, iowait
			busy += v / ticks
		}
	}
	return busy
}

// between is what was used from one instant to another, by the samples around.
func (s *sampler) between(from, to time.Time) (tool, all float64, rss int64) {
	at := func(t time.Time) usage {
		i := slices.IndexFunc(s.list, func(u usage) bool { return !u.at.Before(t) })
		switch {
		case i < 0:
			return s.list[len(s.list)-1]
		case i == 0:
			return s.list[0]
		}
		a, b := s.list[i-1], s.list[i] // even use between two samples
		part := t.Sub(a.at).Seconds() / b.at.Sub(a.at).Seconds()
		return usage{tool: a.tool + part*(b.tool-a.tool), all: a.all + part*(b.all-a.all)}
	}
	a, b := at(from), at(to)
	for _, u := range s.list {
		rss = max(rss, u.rss)
	}
	return b.tool - a.tool, b.all - a.all, rss
}
