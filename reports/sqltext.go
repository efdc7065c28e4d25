package reports

import (
	"fmt"
	"regexp"
)

// viewText finds the base views that analyze puts in front of a query: its name stands before and behind it.
var viewText = regexp.MustCompile(`(?ms)^(?:WITH )?(\w+) AS (?:NOT )?MATERIALIZED \(\n.*?\n\) /\* \w+ \*/`)

// sqlTexts shortens the statements of one page: a base view is written out where it first stands, later ones refer to
// that section. Without it the page would hold the same text a dozen times.
type sqlTexts map[string]string // text of a view: title of the section that shows it

func (seen sqlTexts) shorten(title, sql string) string {
	return viewText.ReplaceAllStringFunc(sql, func(view string) string {
		first, again := seen[view]
		if !again {
			seen[view] = title
			return view
		}
		name := viewText.FindStringSubmatch(view)[1]
		return fmt.Sprintf("-- %s: the view of that name under %q\n%s AS (...)", name, first, name)
	})
}
