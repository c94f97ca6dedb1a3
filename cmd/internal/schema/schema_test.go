package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

var update = flag.Bool("update", false, "write the schema.json files anew")

// contracts are the published ones; folders are relative to this package.
var contracts = []Contract{
	{Dir: "../../../analyzers/finding", Root: "Finding", Open: []string{"Code"}},
	{Dir: "../../../analyzers/finding", Root: "End", File: "end.schema.json"},
	{Dir: "../../../atomicsets/plan", Root: "Plan", Open: []string{"Reason"}},
	{Dir: "../report", Root: "Document", Open: []string{"Code"},
		Imports: map[string]string{"finding": "../../../analyzers/finding"}},
}

func TestPublishedSchemasAreFresh(t *testing.T) {
	for _, c := range contracts {
		want, err := Generate(c)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(c.Dir, cmp.Or(c.File, "schema.json"))
		if *update {
			if err := os.WriteFile(file, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale (%v); mend it with: go test ./cmd/internal/schema -update", file, err)
		}
	}
}

func read(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../..", dir, "schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func full() *finding.Finding {
	f := &finding.Finding{
		Code: finding.Unguarded, Status: finding.Confirmed, Title: "Counter.n is written without Counter.mu",
		Variable: finding.Variable{Package: "p", Type: "Counter", Name: "n", Kind: "field"},
		Accesses: []finding.Access{
			{
				Position: finding.Position{File: "p.go", Line: 3, Column: 2}, Package: "p", Function: "F", Expr: "c.n",
				Mode:      finding.Write,
				Goroutine: &finding.Goroutine{ID: 7, Stack: []finding.Frame{{Function: "F", File: "p.go", Line: 3}}},
			},
			{Position: finding.Position{File: "p.go", Line: 9}, Package: "p", Function: "G", Expr: "c.n", Mode: finding.Read,
				Locks: []string{"c.mu"}},
		},
		Section:  &finding.Section{Kind: "load-and-store", Allows: []finding.Mode{finding.Read}},
		Evidence: &finding.Evidence{Engine: "watch", Run: 1, Runs: 2, Hits: 2, Seed: 1 << 63},
		Fix:      &finding.Fix{Strategy: "guard", Diff: "--- a/p.go\n"},
	}
	finding.Seal([]*finding.Finding{f})
	return f
}

// edit returns v as JSON with one textual change, which must apply.
func edit(t *testing.T, v any, old, new string) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("no %s in %s", old, data)
	}
	return bytes.Replace(data, []byte(old), []byte(new), 1)
}

func TestValidateFinding(t *testing.T) {
	s := read(t, "analyzers/finding")
	for _, tt := range []struct{ name, old, new, want string }{
		{"whole", `"code"`, `"code"`, ""},
		{"field of a later version", `"code"`, `"later":{},"code"`, ""},
		{"code of a later version", `"IL1001"`, `"IL9999"`, ""},
		{"no code", `"code"`, `"edoc"`, `missing property 'code'`},
		{"unknown status", `"confirmed"`, `"refuted"`, `at '/status': value must be one of`},
		{"line is text", `"line":3`, `"line":"3"`, `at '/accesses/0/line': got string, want integer`},
		{"negative seed", `"seed":9`, `"seed":-9`, "minimum"},
		{"fraction", `"hits":2`, `"hits":2.5`, "want integer"},
		{"number for text", `"engine":"watch"`, `"engine":1`, "want string"},
		{"unknown mode in a list", `"allows":["read"]`, `"allows":["peek"]`, `at '/section/allows/0'`},
		{"object for list", `"stack":[`, `"stack":{},"x":[`, "want array"},
		{"null for list", `"stack":[`, `"stack":null,"x":[`, "got null, want array"},
		{"list for object", `"evidence":{`, `"evidence":[],"x":{`, "want object"},
		{"two documents", `{"version"`, `{} {"version"`, "reading the document"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := Validate(s, edit(t, full(), tt.old, tt.new))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestValidatePlan(t *testing.T) {
	s := read(t, "atomicsets/plan")
	p := plan.Plan{Version: plan.SchemaVersion, Module: "m", Sites: []plan.Site{{
		ID: 1, Package: "m", Function: "F", Variable: plan.Variable{Package: "m", Name: "x"}, Mode: plan.Read,
		File: "m.go", Line: 1, Column: 1, Expr: "x", Decision: plan.Skip, Reason: plan.Fresh,
	}}}
	if err := Validate(s, edit(t, p, `"m"`, `"m"`)); err != nil {
		t.Error(err)
	}
	if err := Validate(s, edit(t, p, string(plan.Fresh), "a reason of a later version")); err != nil {
		t.Error(err)
	}
	if err := Validate(s, edit(t, p, `"skip"`, `"maybe"`)); err == nil {
		t.Error("an unknown decision passes")
	}
	if err := Validate(s, []byte(`{"version":1,"module":"m","sites":[]}`)); err != nil {
		t.Error("a plan without sites:", err)
	}
	if err := Validate(s, []byte(`{"version":1,"module":"m","sites":null}`)); err == nil {
		t.Error("null for the sites passes")
	}
}

func TestGenerateNamesWhatItCannotSay(t *testing.T) {
	for src, want := range map[string]string{
		"package p\ntype T struct{ F map[string]int }":   "field F: no schema for a *ast.MapType",
		"package p\ntype T struct{ F Other }":            "no type Other",
		"package p\ntype T struct{ *int }":               "embedded *ast.StarExpr",
		"package p\ntype U struct{}":                     "no type T",
		"package p\ntype T struct{":                      "reading the types",
		"package p\ntype ( T struct{ F G }; G chan int)": "type G: no schema for a *ast.ChanType",
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(src), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Generate(Contract{Dir: dir, Root: "T"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", src, err, want)
		}
	}
}
