package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"reprise/analyze"
	"reprise/ingest/trace"
	"reprise/replay/fakellm"
)

// month is four weeks of a service with two replicas and four tenants, each with a system prompt that is cached, and five
// planted incidents in the first three weeks. It is made of the engine model: the same seed gives the same month.
type month struct {
	rng  *rand.Rand
	rows []trace.Request
	n    int
}

// Planted incidents: day and length, and what finds them.
type plantedTrouble struct {
	name   string
	day    int
	hour   float64
	length time.Duration
	cause  string // that must be ranked first
	words  string // that its sentence must have
}

var plantedIncidents = []plantedTrouble{
	{"long prompts", 2, 10, 20 * time.Minute, "long_prompts", "tenant globex"},
	{"slow replica", 6, 14, 30 * time.Minute, "one_replica", "replica r2 was hit alone"},
	{"cache flush", 9, 11, 30 * time.Minute, "cache_loss", "the prompt cache served"},
	{"retry storm", 13, 16, 20 * time.Minute, "retry_storm", "attempts a call instead of 1.00"},
	{"load", 17, 9, 6 * time.Minute, "more_requests", "more requests"},
}

func (p plantedTrouble) from() time.Duration {
	return time.Duration(p.day)*24*time.Hour + time.Duration(p.hour*float64(time.Hour))
}

const (
	monthDays  = 28
	monthStart = int64(1_790_553_600_000_000) // Monday 2026-09-28T00:00:00Z
	perMinute  = 3.0                          // requests, on average over the day
)

// monthEngine reads a prompt token in a millisecond: a system prompt of 600 that is not cached is late by itself.
func monthEngine() fakellm.Config {
	return fakellm.Config{Slots: 16, DecodeBase: 10 * time.Millisecond, DecodePerRunning: time.Millisecond, PrefillPerToken: time.Millisecond, PrefillBase: 2 * time.Millisecond, CacheBlocks: -1}
}

// call is one arrival with whose it is.
type call struct {
	fakellm.Arrival
	tenant string
}

// arrive draws calls of the usual kind between two times, rate a minute.
func (m *month) arrive(from, to time.Duration, rate float64, words int) (out []call) {
	for at := from; ; {
		at += time.Duration(m.rng.ExpFloat64() / rate * float64(time.Minute))
		if at >= to {
			return out
		}
		m.n++
		tenant := []string{"acme", "globex", "initech", "umbrella"}[m.rng.IntN(4)]
		prompt := strings.Repeat(tenant+" ", 600) + prompt(m.n, words/2+m.rng.IntN(words))
		out = append(out, call{fakellm.Arrival{ID: fmt.Sprintf("c%06d", m.n), At: at, Prompt: prompt, Output: 3 + m.rng.IntN(8)}, tenant})
	}
}

// day simulates one day, each replica by itself. A slow replica and a flushed cache are engines of their own for their time.
func (m *month) day(t *testing.T, day int) {
	begin := time.Duration(day) * 24 * time.Hour
	var calls []call
	for h := range 24 {
		from := begin + time.Duration(h)*time.Hour
		calls = append(calls, m.arrive(from, from+time.Hour, perMinute*(1+.6*math.Sin(float64(h-8)*math.Pi/12)), 40)...)
	}
	var now *plantedTrouble
	for i, p := range plantedIncidents {
		if p.day == day {
			now = &plantedIncidents[i]
		}
	}
	if now != nil {
		switch now.cause {
		case "long_prompts":
			for _, c := range m.arrive(now.from(), now.from()+now.length, 30, 2000) {
				c.tenant = "globex"
				calls = append(calls, c)
			}
		case "more_requests":
			calls = append(calls, m.arrive(now.from(), now.from()+now.length, 2400, 40)...)
		case "retry_storm":
			calls = slices.DeleteFunc(calls, func(c call) bool { return now.holds(c.At) && m.storm(c) })
		}
	}
	for r := range 2 {
		m.replica(t, calls, r, now)
	}
}

func (p *plantedTrouble) holds(at time.Duration) bool {
	return p != nil && at >= p.from() && at < p.from()+p.length
}

// storm has most attempts of a call fail after a second, each tried again after half of one, five times at most; what the
// engine gets of it is the last attempt. It says whether none came that far.
func (m *month) storm(c call) bool {
	row := trace.Request{RequestID: c.ID, RootRequestID: c.ID, ErrorClass: trace.ClassUpstream, HTTPStatus: trace.Ptr(int32(503)), EndUS: trace.Ptr(int64(1_000_000)), Tenant: c.tenant}
	for attempt := int32(1); attempt <= 5; attempt++ {
		if m.rng.Float64() > .6 && attempt > 1 {
			row.Attempt, row.ErrorClass, row.HTTPStatus = attempt, trace.ClassOK, nil
			row.FirstUS, row.EndUS, row.OutputTokens, row.FinishReason = trace.Ptr(int64(80_000)), trace.Ptr(int64(300_000)), trace.Ptr(int64(5)), "stop"
			m.add(row, c.At+time.Duration(attempt-1)*1500*time.Millisecond, "r1")
			return true
		}
		row.Attempt = attempt
		m.add(row, c.At+time.Duration(attempt-1)*1500*time.Millisecond, "r1")
	}
	return true
}

func (m *month) add(row trace.Request, at time.Duration, replica string) {
	row.Arrival, row.Vantage, row.ClockDomain, row.TimePrecision = trace.Ptr(monthStart+at.Microseconds()), trace.Gateway, trace.Wall, 1
	row.Stream, row.EndpointKind, row.TTFTKind, row.ModelRequested, row.Replica, row.SourceFormat = trace.Ptr(true), "chat", trace.TTFTContent, "m", replica, "test"
	trace.Check(&row)
	m.rows = append(m.rows, row)
}

// replica runs every second call on one engine, and the calls of a special time on one that is special.
func (m *month) replica(t *testing.T, calls []call, r int, now *plantedTrouble) {
	config := monthEngine()
	if now != nil && now.cause == "one_replica" && r == 1 {
		config.DecodeBase, config.PrefillPerToken, config.PrefillBase = 100*time.Millisecond, 10*time.Millisecond, 300*time.Millisecond
	}
	if now != nil && now.cause == "cache_loss" {
		config.CacheBlocks = 0
	}
	own, special := map[string]call{}, []fakellm.Arrival{}
	var usual []fakellm.Arrival
	for _, c := range calls {
		if c.ID[len(c.ID)-1]%2 != byte(r) {
			continue
		}
		own[c.ID] = c
		if now.holds(c.At) {
			special = append(special, c.Arrival)
		} else {
			usual = append(usual, c.Arrival)
		}
	}
	for i, arrivals := range [][]fakellm.Arrival{usual, special} {
		c, begin := monthEngine(), calls[0].At.Truncate(24*time.Hour)
		if i == 1 {
			c = config
			if now != nil {
				begin = now.from() - time.Hour
			}
		}
		if c.CacheBlocks != 0 { // what was there before
			arrivals = append(warm(begin), arrivals...)
		}
		for _, r2 := range simulate(t, c, arrivals).Requests {
			if call, ok := own[r2.ID]; ok {
				m.add(trace.Request{RequestID: r2.ID, RootRequestID: r2.ID, Attempt: 1, ErrorClass: trace.ClassOK, InputTokens: trace.Ptr(int64(r2.PromptTokens)), CachedInputTokens: trace.Ptr(int64(r2.CachedTokens)),
					OutputTokens: trace.Ptr(int64(r2.OutputTokens)), TokensSource: "usage", FinishReason: "stop", FirstUS: trace.Ptr(*r2.FirstTokenUS - r2.ArrivalUS), EndUS: trace.Ptr(r2.EndUS - r2.ArrivalUS), Tenant: call.tenant},
					time.Duration(r2.ArrivalUS)*time.Microsecond, fmt.Sprintf("r%d", r+1))
			}
		}
	}
}

// warm are arrivals that bring every tenant's system prompt into the cache; they are of no run.
func warm(at time.Duration) (out []fakellm.Arrival) {
	for _, tenant := range []string{"acme", "globex", "initech", "umbrella"} {
		out = append(out, fakellm.Arrival{ID: "warm " + tenant, At: at, Prompt: strings.Repeat(tenant+" ", 600), Output: 1})
	}
	return out
}

// newMonth are its first days, in order of arrival.
func newMonth(t *testing.T, days int) *month {
	t.Helper()
	m := &month{rng: rand.New(rand.NewPCG(47, 7))}
	for day := range days {
		m.day(t, day)
	}
	slices.SortFunc(m.rows, func(a, b trace.Request) int { return cmp.Compare(*a.Arrival, *b.Arrival) })
	return m
}

// TestMonth: without being told a time, the finder finds the five planted incidents of a month and no other, and ranks the
// right cause first in at least four; the quiet week has none.
func TestMonth(t *testing.T) {
	m := newMonth(t, monthDays)
	run, e := storeRows(t, m.rows), engine(t)
	slo, err := analyze.ParseSLO("ttft<=500ms@99%")
	if err != nil {
		t.Fatal(err)
	}
	found, err := e.Incidents(context.Background(), run, analyze.Scope{SLO: slo})
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for _, p := range plantedIncidents {
		from, to := monthStart+p.from().Microseconds(), monthStart+(p.from()+p.length).Microseconds()
		i := slices.IndexFunc(found, func(in analyze.Incident) bool { return in.From < to && in.To > from })
		if i < 0 {
			t.Errorf("%s: not found", p.name)
			continue
		}
		in := found[i]
		found = slices.Delete(found, i, i+1)
		if slack := 10 * time.Minute.Microseconds(); in.From < from-slack || in.From > from+slack || in.To < to-slack || in.To > to+2*slack {
			t.Errorf("%s: from %s to %s, planted from %s to %s", p.name, rfc3339(in.From), rfc3339(in.To), rfc3339(from), rfc3339(to))
		}
		if in.Cause == p.cause && strings.Contains(in.Text, p.words) {
			right++
		} else {
			t.Logf("%s: %s: %s", p.name, in.Cause, in.Text)
		}
	}
	if right < 4 {
		t.Errorf("the right cause is first in %d of 5, want at least 4", right)
	}
	for _, in := range found {
		t.Errorf("an incident that nobody planted: %s to %s, %d of %d: %s", rfc3339(in.From), rfc3339(in.To), in.Bad, in.Eligible, in.Text)
	}
	quiet := monthStart + 21*24*time.Hour.Microseconds()
	if found, err = e.Incidents(context.Background(), run, analyze.Scope{SLO: slo, From: &quiet}); err != nil || len(found) > 0 {
		t.Errorf("the quiet week has %d incidents (%v)", len(found), err)
	}
	t.Logf("%d rows, %d of 5 right", len(m.rows), right)
}
