package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"reprise/ingest"
	"reprise/ingest/decode"
	"reprise/ingest/mapping"
)

func (a *app) formatsCommand() *cobra.Command {
	var show string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "formats [NAME]",
		Short: "what logs are understood, and what each can and cannot contain",
		Example: `  reprise formats
  reprise formats litellm
  reprise formats --show caddy > mine.yaml     # a mapping to start your own from: reprise ingest --map mine.yaml`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if show != "" {
				text, err := mapping.Text(show)
				if err == nil {
					_, err = a.out.Write(text)
				}
				return err
			}
			list, err := described(args)
			switch {
			case err != nil:
				return err
			case asJSON:
				return writeJSON(a.out, list)
			case len(args) > 0:
				list[0].write(a.out)
			default:
				writeTable(a.out, list)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&show, "show", "", "print the mapping of a gateway")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the descriptions as JSON")
	return cmd
}

// description is a format in words.
type description struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Reads   []string `json:"reads"`   // JSON, CSV, text, binary
	Mapping bool     `json:"mapping"` // a YAML mapping, which --show prints
	About   string   `json:"about"`
	Units   string   `json:"units"`
	Defects string   `json:"defects"`
	Example string   `json:"example"`
}

// described describes all formats, or the one that is named.
func described(names []string) (list []description, err error) {
	var all []string
	for _, f := range ingest.Formats() {
		all = append(all, f.Name)
		if len(names) == 0 || f.Name == names[0] {
			_, err := mapping.Text(f.Name)
			list = append(list, description{f.Name, f.Title, f.Containers(), err == nil, strings.TrimSpace(f.About), strings.TrimSpace(f.Units),
				strings.TrimSpace(f.Defects), f.Example})
		}
	}
	if len(list) == 0 {
		return nil, hinted(fmt.Errorf("unknown format %q; did you mean %q?", names[0], decode.Nearest(names[0], all)), "list them: reprise formats")
	}
	return list, nil
}

func writeJSON(w io.Writer, list []description) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(list)
}

func (d *description) write(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n\n%s\n", d.Name, d.Title, d.About)
	for _, part := range []struct{ name, text string }{{"Reads", strings.Join(d.Reads, ", ")}, {"Units", d.Units}, {"Known defects of the producer", d.Defects}, {"Example", d.Example}} {
		if part.text == "" {
			continue
		}
		fmt.Fprintf(w, "\n%s:\n  %s\n", part.name, strings.ReplaceAll(part.text, "\n", "\n  "))
	}
	if d.Mapping {
		fmt.Fprintf(w, "\nIt is a mapping: reprise formats --show %s\n", d.Name)
	}
}

// writeTable lists the formats under a header, the mappings marked.
func writeTable(w io.Writer, list []description) {
	wide := len("format")
	for _, d := range list {
		wide = max(wide, len(d.Name))
	}
	fmt.Fprintf(w, "%-*s  %-10s %-8s %s\n", wide, "format", "reads", "by", "what")
	for _, d := range list {
		by := "program"
		if d.Mapping {
			by = "mapping"
		}
		fmt.Fprintf(w, "%-*s  %-10s %-8s %s\n", wide, d.Name, strings.Join(d.Reads, ","), by, d.Title)
	}
}
