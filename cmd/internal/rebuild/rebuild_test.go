package rebuild

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
)

func TestNewer(t *testing.T) {
	for _, tt := range []struct {
		v, than string
		want    bool
	}{
		{"go1.27.3", "go1.26.8", true},
		{"go1.27rc1", "go1.26.8", true},
		{"go1.27.3", "go1.27.0", false}, // the type checker of a release stays
		{"go1.26.8", "go1.27.3", false},
		{"go1.21.13", "go1.26.8", false},
		{"go1.27.3 X:jsonv2", "go1.26.8 X:nodwarf5", true},
		{"devel go1.28-3a5bbf1 Mon Jan 2", "go1.27.3", true},
		{"go1.27.3", "devel go1.28-3a5bbf1 Mon Jan 2", false},
		{"go1.27.3-custom", "go1.26.8-custom", true},
		{"tip", "go1.26.8", false}, // not known
		{"", "go1.26.8", false},
	} {
		if got := newer(tt.v, tt.than); got != tt.want {
			t.Errorf("newer(%q, %q) = %v", tt.v, tt.than, got)
		}
	}
}

// A module of the module cache is installed again by its version, a clone is
// built where it lies, and of neither it is said what is missing.
func TestFind(t *testing.T) {
	clone := t.TempDir()
	if err := os.WriteFile(filepath.Join(clone, "go.mod"), []byte("module example.com/tool\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	new127 := toolchain{"go1.27.3", "/go"}
	const inRepo = "/cmd/internal/rebuild/source.go"
	for _, tt := range []struct {
		name, file string
		main       debug.Module
		clone      string
		advice     string
	}{
		{
			"installed", "/cache/example.com/tool@v1.2.3" + inRepo,
			debug.Module{Path: "example.com/tool", Version: "v1.2.3", Sum: "h1:x"}, "",
			"run `GOTOOLCHAIN=go1.27.3 go install example.com/tool/cmd/interlock@v1.2.3`",
		},
		{
			"clone", clone + inRepo, debug.Module{Path: "example.com/tool",
				Version: "v0.0.0-20260102030405-0123456789ab+dirty"}, clone,
			"in " + clone + " run `GOTOOLCHAIN=go1.27.3 go install ./cmd/interlock`",
		},
		{
			"clone of another", clone + inRepo, debug.Module{Path: "example.com/fork", Version: "(devel)"}, "",
			"in a clone of its source run `GOTOOLCHAIN=go1.27.3 go install ./cmd/interlock`",
		},
		{
			"clone is gone", clone + "/gone" + inRepo, debug.Module{Path: "example.com/tool", Version: "(devel)"}, "",
			"in a clone of its source run `GOTOOLCHAIN=go1.27.3 go install ./cmd/interlock`",
		},
		{
			"trimmed", "example.com/tool" + inRepo, debug.Module{Path: "example.com/tool", Version: "(devel)"}, "",
			"in a clone of its source run `GOTOOLCHAIN=go1.27.3 go install ./cmd/interlock`",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := find("binary", tt.main, tt.file)
			if s.clone != tt.clone {
				t.Errorf("clone %q, want %q", s.clone, tt.clone)
			}
			if got := s.advice(new127); got != tt.advice {
				t.Errorf("advice %q, want %q", got, tt.advice)
			}
		})
	}
}
