package golangci

import (
	"strings"
	"testing"

	"github.com/golangci/plugin-module-register/register"

	"github.com/interlock-go/interlock/analyzers/registry"
)

func TestPlugin(t *testing.T) {
	create, err := register.GetPlugin(Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name     string
		settings any
		checks   int
		err      string
	}{
		{"none", nil, len(registry.Checks()), ""},
		{"two codes", map[string]any{"codes": []string{"IL1001", "IL3001"}}, 2, ""},
		{"fixes", map[string]any{"codes": []string{"IL1001", "IL3001"}, "fixes": true}, 2, ""},
		{"no such code", map[string]any{"codes": []string{"IL9999"}}, 0, `"IL9999"`},
		{"no such setting", map[string]any{"code": "IL1001"}, 0, "code"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := create(tt.settings)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want one with %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.BuildAnalyzers()
			if err != nil || len(got) != tt.checks || p.GetLoadMode() != register.LoadModeTypesInfo {
				t.Errorf("%d analyzers in mode %s (%v), want %d", len(got), p.GetLoadMode(), err, tt.checks)
			}
		})
	}
}
