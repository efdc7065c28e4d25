package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// inside is the import table of architecture.md: what each package may import of this module. Test files may also
// import what they need to build runs.
var inside = map[string][]string{
	"layout":           {},
	"store":            {},
	"store/versity":    {}, // a server for tests
	"ingest/trace":     {"layout"},
	"queries":          {},
	"analyze/stats":    {},
	"replay/wire":      {},
	"replay/fakellm":   {},
	"ingest/decode":    {"ingest/trace"},
	"ingest/otel":      {"ingest/decode", "ingest/trace"},
	"ingest/gateway":   {"ingest/decode", "ingest/trace"},
	"ingest/public":    {"ingest/decode", "ingest/trace"},
	"ingest/bench":     {"ingest/decode", "ingest/trace"},
	"ingest/engine":    {"ingest/decode", "ingest/trace"},
	"ingest/mapping":   {"ingest/decode", "ingest/trace"},
	"ingest":           {"layout", "ingest/decode", "ingest/trace", "ingest/otel", "ingest/gateway", "ingest/engine", "ingest/bench", "ingest/mapping", "ingest/public"},
	"replay/bench":     {"ingest/trace", "replay", "replay/wire", "replay/fakellm"}, // a program of its own
	"replay/selfcheck": {"ingest/trace", "replay", "replay/wire", "replay/fakellm"},
	"replay":           {"ingest/trace", "replay/wire"},
	"export":           {"ingest/trace"},
	"analyze":          {"queries", "analyze/stats", "layout"},
	"reports":          {"analyze"},
	"cmd/reprise":      {"layout", "store", "ingest", "ingest/decode", "ingest/mapping", "ingest/public", "ingest/trace", "export", "queries", "analyze", "replay", "replay/wire", "replay/fakellm", "replay/selfcheck", "reports", "testdata/demo"},
	"testdata/demo":    {},
}

// outside gives each third party its one place.
var outside = map[string][]string{
	"github.com/parquet-go/parquet-go":    {"ingest/trace"},
	"github.com/valyala/fastjson":         {"ingest/decode"},
	"go.opentelemetry.io/collector/pdata": {"ingest/otel"},
	"github.com/klauspost/compress":       {"ingest", "ingest/trace"},
	"github.com/zeebo/xxh3":               {"ingest", "ingest/decode"},
	"gopkg.in/yaml.v3":                    {"ingest/mapping", "analyze"}, // what people write: log mappings, SLOs
	"github.com/duckdb/duckdb-go":         {"analyze"},
	"github.com/apache/arrow-go":          {"analyze"},
	"github.com/trinodb/trino-go-client":  {"analyze"},
	"github.com/go-echarts/go-echarts":    {"reports"},
	"github.com/spf13/cobra":              {"cmd/reprise"},
	"github.com/schollz/progressbar":      {"cmd/reprise"},
	"golang.org/x/term":                   {"cmd/reprise"},
	"github.com/minio/minio-go":           {"store"},
	"golang.org/x/sys":                    {"replay", "replay/wire", "replay/fakellm"},
}

func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		checkImports(t, path, filepath.ToSlash(filepath.Dir(rel)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, path, pkg string) {
	allowed, known := inside[pkg]
	if !known {
		t.Errorf("%s: package %q is not in the import table", path, pkg)
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, spec := range f.Imports {
		imp, _ := strconv.Unquote(spec.Path.Value)
		if ours, ok := strings.CutPrefix(imp, "reprise/"); ok && !slices.Contains(allowed, ours) {
			t.Errorf("%s imports %s: %s may import only %v", path, ours, pkg, allowed)
		}
		for third, places := range outside {
			if strings.HasPrefix(imp, third) && !slices.Contains(places, pkg) {
				t.Errorf("%s imports %s, which belongs to %v", path, imp, places)
			}
		}
		if strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !listed(imp) {
			t.Errorf("%s imports %s, which has no place in the table", path, imp)
		}
	}
}

func listed(imp string) bool {
	for third := range outside {
		if strings.HasPrefix(imp, third) {
			return true
		}
	}
	return false
}

// TestEveryPackageHasADoc keeps the contract of each package in its doc.go.
func TestEveryPackageHasADoc(t *testing.T) {
	for pkg := range inside {
		if pkg == "cmd/reprise" || pkg == "testdata/demo" {
			continue
		}
		if m, _ := filepath.Glob(filepath.Join("..", "..", pkg, "doc.go")); len(m) == 0 {
			t.Errorf("%s has no doc.go", pkg)
		}
	}
}
