// Package golangci makes the checks a module plugin of golangci-lint, which docs/golangci-lint.md builds. Other
// packages do not need it: it registers itself by being imported.
//
// Findings that need all packages of a module at once, the lock-order cycles through several packages, are not
// found this way; `interlock check` finds them.
package golangci

import (
	"fmt"
	"slices"

	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/patchgen/quickfix"
)

// Name of the linter in golangci-lint's settings.
const Name = "interlock"

func init() { register.Plugin(Name, New) }

// Settings are those of the plugin in .golangci.yml.
type Settings struct {
	// Codes are the checks to run, such as IL1001; none means all.
	Codes []finding.Code `json:"codes"`
	// Fixes: make patches too, for --fix. They cost a second analysis of each package with findings.
	Fixes bool `json:"fixes"`
}

// New makes the plugin from its settings. It fails if they name a code that
// no check reports.
func New(settings any) (register.LinterPlugin, error) {
	s, err := register.DecodeSettings[Settings](settings)
	if err != nil {
		return nil, fmt.Errorf("the settings of interlock: %w", err)
	}
	for _, code := range s.Codes {
		if _, ok := registry.ByCode(code); !ok {
			return nil, fmt.Errorf("the settings of interlock: no check has the code %q", code)
		}
	}
	return plugin{s}, nil
}

type plugin struct{ settings Settings }

// BuildAnalyzers implements [register.LinterPlugin].
func (p plugin) BuildAnalyzers() ([]*analysis.Analyzer, error) {
	directives.Nolint = false // golangci-lint obeys its comments itself
	all := levels.Shown(registry.Analyzers(), nil, nil)
	if p.settings.Fixes {
		all = quickfix.Checks(nil)
	}
	var chosen []*analysis.Analyzer
	for i, c := range registry.Checks() {
		if len(p.settings.Codes) == 0 || slices.Contains(p.settings.Codes, c.Code) {
			chosen = append(chosen, all[i])
		}
	}
	return chosen, nil
}

// GetLoadMode implements [register.LinterPlugin].
func (plugin) GetLoadMode() string { return register.LoadModeTypesInfo }
