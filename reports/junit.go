package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"reprise/analyze"
)

// junitCase is one test of a CI system: at most one of failure and skipped.
type junitCase struct {
	Class   string     `xml:"classname,attr"`
	Name    string     `xml:"name,attr"`
	Failure *junitText `xml:"failure"`
	Skipped *junitText `xml:"skipped"`
	Out     string     `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// WriteJUnit writes a comparison as JUnit XML: one test case for whether the runs compare at all, and one for each figure that
// decides. A case fails when the figure is worse, and is skipped when it is inconclusive: neither proof nor disproof.
func WriteJUnit(w io.Writer, c *analyze.Comparison) error {
	s := junitSuite{Name: c.Base + " → " + c.Cand, Cases: []junitCase{comparableCase(c)}, Properties: []junitProperty{
		{"verdict", c.Verdict}, {"margin", percent(c.Margin)}, {"pairs", fmt.Sprint(c.Pairs)}}}
	if c.Comparable {
		s.Cases = append(s.Cases, shareCase(&c.Failures, "failures", "share of requests that failed"))
		if c.SLO != nil {
			s.Cases = append(s.Cases, shareCase(&c.SLO.Good, "attainment", "share of requests that met "+c.SLO.Text))
		}
		for i := range c.Metrics {
			if d := &c.Metrics[i]; d.Gated {
				s.Cases = append(s.Cases, verdictCase(strings.ReplaceAll(figureName(*d), " ", "_"), d.Verdict, deltaText(d)))
			}
		}
	}
	for _, k := range s.Cases {
		s.Tests++
		if k.Failure != nil {
			s.Failures++
		}
		if k.Skipped != nil {
			s.Skipped++
		}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	err := e.Encode(struct {
		XMLName struct{} `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suite junitSuite `xml:"testsuite"`
	}{Name: "reprise compare", junitCounts: junitCounts{s.Tests, s.Failures, s.Errors, s.Skipped}, Suite: s})
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

type junitCounts struct {
	Tests    int `xml:"tests,attr"`
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Skipped  int `xml:"skipped,attr"`
}

const junitClass = "reprise.compare"

func comparableCase(c *analyze.Comparison) junitCase {
	k := junitCase{Class: junitClass, Name: "comparable"}
	if c.Comparable {
		k.Out = strings.Join(answerOf(c), "\n")
		return k
	}
	k.Failure = &junitText{"not comparable: " + strings.Join(c.WhyNot, "; "), analyze.NotComparable, "what would make them comparable: " + strings.Join(c.WouldHelp, "; ")}
	return k
}

func verdictCase(name, verdict, text string) junitCase {
	k := junitCase{Class: junitClass, Name: name}
	switch verdict {
	case analyze.Worse:
		k.Failure = &junitText{"worse: " + text, analyze.Worse, text}
	case analyze.Inconclusive:
		k.Skipped = &junitText{Message: "inconclusive: " + text}
	default:
		k.Out = verdict + ": " + text
	}
	return k
}

func deltaText(d *analyze.Delta) string {
	text := fmt.Sprintf("%s: %s → %s", figureName(*d), duration(d.Base), duration(d.Cand))
	if d.Ratio != nil && d.CI != nil {
		text += ", " + ratioText(*d.Ratio, d.CI[0], d.CI[1])
	}
	if n := d.Noise; n != nil && n.Ratio != nil && n.CI != nil {
		text += "; the same target twice: " + ratioText(*n.Ratio, n.CI[0], n.CI[1])
	}
	return text + fmt.Sprintf(", n %s", count(int64(d.N)))
}

func shareCase(d *analyze.ShareDelta, name, what string) junitCase {
	text := fmt.Sprintf("%s: %s → %s of %s pairs", what, orUnknown(d.Base, percent), orUnknown(d.Cand, percent), count(int64(d.N)))
	if d.Noise != nil {
		text += fmt.Sprintf("; the same target twice: %+.3g points", 100*d.Noise.Diff)
	}
	return verdictCase(name, d.Verdict, text)
}
