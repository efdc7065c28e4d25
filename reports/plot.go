package reports

import (
	"reprise/analyze"
)

// Chart is a drawing as data; chart.go turns it into what the page's library wants.
type Chart struct {
	Title string
}

func chartsOf(r *analyze.Result) ([]Chart, string) { return nil, "" }
