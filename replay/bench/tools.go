package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"

	"reprise/ingest/trace"
	"reprise/replay"
	"reprise/replay/wire"
)

// tool is a client under test. command starts it in a folder of its own; read is what it says afterwards.
type tool struct {
	name    string
	peer    bool // takes long to start: runs the loads for peers alone
	drawn   bool // sends at random times of its own
	streams bool // runs the loads of many streams alone
	command func(b *bench, dir, url string, l *load) (*exec.Cmd, error)
	read    func(b *bench, dir string) ([]said, error)
}

func (t *tool) runs(l *load) bool {
	return (!t.peer || l.Peers) && (!t.streams || l.Rate == 0 && l.Tokens > 64)
}

func ownTools() []tool {
	return []tool{
		{name: "reprise", command: reprise, read: readRun},
		{name: "plain net/http + time.Sleep", command: self("plain"), read: readPlain},
		{name: "reprise, stamps by the clock", streams: true, command: self("replay"), read: readRun},
	}
}

// reprise is the program as people run it.
func reprise(b *bench, dir, url string, l *load) (*exec.Cmd, error) {
	plan, err := l.plan()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "plan.parquet")
	return exec.Command(b.reprise, "replay", file, "-q", "--no-preflight", "--target", url, "-o", filepath.Join(dir, "run")), plan.Save(file)
}

// self runs this program as a client.
func self(mode string) func(b *bench, dir, url string, l *load) (*exec.Cmd, error) {
	return func(b *bench, dir, url string, l *load) (*exec.Cmd, error) {
		text, err := json.Marshal(l)
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(b.self, "-url", url, "-dir", dir, mode)
		cmd.Stdin = bytes.NewReader(text)
		return cmd, nil
	}
}

// clockStamps is reprise's client with one thing changed: chunks are stamped when they are read.
func clockStamps(url, dir string, l load) error {
	plan, err := l.plan()
	if err != nil {
		return err
	}
	w, err := trace.NewWriter(filepath.Join(dir, "run"))
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := replay.Run(context.Background(), plan, replay.Options{Target: url, NoPreflight: true, Sink: w.Add, Wire: wire.Options{ClockStamps: true}}); err != nil {
		return err
	}
	_, _, err = w.Commit("part", nil)
	return err
}

func readPlain(_ *bench, dir string) (rows []said, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "stdout"))
	if err == nil {
		err = json.Unmarshal(text, &rows)
	}
	return rows, err
}

// verdict is what reprise says of its own replay.
func verdict(dir string) string {
	parts, err := trace.Parts(filepath.Join(dir, "run"))
	if err != nil || len(parts) == 0 {
		return ""
	}
	meta, _, _, err := trace.Meta(parts[0])
	var r replay.Report
	if err != nil || json.Unmarshal([]byte(meta["reprise.replay"]), &r) != nil {
		return ""
	}
	return r.Fidelity.Verdict
}

// readRun reads the rows of a run as what a client said.
func readRun(_ *bench, dir string) (rows []said, err error) {
	parts, err := trace.Parts(filepath.Join(dir, "run"))
	if err != nil {
		return nil, err
	}
	for r, err := range trace.Read(parts...) {
		if err != nil {
			return nil, err
		}
		s := said{ID: serverID(&r), OK: r.ErrorClass == trace.ClassOK}
		if r.Arrival != nil {
			s.Sent = *r.Arrival * 1000
		}
		at := s.Sent
		for _, g := range r.GapsUS {
			at += int64(g) * 1000
			s.Chunk = append(s.Chunk, at)
		}
		if len(s.Chunk) == 0 && r.FirstUS != nil {
			s.Chunk = []int64{s.Sent + *r.FirstUS*1000}
		}
		if r.Vantage == trace.Replay {
			s.Due = s.Sent
			if r.SendLagUS != nil {
				s.Sent += *r.SendLagUS * 1000
			}
		}
		rows = append(rows, s)
	}
	return rows, nil
}
