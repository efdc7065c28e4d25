package ingest

import "maps"

// FileAccount says what became of one input. Read = Kept + Rejected + Incomplete + Skipped, always.
type FileAccount struct {
	File        string           `json:"file"`
	Format      string           `json:"format"`
	Confidence  int              `json:"confidence"` // independent signs of the format seen; 0 when it was named
	RunnerUp    string           `json:"runner_up,omitempty"`
	Read        int64            `json:"read"`
	Kept        int64            `json:"kept"`
	Rejected    map[string]int64 `json:"rejected"` // by reason
	Incomplete  int64            `json:"incomplete"`
	Skipped     map[string]int64 `json:"skipped"` // well formed, but not a request; by reason
	Duplicates  int64            `json:"duplicates"`
	DuplicateOf string           `json:"duplicate_of,omitempty"` // an input of the same content
	Added       int              `json:"added"`                  // parts that were not in the run before
	Parts       []string         `json:"parts"`
	Warnings    []string         `json:"warnings"`
	Seen        `json:"seen"`

	known map[string]int64 // column: rows that know it
}

// Account is the whole of one ingest.
type Account struct {
	Inputs   []FileAccount    `json:"inputs"`
	Totals   FileAccount      `json:"totals"`
	Coverage map[string]int64 `json:"coverage"` // column: rows of the kept ones that know it
	NotLogs  []LeftOut        `json:"not_logs,omitempty"`
}

// LeftOut is a file of a folder that gave nothing, and why.
type LeftOut struct {
	File string `json:"file"`
	Why  string `json:"why"`
}

// Cut says that an input ended too early.
func (a *Account) Cut() bool { return a.Totals.Incomplete > 0 }

func newFileAccount(name string) FileAccount {
	return FileAccount{File: name, Rejected: map[string]int64{}, Skipped: map[string]int64{}, Parts: []string{}, Warnings: []string{}, Seen: newSeen()}
}

// RejectShare is the share of records that were refused, 0 when none was read.
func (f *FileAccount) RejectShare() float64 {
	if f.Read == 0 {
		return 0
	}
	return float64(sum(f.Rejected)) / float64(f.Read)
}

func (f *FileAccount) warn(text string) {
	const most = 5
	if len(f.Warnings) < most {
		f.Warnings = append(f.Warnings, text)
	}
}

// add puts a file's numbers into the totals and its known columns into the coverage.
func (a *Account) add(f FileAccount) {
	a.Inputs = append(a.Inputs, f)
	t := &a.Totals
	t.Read, t.Kept, t.Incomplete = t.Read+f.Read, t.Kept+f.Kept, t.Incomplete+f.Incomplete
	t.Duplicates, t.Added = t.Duplicates+f.Duplicates, t.Added+f.Added
	for reason, n := range f.Rejected {
		t.Rejected[reason] += n
	}
	for reason, n := range f.Skipped {
		t.Skipped[reason] += n
	}
	if f.DuplicateOf != "" {
		return
	}
	t.Seen.add(f.Seen)
	for column, n := range f.known {
		a.Coverage[column] += n
	}
}

func sum(m map[string]int64) (n int64) {
	for v := range maps.Values(m) {
		n += v
	}
	return n
}
