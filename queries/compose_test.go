package queries

import (
	"strings"
	"testing"
)

func view(t *testing.T, text string, sc Scope, values map[string]string) string {
	t.Helper()
	s, err := ComposeText(text, Source{Scan: "raw"}, sc, values)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestComposeOrdersViews(t *testing.T) {
	s := view(t, "SELECT * FROM gaps JOIN requests USING (request_id)", Scope{}, nil)
	last := -1
	for _, cte := range []string{"WITH attempts AS", "requests AS", "gaps AS", "SELECT * FROM gaps JOIN"} {
		i := strings.Index(s, cte)
		if i <= last {
			t.Fatalf("%q is missing or out of order in:\n%s", cte, s)
		}
		last = i
	}
	if strings.Contains(s, "judged AS") || strings.Contains(s, "params AS") {
		t.Error("views that nobody reads must stay out")
	}
}

// TestComposeOwnCTEs puts the views in front of the CTEs of a text, once, whatever its WITH looks like.
func TestComposeOwnCTEs(t *testing.T) {
	for _, c := range []struct{ text, head, tail string }{
		{"WITH x AS (SELECT 1 FROM requests) SELECT * FROM x;", "WITH attempts AS", ",\nx AS (SELECT 1 FROM requests) SELECT * FROM x"},
		{"with recursive x AS (SELECT 1 FROM requests) SELECT * FROM x", "WITH RECURSIVE attempts AS", ",\nx AS (SELECT 1 FROM requests) SELECT * FROM x"},
		{"SELECT 'from requests' -- from requests", "SELECT 'from requests'", "-- from requests"},
		{"SELECT gaps FROM t", "SELECT gaps", "FROM t"},
	} {
		s := view(t, c.text, Scope{}, nil)
		if !strings.HasPrefix(s, c.head) || !strings.HasSuffix(s, c.tail) {
			t.Errorf("%s became\n%s", c.text, s)
		}
	}
}

// TestComposeCountsSetsFirst names groups after equal calls are counted, by columns that are named once, and adds up other attempts only where there are some.
func TestComposeCountsSetsFirst(t *testing.T) {
	s := view(t, "SELECT * FROM judged_sets", Scope{By: []string{"tenant", "model", "tenant"}}, nil)
	for _, want := range []string{"AS ttft_ok, tenant, model, count(*)", "GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, tenant, model\n", "CASE WHEN FALSE THEN CAST(sum(other_tokens)"} {
		if !strings.Contains(s, want) {
			t.Errorf("%q is missing in:\n%s", want, s)
		}
	}
}

func TestComposeChoosesForms(t *testing.T) {
	plain := view(t, "SELECT * FROM calls", Scope{}, nil)
	forms, err := ComposeText("SELECT * FROM calls", Source{Scan: "raw", Joined: true, Grouped: true}, Scope{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(plain, "PARTITION BY") || !strings.Contains(forms, "PARTITION BY root_request_id") || !strings.Contains(forms, "PARTITION BY call") {
		t.Error("a run of one format without retries must pay for neither, another for both")
	}
	if steps, _ := Keep(forms, func(string) string { return "t" }); strings.Contains(plain, keptMark) || len(steps) == 0 || !strings.Contains(steps[0].Text, "PARTITION BY call") {
		t.Error("calls told twice must be joined once for all statements")
	}
}

func TestComposeScope(t *testing.T) {
	from, to := int64(0), int64(1796000000000001)
	s := view(t, "SELECT * FROM requests", Scope{From: &from, To: &to, By: []string{"model", "turn"}}, nil)
	for _, want := range []string{
		"arrival >= TIMESTAMPTZ '1970-01-01 00:00:00.000000+00' AND arrival < TIMESTAMPTZ '2026-11-30 00:53:20.000001+00'",
		"replace(replace(coalesce(model, '(unknown)'), ' /', ' //'), '/ ', '// ') || ' / ' || coalesce(CAST(turn AS VARCHAR), '(unknown)') AS grp",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q in:\n%s", want, s)
		}
	}
	_, err := ComposeText("SELECT * FROM requests", Source{}, Scope{By: []string{"model", "x; DROP TABLE y"}}, nil)
	if err == nil || !strings.HasPrefix(err.Error(), `cannot group by "x; DROP TABLE y"; there are: model, model_served, tenant`) {
		t.Errorf("got %v", err)
	}
}

// TestParams renders values by type; a text can hold anything and stays a text.
func TestParams(t *testing.T) {
	for _, c := range []struct {
		p           Param
		value, want string
	}{
		{Param{"a", "BIGINT", ""}, "450000", "CAST(450000 AS BIGINT)"},
		{Param{"a", "BIGINT", ""}, "-1", "CAST(-1 AS BIGINT)"},
		{Param{"a", "BIGINT", ""}, "", "CAST(NULL AS BIGINT)"},
		{Param{"a", "BIGINT", ""}, "1.5", ""}, {Param{"a", "BIGINT", ""}, "1)--", ""}, {Param{"a", "BIGINT", ""}, "9223372036854775808", ""},
		{Param{"a", "DOUBLE", ""}, "0.25", "CAST(2.5e-01 AS DOUBLE)"},
		{Param{"a", "DOUBLE", ""}, "NaN", ""}, {Param{"a", "DOUBLE", ""}, "inf", ""}, {Param{"a", "DOUBLE", ""}, "1e999", ""},
		{Param{"a", "BOOLEAN", ""}, "TRUE", "CAST(true AS BOOLEAN)"}, {Param{"a", "BOOLEAN", ""}, "yes", ""},
		{Param{"a", "TEXT", ""}, "it's '); --", "CAST('it''s ''); --' AS VARCHAR)"},
		{Param{"a", "TEXT", "x|y"}, "y", "CAST('y' AS VARCHAR)"}, {Param{"a", "TEXT", "x|y"}, "z", ""},
	} {
		got, err := c.p.render(c.value)
		if (err != nil) != (c.want == "") || got != c.want {
			t.Errorf("%s %q: got %q, %v; want %q", c.p.Type, c.value, got, err, c.want)
		}
	}
}

func TestUnknownParam(t *testing.T) {
	q, err := Get("latency")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Compose(q, Source{}, Scope{}, map[string]string{"failure": "inf"})
	if err == nil || err.Error() != `no parameter "failure"; there are: failures, view, quantile_type` {
		t.Errorf("got %v", err)
	}
	_, err = Compose(q, Source{}, Scope{}, map[string]string{"failures": "infinite"})
	if err == nil || err.Error() != `parameter failures: expected exclude or inf, got "infinite"` {
		t.Errorf("got %v", err)
	}
	if _, err := Get("latencies"); err == nil || !strings.HasPrefix(err.Error(), `no query "latencies"; there are: `) {
		t.Errorf("got %v", err)
	}
}

// TestStep: counts of a step add up to minutes and to bins.
func TestStep(t *testing.T) {
	bin := []Param{{Name: "bin_us", Type: "BIGINT", Default: "60000000"}}
	for value, want := range map[string]string{"3600000000": "60000000", "90000000": "30000000", "10000000": "10000000", "7000000": "1000000", "1": "1", "NULL": "60000000"} {
		if got := step(bin, map[string]string{"bin_us": value}); got != want {
			t.Errorf("bins of %s: got steps of %s, want %s", value, got, want)
		}
	}
	if step(nil, nil) != "60000000" {
		t.Error("a query without bins has minutes")
	}
}
