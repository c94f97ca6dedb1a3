package driver

import (
	"encoding/json"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/unitchecker"
)

// TestOutside: of a package of another module, declarations are typed and
// handed on, bodies are not; of one of the main module nothing is done.
func TestOutside(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "dep.go")
	write(t, source, "package dep\n\nimport \"fmt\"\n\ntype T struct{ n int }\n\nfunc (t *T) N() int { return nowhere }\n")
	request := unitchecker.Config{
		ImportPath: "example.com/dep", ModulePath: "example.com/dep", ModuleVersion: "v1.0.0",
		GoFiles: []string{source}, ImportMap: map[string]string{"fmt": "fmt"},
		PackageVetx: map[string]string{"fmt": filepath.Join(dir, "fmt.vetx")},
		VetxOnly:    true, VetxOutput: filepath.Join(dir, "dep.vetx"),
	}
	serve := func(change func(*unitchecker.Config)) bool {
		c := request
		change(&c)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "vet.cfg")
		write(t, name, string(data))
		return outside([]string{"-summary.emit", name})
	}

	if serve(func(*unitchecker.Config) {}) {
		t.Error("served without the types of an import")
	}
	if err := writeVetx(filepath.Join(dir, "fmt.vetx"), exportedFmt(t)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*unitchecker.Config){
		"main module":        func(c *unitchecker.Config) { c.ModuleVersion = "" },
		"findings asked for": func(c *unitchecker.Config) { c.VetxOnly = false },
		"missing source":     func(c *unitchecker.Config) { c.GoFiles = []string{source + "x"} },
	} {
		if serve(change) {
			t.Errorf("%s: served", name)
		}
	}
	if !serve(func(*unitchecker.Config) {}) {
		t.Fatal("not served")
	}
	u := &unit{unitchecker.Config{ImportMap: map[string]string{"dep": "dep"},
		PackageVetx: map[string]string{"dep": request.VetxOutput}}}
	pkg, err := (&vetxImporter{u, token.NewFileSet(), map[string]*types.Package{}}).Import("dep")
	if err != nil {
		t.Fatal(err)
	}
	if m, _, _ := types.LookupFieldOrMethod(pkg.Scope().Lookup("T").Type(), true, pkg, "N"); m == nil {
		t.Error("method N of T is not exported")
	}
}

func exportedFmt(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	source, output := filepath.Join(dir, "fmt.go"), filepath.Join(dir, "vetx")
	write(t, source, "package fmt\n")
	u := &unit{unitchecker.Config{ImportPath: "fmt", GoFiles: []string{source}, VetxOutput: output}}
	if err := u.writeTypes(); err != nil {
		t.Fatal(err)
	}
	exported, err := readVetx(output)
	if err != nil {
		t.Fatal(err)
	}
	return exported
}

func TestReadVetxRejects(t *testing.T) {
	name := filepath.Join(t.TempDir(), "vetx")
	for _, content := range []string{"", "vetx", "other\x00\x00\x00\x00\x00\x00\x00\x00",
		"vetx\x05\x00\x00\x00\x00\x00\x00\x00abcd"} {
		write(t, name, content)
		if data, err := readVetx(name); err == nil {
			t.Errorf("%q: read as %q", content, data)
		}
	}
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
