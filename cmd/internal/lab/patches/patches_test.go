package patches

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/tree"
)

func TestCompare(t *testing.T) {
	fresh, both := compare([]string{"b", "a", "b", "c"}, []string{"c", "d"})
	if !reflect.DeepEqual(fresh, []string{"a", "b"}) || !reflect.DeepEqual(both, []string{"c"}) {
		t.Errorf("only with the patch: %q, both: %q", fresh, both)
	}
}

// What is suspected alone is not shown, and a sentence on failures names each test.
func TestShown(t *testing.T) {
	r := &report{
		Findings: []*finding.Finding{
			{Code: "IL1000", Status: finding.Suspected, Title: "x"},
			{Code: "IL3000", Status: finding.Confirmed, Title: "deadlock"},
		},
		Failures: []string{"TestB, TestA of m/p failed only under noise: they depend on timing; in 2 of 5 runs"},
	}
	if got, want := r.listShown(), []string{"IL3000 deadlock", "TestA", "TestB"}; !reflect.DeepEqual(got, want) {
		t.Errorf("shown: %q, want %q", got, want)
	}
}

// Whatever is worse than before, or was not measured, does not hold.
func TestHolds(t *testing.T) {
	good := func() *result {
		return &result{drives: [2]int{10, 0}, failsAnyway: []string{"TestA"}, runs: 100, asked: 100,
			benchmarks: []benchmark{{ratios: []float64{1.2}}, {ratios: []float64{1, 1.04}}, {ratios: []float64{0.9}}}}
	}
	if !good().isNoWorse() {
		t.Error("a good result does not hold")
	}
	for name, worsen := range map[string]func(*result){
		"driver":    func(r *result) { r.drives[after] = 1 },
		"test":      func(r *result) { r.fails = []string{"TestB"} },
		"campaign":  func(r *result) { r.reported = []string{"IL1000 x"} },
		"runs":      func(r *result) { r.runs = 99 },
		"slow-down": func(r *result) { r.benchmarks = r.benchmarks[:1] },
		"time":      func(r *result) { r.unfinished = true },
	} {
		r := good()
		if worsen(r); r.isNoWorse() {
			t.Errorf("%s: it holds", name)
		}
	}
}

// Rounds that only one copy has run are left out.
func TestPair(t *testing.T) {
	var r result
	r.addPairs("./p", [2]map[string][]float64{
		{"BenchmarkA-2": {10, 10}, "BenchmarkGone-2": {1}},
		{"BenchmarkA-2": {11, 12, 40}, "BenchmarkNew-2": {1}},
	})
	want := []benchmark{{name: "p/BenchmarkA-2", ns: [2]float64{10, 12}, ratios: []float64{1.1, 1.2}}}
	if !reflect.DeepEqual(r.benchmarks, want) {
		t.Errorf("benchmarks: %v, want %v", r.benchmarks, want)
	}
}

const list = `[{"name": "a", "dir": "m", "package": "p", "driver": "d_test.go", "test": "TestD", "patch": "a.diff"}]`

// The patch is in one copy, the driver in both, and the packages are the driver's and those of the patch.
func TestLay(t *testing.T) {
	dir := t.TempDir()
	err := tree.Create(dir, map[string][]byte{
		"list.json": []byte(list), "d_test.go": []byte("package p\n"),
		"m/go.mod": []byte("module m\n"), "m/q/q.go": []byte("package q\n"), "m/p/p.go": []byte("package p\n"),
		"a.diff": []byte("--- a/q/q.go\n+++ b/q/q.go\n@@ -1 +1,2 @@\n package q\n+// New.\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	bugs, err := readList(filepath.Join(dir, "list.json"))
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{bug: bugs[0], tmp: t.TempDir()}
	if err := l.writeModule(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"./p", "./q"}; !reflect.DeepEqual(l.packages, want) {
		t.Errorf("packages: %q, want %q", l.packages, want)
	}
	for s, want := range map[side]string{before: "package q\n", after: "package q\n// New.\n"} {
		if got, err := os.ReadFile(filepath.Join(l.folderOf(s), "q", "q.go")); err != nil || string(got) != want {
			t.Errorf("copy %d: %q, error %v; want %q", s, got, err, want)
		}
		if _, err := os.Stat(filepath.Join(l.folderOf(s), "p", "d_test.go")); err != nil {
			t.Error(err)
		}
	}
}

func TestReadListLacks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "list.json")
	if err := os.WriteFile(file, []byte(strings.Replace(list, "a.diff", "", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readList(file); err == nil || !strings.Contains(err.Error(), "bug 1 lacks") {
		t.Errorf("error: %v", err)
	}
}
