package analyze

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"gopkg.in/yaml.v3"
)

// LoadSLO reads an SLO from a YAML file:
//
//	default: ttft<=1s,tpot<=60ms@99%
//	sections:
//	  - {tenant: acme, slo: "ttft<=500ms,tpot<=50ms"}
//	  - {model: llama-70b, slo: "ttft<=2s+0.1ms*in"}
//
// The first section whose tenant and model fit a request holds for it, else the default; without a default, requests of no
// section are not judged. Objectives stand in the default: one figure over several objectives says nothing.
func LoadSLO(path string) (SLO, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return SLO{}, fmt.Errorf("slo: %w", err)
	}
	return parseSLOFile(path, text)
}

type sloFile struct {
	Default  string
	Sections []struct{ Tenant, Model, SLO yaml.Node }
}

func parseSLOFile(path string, text []byte) (SLO, error) {
	var f sloFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil {
		return SLO{}, fmt.Errorf("%s: expected default and sections of tenant, model and slo: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var s SLO
	if f.Default != "" {
		var err error
		if s, err = ParseSLO(f.Default); err != nil {
			return SLO{}, fmt.Errorf("%s: default: %w", path, err)
		}
	}
	for _, c := range f.Sections {
		terms, err := ParseSLO(c.SLO.Value)
		switch {
		case err != nil:
			return SLO{}, fmt.Errorf("%s:%d: %w", path, c.SLO.Line, err)
		case c.Tenant.Value == "" && c.Model.Value == "":
			return SLO{}, fmt.Errorf("%s:%d: expected the tenant or the model that the section is for", path, c.SLO.Line)
		case strings.Contains(c.SLO.Value, "@"):
			return SLO{}, fmt.Errorf("%s:%d: expected the objective (@) in the default, not in a section", path, c.SLO.Line)
		}
		s.Sections = append(s.Sections, SLOSection{c.Tenant.Value, c.Model.Value, terms.Terms})
	}
	if !s.has(sloMetrics...) {
		return SLO{}, fmt.Errorf("%s: expected a default or a section, got none", path)
	}
	if s.Objective == 0 {
		s.Objective = DefaultObjective
	}
	s.Text = path
	return s, nil
}
