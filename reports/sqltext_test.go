package reports

import "testing"

func TestSQLTextsAreShownOnce(t *testing.T) {
	view := "requests AS NOT MATERIALIZED (\nSELECT *\nFROM (\n  SELECT 1\n)\n) /* requests */"
	seen := sqlTexts{}
	if got := seen.shorten("Overview", "WITH params AS (SELECT 1),\n"+view+",\nx AS (SELECT 2) SELECT 3"); got != "WITH params AS (SELECT 1),\n"+view+",\nx AS (SELECT 2) SELECT 3" {
		t.Errorf("the first statement must stay whole, got %q", got)
	}
	want := "-- requests: the view of that name under \"Overview\"\nrequests AS (...),\nSELECT 4"
	if got := seen.shorten("Latency", view+",\nSELECT 4"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	other := "requests AS NOT MATERIALIZED (\nSELECT 5\n) /* requests */"
	if got := seen.shorten("Errors", other); got != other {
		t.Errorf("another text of the same name must stay, got %q", got)
	}
}
