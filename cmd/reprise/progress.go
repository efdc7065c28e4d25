package main

import (
	"os"

	"github.com/schollz/progressbar/v3"
)

// bar draws progress on a terminal and does nothing elsewhere.
type bar struct{ *progressbar.ProgressBar }

func (b bar) add(_ string, n int) {
	if b.ProgressBar != nil {
		b.Add(n)
	}
}

func (b bar) done() {
	if b.ProgressBar != nil {
		b.Finish()
		b.Clear()
	}
}

// ingestProgress shows plain bytes read; a total is shown only when every input is a plain file, else it would lie.
func (a *app) ingestProgress(inputs []string) bar {
	if a.quiet || !a.terminal {
		return bar{}
	}
	total := int64(0)
	for _, in := range inputs {
		st, err := os.Stat(in)
		if err != nil || st.IsDir() || compressed(in) {
			total = -1
			break
		}
		total += st.Size()
	}
	return bar{progressbar.NewOptions64(total, progressbar.OptionSetWriter(a.err), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription("reading"), progressbar.OptionThrottle(100e6), progressbar.OptionClearOnFinish())}
}

func compressed(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var head [2]byte
	f.Read(head[:])
	return head == [2]byte{0x1f, 0x8b} || head == [2]byte{0x28, 0xb5}
}
