package watched

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

const origin = `"origin":{"program":"m/cmd","module":"m","build":"%s","means":"pauses","budget":"2%%"%s}`

// write writes a file of evidence.
func write(t *testing.T, name, build, uncounted string, records ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	var text strings.Builder
	for _, r := range append([]string{`"kind":"start"`}, records...) {
		fmt.Fprintf(&text, `{"v":1,"run":1,"seed":0,"pid":7,%s,%s}`+"\n", r, fmt.Sprintf(origin, build, uncounted))
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// sideText is one side of a record.
func sideText(name, function string, line int, write bool) string {
	stack := fmt.Sprintf(`goroutine 3 [running]:\nm.%s(...)\n\tm.go:%d\n`, function, line)
	return fmt.Sprintf(`"%s":{"site":0,"write":%v,"addr":1,"size":8,"gid":3,"stack":"%s"}`, name, write, stack)
}

// One race that two instances of two builds have seen, in whatever order, is one finding.
func TestJoin(t *testing.T) {
	set, get := sideText("a", "Set", 9, true), sideText("b", "Get", 5, false)
	a := write(t, "a", "1", "", `"kind":"clock","count":4,`+set+","+get,
		`"kind":"watched","watched":{"program_ns":1000,"spent_ns":10,"samples":3,"armed":1}`)
	set, get = sideText("b", "Set", 9, true), sideText("a", "Get", 5, false)
	b := write(t, "b", "2", "", `"kind":"clock","count":1,`+get+","+set)
	r, err := Read([]string{a, b})
	if err != nil {
		t.Fatal(err)
	}
	all := r.Findings(nil)
	if len(all) != 1 || r.Processes != 2 || r.Builds != 2 || r.ProgramNS != 1000 || r.Samples != 3 {
		t.Fatalf("%d findings of %+v", len(all), r)
	}
	f := all[0]
	if err := f.Validate(); err != nil {
		t.Error(err)
	}
	if f.Status != finding.Predicted || f.Evidence.Count != 5 || f.Evidence.Hits != 2 || f.Accesses[0].Line != 9 ||
		f.Title != "data race on memory accessed at m.go:9: write and read that nothing orders" {
		t.Errorf("%s %q: %+v", f.Status, f.Title, f.Evidence)
	}
}

// Each side has the labels of its goroutine, whichever comes first.
func TestLabels(t *testing.T) {
	labelled := strings.Replace(sideText("b", "Set", 9, true), `"gid"`, `"labels":{"path":"/b \"c\"","job":"1"},"gid"`, 1)
	file := write(t, "a", "1", "", `"kind":"clock","count":1,`+sideText("a", "Get", 5, false)+","+labelled)
	r, err := Read([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	sides := r.Findings(nil)[0].Accesses
	if set, get := sides[0].Goroutine.Name(), sides[1].Goroutine.Name(); set != `goroutine 3 {job="1", path="/b \"c\""}` ||
		get != "goroutine 3" {
		t.Errorf("%s and %s", set, get)
	}
}

// An access of the program itself is in the package of its path, by which the go command finds it.
func TestMainPackage(t *testing.T) {
	text := strings.ReplaceAll(sideText("a", "Set", 9, true)+","+sideText("b", "Get", 5, false), "nm.", "nmain.")
	r, err := Read([]string{write(t, "a", "1", "", `"kind":"clock","count":1,`+text)})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Findings(nil)[0]; f.Accesses[0].Package != "m/cmd" || !slices.Equal(r.Packages(), []string{"m/cmd"}) {
		t.Errorf("%q, %q", f.Accesses[0].Package, r.Packages())
	}
}

// The finding names packages with releases that no clock counts.
func TestUncounted(t *testing.T) {
	file := write(t, "a", "1", `,"uncounted":["m/asm"]`,
		`"kind":"clock","count":1,`+sideText("a", "Set", 9, true)+","+sideText("b", "Set", 9, true))
	r, err := Read([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Findings(nil)[0]; f.Status != finding.Predicted || !strings.Contains(f.Notes[0], "m/asm") {
		t.Errorf("%s, %v", f.Status, f.Notes)
	}
}

// A value that changed has the writes that the source shows, and is none without the source, or on a line with two
// variables.
func TestChanged(t *testing.T) {
	file := write(t, "a", "1", "", `"kind":"changed","count":1,`+sideText("a", "Get", 5, false))
	site := func(name string, line int, mode plan.Mode) plan.Site {
		return plan.Site{Package: "m", Function: "F", Variable: plan.Variable{Package: "m", Type: "T", Name: name,
			Kind: "field"}, Mode: mode, File: "m.go", Line: line, Column: 2, Expr: "t." + name}
	}
	known := []plan.Site{site("n", 5, plan.Read), site("n", 9, plan.Write)}
	for _, tt := range []struct {
		name  string
		sites []plan.Site
		want  int
	}{
		{"no source", nil, 0},
		{"one variable", known, 1},
		{"two variables", append(known[:2:2], site("k", 5, plan.Read)), 0},
		{"no write", known[:1], 0},
	} {
		r, err := Read([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		all := r.Findings(tt.sites)
		if len(all) != tt.want || r.Unnamed != 1-tt.want {
			t.Errorf("%s: %d findings, %d unnamed", tt.name, len(all), r.Unnamed)
		}
		for _, f := range all {
			if err := f.Validate(); err != nil || f.Status != finding.Predicted || f.Accesses[1].Line != 9 {
				t.Errorf("%s: %v: %s at %+v", tt.name, err, f.Status, f.Accesses[1].Position)
			}
		}
	}
}
