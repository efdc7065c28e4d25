package otel

import (
	"strconv"
	"strings"
	"time"

	"reprise/ingest/decode"
	"reprise/ingest/trace"
)

// field is something a request knows that conventions call by different names.
type field int

const (
	modelRequested field = iota
	modelServed
	provider
	requestID
	responseID
	session
	user
	route
	address
	port
	stream
	maxTokens
	finishReason
	inputTokens
	outputTokens
	totalTokens
	cachedTokens
	cacheWriteTokens
	reasoningTokens
	firstToken
	httpStatus
	errorType
	fields
)

// alias is one name of a field. unit is set for durations: it belongs to the name (ING-09).
type alias struct {
	name string
	unit time.Duration
}

// table lists a convention's names of each field, newest first.
type table map[field][]alias

func names(list ...string) []alias {
	a := make([]alias, len(list))
	for i, name := range list {
		a[i].name = name
	}
	return a
}

// aliases is the one table: all conventions in order of precedence.
var aliases = merge(semconvNames, openInferenceNames, openLLMetryNames, vercelNames, langfuseNames, litellmNames, engineNames)

func merge(tables ...table) (all [fields][]alias) {
	for _, t := range tables {
		for f, list := range t {
			all[f] = append(all[f], list...)
		}
	}
	return all
}

// first returns the text of the first alias that says something.
func (s *span) first(f field) string {
	for _, a := range s.attrs.of(f) {
		if t := s.attrs.text(a.name); t != "" {
			return t
		}
	}
	return ""
}

// agreed is first for a field that all names should give alike: a later name that says otherwise flags the request
// (ING-08).
func (s *span) agreed(r *trace.Request, f field) (text string) {
	for _, a := range s.attrs.of(f) {
		switch t := s.attrs.text(a.name); {
		case t == "" || t == text:
		case text == "":
			text = t
		default:
			r.AddQuality(trace.QAliasConflict)
		}
	}
	return text
}

// count is agreed for a number of tokens.
func (s *span) count(r *trace.Request, f field) *int64 { return number(s.agreed(r, f)) }

func number(text string) *int64 {
	if text == "" { // of most records: an error costs more than all the rest
		return nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return &n
	}
	x, err := strconv.ParseFloat(text, 64)
	if n := int64(x); err == nil && float64(n) == x && x > -1<<53 && x < 1<<53 {
		return &n
	}
	return nil
}

// duration returns the first alias as microseconds; names that differ by more than a millisecond flag the request.
func (s *span) duration(r *trace.Request, f field) (us *int64) {
	for _, a := range s.attrs.of(f) {
		n := micros(s.attrs.text(a.name), a.unit)
		switch {
		case n == nil:
		case us == nil:
			us = n
		case *us-*n > 1000 || *n-*us > 1000:
			r.AddQuality(trace.QAliasConflict)
		}
	}
	return us
}

func micros(text string, unit time.Duration) *int64 {
	if text == "" {
		return nil
	}
	n, err := decode.Micros(text, unit)
	if err != nil {
		return nil
	}
	return &n
}

// truth reads a boolean also from "True"; nil when it says neither.
func truth(text string) *bool {
	switch strings.ToLower(text) {
	case "true":
		return trace.Ptr(true)
	case "false":
		return trace.Ptr(false)
	}
	return nil
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
