package finding

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sample returns a finding with every field set, sealed.
func sample() *Finding {
	stack := []Frame{{Function: "p.F", File: "p.go", Line: 3}}
	f := &Finding{
		Code: Unguarded, Status: Confirmed, Level: Possible, Class: "IL1001",
		Title:    "Counter.n is written without Counter.mu",
		Message:  "Updates may be lost.",
		Variable: Variable{Package: "m/p", Type: "Counter", Function: "New", Name: "n", Kind: "field"},
		Accesses: []Access{
			{
				Position: Position{File: "p.go", Line: 3, Column: 2, EndLine: 3, EndColumn: 5}, Package: "m/p", Function: "F",
				Expr:   "c.n",
				Source: "c.n++", Mode: Write, Role: "any caller", Step: 1,
				Goroutine: &Goroutine{ID: 7, Stack: stack, Created: stack},
			},
			{Position: Position{File: "p.go", Line: 9, Column: 9}, Package: "m/p", Function: "(*Counter).Get", Expr: "c.n",
				Mode: Read, Locks: []string{"c.mu"}},
		},
		Sides:   []Side{{"F", "c.n"}, {"G", "d.n"}},
		Ordinal: 2, SameAs: []string{"il-0123456789abcdef"}, Cause: "il-0123456789abcdef",
		Section: &Section{Kind: "load-and-store", Entry: Position{File: "p.go", Line: 3},
			End: Position{File: "p.go", Line: 4}, Allows: []Mode{Read}},
		Cycle: []Edge{{From: "A.mu", To: "B.mu", Position: Position{File: "p.go", Line: 5}, Function: "F",
			Via: "G at p.go:9", Since: &Position{File: "p.go", Line: 4}}},
		Evidence: &Evidence{Engine: "watch", Run: 1, Runs: 20, Hits: 3, Count: 9, Seed: 1<<64 - 1, Test: "m/p",
			Replay: "interlock test", ReplayHits: 2, ReplayRuns: 3, Harmful: true, Pattern: "R-w-W", Changed: true},
		Fix:   &Fix{Strategy: "guard", Diff: "--- a/p.go\n+++ b/p.go\n", Checked: []string{"compiles"}},
		Notes: []string{"guessed"}, Apart: 311,
	}
	f.Version, f.ID = SchemaVersion, f.ComputeID()
	return f
}

// plain returns a sealed finding about two accesses of one field.
func plain() *Finding {
	f := sample()
	f.Cycle, f.Sides, f.Ordinal = nil, nil, 0
	Seal([]*Finding{f})
	return f
}

// A finding survives JSON with every field.
func TestRoundTrip(t *testing.T) {
	want := sample()
	for i, v := 0, reflect.ValueOf(*want); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the sample leaves %s out", v.Type().Field(i).Name)
		}
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Finding
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", &got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

// Each contradiction of a finding is refused, and named.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Finding)
		want   string // "" for a fit one
	}{
		{"fit", func(f *Finding) {}, ""},
		{"fit without evidence", func(f *Finding) { f.Status, f.Evidence = Suspected, nil }, ""},
		{"fit, one access", func(f *Finding) { f.Accesses = f.Accesses[:1] }, ""},
		{"fit, withheld", func(f *Finding) { f.Fix = &Fix{Withheld: "would add a lock cycle"} }, ""},
		{"fit, cycle only", func(f *Finding) { f.Accesses, f.Variable, f.Cycle = nil, Variable{}, sample().Cycle }, ""},
		{"version", func(f *Finding) { f.Version++ }, "version 2"},
		{"code", func(f *Finding) { f.Code = "IL0" }, `unknown code "IL0"`},
		{"status", func(f *Finding) { f.Status = "refuted" }, `unknown status "refuted"`},
		{"title", func(f *Finding) { f.Title = "" }, "no title"},
		{"variable", func(f *Finding) { f.Variable = Variable{} }, "neither variable nor lock cycle"},
		{"accesses", func(f *Finding) { f.Accesses = nil }, "no access"},
		{"evidence", func(f *Finding) { f.Evidence = nil }, "confirmed without evidence"},
		{"file", func(f *Finding) { f.Accesses[1].File = "" }, "access 1: no position"},
		{"line", func(f *Finding) { f.Accesses[0].Line = 0 }, "access 0: no position"},
		{"expression", func(f *Finding) { f.Accesses[0].Expr = "" }, "no function or expression"},
		{"mode", func(f *Finding) { f.Accesses[0].Mode = "peek" }, `unknown mode "peek"`},
		{"neither diff nor reason", func(f *Finding) { f.Fix = &Fix{Strategy: "guard"} }, "either a diff or a reason"},
		{"diff and reason", func(f *Finding) { f.Fix.Withheld = "x" }, "either a diff or a reason"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := plain()
			tt.change(f)
			f.ID = f.ComputeID()
			err := f.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	f := plain()
	f.ID = "il-0"
	if err := f.Validate(); err == nil || !strings.Contains(err.Error(), "is not that of its contents") {
		t.Errorf("a foreign id: got %v", err)
	}
}

// An id must outlive edits elsewhere in the file and the proof of a
// suspicion, and must tell different bugs apart.
func TestComputeID(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Finding)
		same   bool
	}{
		{"lines move", func(f *Finding) { f.Accesses[0].Line += 10; f.Accesses[1].File = "q.go" }, true},
		{"sides swap", func(f *Finding) { slices.Reverse(f.Accesses) }, true},
		{"code sharpens", func(f *Finding) { f.Code, f.Status = CaughtInTheAct, Suspected }, true},
		{"kind of the variable", func(f *Finding) { f.Variable.Kind = "map" }, true},
		{"another field", func(f *Finding) { f.Variable.Name = "m" }, false},
		{"another type", func(f *Finding) { f.Variable.Type = "Gauge" }, false},
		{"another package", func(f *Finding) { f.Variable.Package = "m/q" }, false},
		{"another function", func(f *Finding) { f.Accesses[0].Function = "G" }, false},
		{"another expression", func(f *Finding) { f.Accesses[0].Expr = "d.n" }, false},
		{"races with itself", func(f *Finding) { f.Accesses = f.Accesses[:1] }, false},
		{"second of its kind", func(f *Finding) { f.Ordinal = 1 }, false},
	} {
		f := plain()
		id := f.ID
		tt.change(f)
		if same := f.ComputeID() == id; same != tt.same {
			t.Errorf("%s: same id is %v, want %v", tt.name, same, tt.same)
		}
	}
	a, b := sample(), sample()
	a.Cycle = []Edge{{From: "A.mu", To: "B.mu"}, {From: "B.mu", To: "A.mu"}}
	b.Cycle = []Edge{{From: "B.mu", To: "A.mu"}, {From: "A.mu", To: "B.mu"}}
	if a.ComputeID() != b.ComputeID() {
		t.Error("a lock cycle has two ids, by where one starts to read it")
	}
}

func TestSealTellsTwinsApart(t *testing.T) {
	twins := []*Finding{plain(), plain(), plain()}
	twins[1].Accesses[0].Line = 77 // no part of the id
	Seal(twins)
	ids := map[string]bool{}
	for i, f := range twins {
		if f.Ordinal != i {
			t.Errorf("finding %d has ordinal %d", i, f.Ordinal)
		}
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		ids[f.ID] = true
	}
	if len(ids) != len(twins) {
		t.Errorf("%d ids for %d findings", len(ids), len(twins))
	}
	before := *twins[2]
	Seal(twins)
	if twins[2].ID != before.ID {
		t.Error("sealing twice changes an id")
	}
}

func TestSort(t *testing.T) {
	place := func(file string, line, column int, code Code) *Finding {
		return &Finding{Code: code, Accesses: []Access{{Position: Position{File: file, Line: line, Column: column}}}}
	}
	cycle := &Finding{Code: Unguarded, Cycle: []Edge{{Position: Position{File: "b.go", Line: 2}}}}
	want := []*Finding{
		place("a.go", 9, 1, Unguarded), place("a.go", 10, 1, Unguarded), cycle,
		place("b.go", 2, 3, CaughtInTheAct), place("b.go", 2, 3, Unguarded), place("b.go", 2, 11, CaughtInTheAct),
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	Sort(got)
	if !slices.Equal(got, want) {
		for i := range got {
			t.Logf("%d: %+v", i, got[i])
		}
		t.Error("not in order")
	}
}

func TestConflicts(t *testing.T) {
	modes := []Mode{Read, Write, AtomicRead, AtomicWrite}
	want := [4][4]bool{
		{false, true, false, true},
		{true, true, true, true},
		{false, true, false, false},
		{true, true, false, false},
	}
	for i, a := range modes {
		for j, b := range modes {
			if Conflicts(a, b) != want[i][j] {
				t.Errorf("Conflicts(%s, %s) = %v", a, b, !want[i][j])
			}
		}
	}
}

func TestCodes(t *testing.T) {
	list := Codes()
	if len(list) != len(codes) || !slices.IsSorted(list) {
		t.Errorf("Codes lists %v, known are %v", list, codes)
	}
	for _, c := range list {
		if !c.Known() || c.Title() == "" {
			t.Errorf("%s has no title", c)
		}
	}
	if Code("IL9999").Known() {
		t.Error("an unknown code is known")
	}
}

func TestVariableString(t *testing.T) {
	for want, v := range map[string]Variable{
		"m/p.Counter.stats.n": {Package: "m/p", Type: "Counter", Name: "stats.n"},
		"m/p.total":           {Package: "m/p", Name: "total"},
		"m/p.Run.err":         {Package: "m/p", Function: "Run", Name: "err"},
	} {
		if v.String() != want {
			t.Errorf("got %s, want %s", v, want)
		}
	}
}

func TestNearMiss(t *testing.T) {
	for apart, want := range map[int64]string{311: "311ns", 12_345: "12.3µs", 4_567_891: "4.6ms", 1_250_000_000: "1.3s"} {
		if got := (&Finding{Apart: apart}).NearMiss(); !strings.Contains(got, ", "+want+" apart") {
			t.Errorf("%d ns: %q, want %s", apart, got, want)
		}
	}
	if got := new(Finding).NearMiss(); got != "" {
		t.Errorf("none: %q", got)
	}
}
