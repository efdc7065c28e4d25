package export

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"reprise/ingest/trace"
)

// hash stands for a keyed hash.
func hash(kind, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("%s-%x", kind, sha256.Sum256([]byte("key"+kind+text)))[:len(kind)+17]
}

// full is a request with MARK in every text column that is free text.
func full() trace.Request {
	var r trace.Request
	v := reflect.ValueOf(&r).Elem()
	for i := range v.NumField() {
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("parquet"), ",")
		if v.Field(i).Kind() == reflect.String && trace.Words(name) == nil && name != "quality" {
			v.Field(i).SetString("MARK " + name)
		}
	}
	r.PrefixHashIDs = []int64{1, 2, 1}
	return r
}

func renamed(t *testing.T, n *Names, r trace.Request) trace.Request {
	t.Helper()
	for got, err := range n.Rows(func(yield func(trace.Request, error) bool) { yield(r, nil) }) {
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	panic("no row")
}

// A column that is added to the record is covered here without a change.
func TestNoNameIsKept(t *testing.T) {
	n, err := NewNames(hash, []string{"otlp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := full()
	got := renamed(t, n, before)
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		if text := v.Field(i).String(); v.Field(i).Kind() == reflect.String && strings.Contains(text, "MARK") {
			t.Errorf("%s leaves as %q", v.Type().Field(i).Name, text)
		}
	}
	if before.PrefixHashIDs[0] != 1 || got.PrefixHashIDs[0] == 1 || got.PrefixHashIDs[0] != got.PrefixHashIDs[2] || got.PrefixHashIDs[0] == got.PrefixHashIDs[1] {
		t.Errorf("blocks %v became %v, want others that are equal where these are", before.PrefixHashIDs, got.PrefixHashIDs)
	}
}

func TestEqualNamesStayEqual(t *testing.T) {
	n, err := NewNames(hash, []string{"otlp"}, []string{"tenant"})
	if err != nil {
		t.Fatal(err)
	}
	r := trace.Request{RequestID: "a", RootRequestID: "a", ResponseID: "a", ModelRequested: "m", ModelServed: "m", Tenant: "acme", App: "acme", SourceFormat: "otlp"}
	got := renamed(t, n, r)
	if got.RequestID != got.RootRequestID || got.RequestID != got.ResponseID || got.ModelRequested != got.ModelServed {
		t.Errorf("equal ids or models differ: %+v", got)
	}
	if got.Tenant != "acme" || got.App == "acme" || got.SourceFormat != "otlp" || got.Replica != "" {
		t.Errorf("tenant %q, app %q, format %q, replica %q", got.Tenant, got.App, got.SourceFormat, got.Replica)
	}
	if _, err := NewNames(hash, nil, []string{"user"}); err == nil {
		t.Error("users are never plain in an export")
	}
}
