package trial

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/patchgen"
)

func TestLineShift(t *testing.T) {
	before := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n"
	after := "new\na\nb\nC\nC\nd\ne\nf\ng\nh\ni\n" // one before a, c changed to two lines, j gone
	for line, want := range map[int]int{1: 1, 2: 1, 4: 2, 9: 2} {
		if got, ok := lineShift([]byte(before), []byte(after), line); !ok || got != want {
			t.Errorf("line %d: shift %d, %v, want %d", line, got, ok, want)
		}
	}
	for _, line := range []int{3, 10} {
		if got, ok := lineShift([]byte(before), []byte(after), line); ok {
			t.Errorf("line %d is gone, but has shift %d", line, got)
		}
	}
	if got, ok := lineShift([]byte(before), []byte(before), 5); !ok || got != 0 {
		t.Errorf("no change: %d, %v", got, ok)
	}
}

// A place whose line a patch has changed is where the statement around it stands now, if that reads as it did.
func TestFollowPlace(t *testing.T) {
	const head = "package p\n\n"
	for _, test := range []struct {
		before, after, what string // the place is where the last of what stands in both
		moves               bool
	}{
		{"func (r *R) f() int { return r.b - r.a }", "func (r *R) f() int {\n\tr.lock()\n\treturn r.b - r.a\n}", "r.a", true},
		{"func f() {\n\tgo func() { a(); b++ }()\n}", "func f() {\n\tgo func() {\n\t\ta()\n\t\tb++\n\t}()\n}", "b++", true},
		{"func f() {\n\tc <- 1\n}", "func f() {\n\tselect {\n\tcase c <- 1:\n\tcase <-stop:\n\t}\n}", "c <- 1", true},
		// The second of two that read alike.
		{"func f() { a++; a++ }", "func f() {\n\ta++\n\tb()\n\ta++\n}", "a++", true},
		{"func f() { a++; a++ }", "func f() {\n\ta++\n\tb()\n}", "a++", false},
		{"func f() { a++; a++ }", "func f() {\n\ta++\n\ta++\n\ta++\n}", "a++", false},
		// The statement has changed, or is in another function.
		{"func f() int { return a.n }", "func f() int { return a.n.Load() }", "a.n", false},
		{"func f() { a++ }", "func g() { a++ }", "a++", false},
		{"func (r *R) f() { a++ }", "func (r *S) f() { a++ }", "a++", false},
		{"func f() { a++ }", "func f() { a++", "a++", false},
		// No statement is there.
		{"var a = 1", "var a = 2", "a", false},
	} {
		place := func(text string) (p finding.Position) {
			before := text[:strings.LastIndex(text, test.what)]
			p.Line = strings.Count(before, "\n") + 1
			p.Column = len(before) - strings.LastIndex(before, "\n")
			return p
		}
		pos := place(head + test.before)
		ok := followPlace([]byte(head+test.before+"\n"), []byte(head+test.after+"\n"), &pos)
		if ok != test.moves {
			t.Errorf("%q in %q: %v", test.what, test.after, ok)
		} else if want := place(head + test.after); ok && pos != want {
			t.Errorf("%q in %q: %v, want %v", test.what, test.after, pos, want)
		}
	}
	pos := finding.Position{Line: 90, Column: 1}
	if followPlace([]byte(head), []byte(head+"var a int\n"), &pos) && pos.Line == 90 {
		t.Errorf("a line that is not there is at %v", pos)
	}
}

func TestNewComplaint(t *testing.T) {
	before := "# p\n./p.go:3:2: unreachable code\n./p.go:5:2: self-assignment"
	for after, want := range map[string]bool{
		"": false,
		"# p\n./p.go:30:2: unreachable code\n./p.go:5:2: self-assignment":                              false,
		"# p\n./p.go:5:2: self-assignment\n./p.go:3:2: unreachable code":                               false,
		"# p\n./p.go:3:2: unreachable code\n./p.go:9:2: unreachable code\n./p.go:5:2: self-assignment": true,
		"# p\n./p.go:3:2: assignment copies lock value to c: p.Counter":                                true,
		"# p\n./p.go:3:2: unreachable code\n# q\n./q.go:1:1: self-assignment":                          true,
	} {
		if got := newComplaint(before, after); got != want {
			t.Errorf("%q: %v", after, got)
		}
	}
}

// put makes files below dir; a name with " -> " is a symbolic link.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name, target, link := strings.Cut(name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		var err error
		if link {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopyModule(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "m")
	put(t, root, map[string]string{
		"go.mod": "module m\n\nreplace (\n\tin => ./sub\n\tout => ../out\n\tabs => ROOT/sub\n" +
			"\tpinned => other v1.0.0\n)\n",
		"go.work":    "go 1.21\n\nuse (\n\t.\n\t./sub\n\t../out\n\tROOT/other\n)\n",
		"sub/go.mod": "module sub\n\nreplace m => ../\n",
		"vendor/modules.txt": "# out v0.0.0 => ../out\n## explicit\nout\n# in v0.0.0 => ./sub\n" +
			"# pinned => other v1.0.0\n# out => ../out\n",
		"m.go":            "package m\n",
		"broken/go.mod":   "modul e\n",
		"other/x":         "",
		"out -> ../out/x": "",
	})
	for _, name := range []string{"go.mod", "go.work"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), []byte(strings.ReplaceAll(string(data), "ROOT", root)), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, dir, map[string]string{"out/x": "outside", "link -> m": ""})
	c, err := copyModule(t.Context(), filepath.Join(dir, "link"), filepath.Join(dir, "link", "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	out := filepath.Join(dir, "out")
	for name, want := range map[string][]string{
		"go.mod":  {"in => ./sub", "out => " + out, "abs => " + c.path("sub"), "pinned => other v1.0.0"},
		"go.work": {"./sub", out, c.path("other")},
		"vendor/modules.txt": {"# out v0.0.0 => " + out + "\n", "in v0.0.0 => ./sub\n", "pinned => other v1.0.0\n",
			"# out => " + out + "\n"},
		"sub/go.mod":    {"m => ../\n"},
		"broken/go.mod": {"modul e\n"},
		"m.go":          {"package m\n"},
		"out":           {"outside"},
	} {
		data, err := os.ReadFile(c.path(name))
		if err != nil {
			t.Error(err)
		}
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("%s: no %q in %q", name, w, data)
			}
		}
	}
	if got := c.at(filepath.Join(root, "sub")); got != c.path("sub") {
		t.Errorf("at: %s", got)
	}
	if got := c.strip(c.path("sub/x.go") + ":1: bad"); got != filepath.Join("sub", "x.go")+":1: bad" {
		t.Errorf("strip: %s", got)
	}

	// A patch is there while it is tried, even if the trial fails, and no longer.
	failed := errors.New("tests fail")
	err = c.with(map[string][]byte{"m.go": []byte("package patched\n")}, func() error {
		if data, _ := os.ReadFile(c.path("m.go")); string(data) != "package patched\n" {
			t.Errorf("not patched: %q", data)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(c.path("m.go")); string(data) != "package m\n" {
		t.Errorf("the patch is still there: %q", data)
	}
	if err := c.with(map[string][]byte{"absent.go": nil}, func() error { return nil }); err == nil {
		t.Error("a file that is not there was patched")
	}
	c.close()
	if _, err := os.Stat(filepath.Dir(c.root)); !os.IsNotExist(err) {
		t.Errorf("left behind: %v", err)
	}
}

// A go command that fails because of the machine says nothing of a patch.
func TestMachineFaultIsNotThePatchs(t *testing.T) {
	dir := t.TempDir()
	tr := &trial{ctx: t.Context(), copy: &moduleCopy{root: dir}}
	tr.plan.Still, tr.plan.Dir = new(build.Still), dir
	if err := tr.goCommand("vet", "./..."); err == nil || errors.Is(err, patchgen.ErrCannotCheck) {
		t.Errorf("without a module: %v, want an error of the go command", err)
	}
	t.Setenv("GOTMPDIR", "")
	t.Setenv("TMPDIR", filepath.Join(dir, "gone"))
	if err := tr.goCommand("vet", "./..."); !errors.Is(err, patchgen.ErrCannotCheck) ||
		!strings.Contains(err.Error(), "a fault of the machine") {
		t.Errorf("without a temporary folder: %v, want ErrCannotCheck", err)
	}
}

// A suspicion is tried where the tests of its package fail in each run, the one without noise included, and in enough
// of them that their passing is no chance.
func TestMayFailTests(t *testing.T) {
	torn := &finding.Finding{Code: finding.TestAndUse, Status: finding.Suspected, Variable: finding.Variable{Package: "p"}}
	always := campaign.PackageResult{
		Package:      "p",
		Runs:         6,
		Failures:     6,
		WithoutNoise: campaign.WithoutNoise{PlainFailure: new(campaign.Failure)},
	}
	few, sometimes, quiet, other := always, always, always, always
	few.Runs, few.Failures = 2, 2
	sometimes.Failures = 5
	quiet.PlainFailure = nil
	other.Package = "q"
	for name, c := range map[string]struct {
		result campaign.PackageResult
		want   bool
	}{"always": {always, true}, "few": {few, false}, "sometimes": {sometimes, false}, "under noise": {quiet, false},
		"another package": {other, false}} {
		r := &campaign.Result{Packages: []campaign.PackageResult{c.result}}
		if got := MayFailTests(torn, r); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
		race := *torn
		race.Code = finding.Unguarded
		if MayFailTests(&race, r) {
			t.Errorf("%s: a suspected race is tried", name)
		}
	}
}

// A wait that was not suspected before is new; other codes, and what has the cause of a known one, are not.
func TestFirstNewWait(t *testing.T) {
	wait := func(id string, code finding.Code, name string) *finding.Finding {
		return &finding.Finding{ID: id, Code: code, Variable: finding.Variable{Package: "m", Type: "T", Name: name},
			Accesses: []finding.Access{{Mode: finding.Send}}}
	}
	known := []*finding.Finding{wait("il-1", finding.EndlessWait, "ready"), wait("il-2", finding.WaitUnderLock, "jobs")}
	for _, c := range []struct {
		now  *finding.Finding
		want bool
	}{
		{wait("il-1", finding.EndlessWait, "ready"), false},
		{wait("il-3", finding.EndlessWait, "ready"), false},
		{wait("il-4", finding.EndlessWait, "done"), true},
		{wait("il-5", finding.WaitUnderLock, "ready"), true},
		{wait("il-6", finding.Unguarded, "n"), false},
	} {
		if got := firstNewWait([]*finding.Finding{c.now}, known); (got != nil) != c.want {
			t.Errorf("%s %s: %v, want new: %t", c.now.Code, c.now.Variable.Name, got, c.want)
		}
	}
}

// A race beside a patch is another patch's only as long as that one is made, or may be.
func TestHasPatch(t *testing.T) {
	on := func(name string, fix *finding.Fix) *finding.Finding {
		return &finding.Finding{Variable: finding.Variable{Package: "m", Type: "T", Name: name}, Fix: fix}
	}
	made, none := &finding.Fix{Verdict: finding.Verified}, &finding.Fix{Verdict: finding.Withheld, Withheld: "why"}
	tr := &trial{
		known:    []*finding.Finding{on("accepted", nil), on("earlier", made)},
		asked:    []*finding.Finding{on("open", nil), on("made", made), on("none", none), on("tried", nil)},
		hopeless: []*finding.Finding{on("tried", nil)},
	}
	for name, want := range map[string]bool{"open": true, "made": true, "earlier": true,
		"none": false, "tried": false, "accepted": false, "new": false} {
		if got := tr.hasPatch(on(name, nil)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// Runs with a patch keep what others are for, and doubt it for the rest, by its name and places.
	tr.group = []*finding.Finding{race("n")}
	shown := []*finding.Finding{race("n"), race("open")}
	if open, err := tr.races(patchgen.Candidate{}, shown); err != nil || len(open) > 0 || len(tr.left) != 1 {
		t.Errorf("%v, %v, %d left, want one for another patch", open, err, len(tr.left))
	}
	open, err := tr.races(patchgen.Candidate{}, []*finding.Finding{race("open"), race("none")})
	if want := "race for m.T.none, at t.go:3 in (*T).Set"; err != nil || len(open) != 1 ||
		!strings.HasSuffix(open[0].Text, want) {
		t.Errorf("%v, %v, want one doubt with %q at its end", open, err, want)
	}
}

// Only its own package can name an unexported field, and a package that does not compile keeps no patch of it back.
func TestCanName(t *testing.T) {
	for name, want := range map[string]bool{"m": false, "T.m[]": false, "M": true, "T.M": true, "": true} {
		if got := canName("example.com/m/broken", finding.Variable{Package: "example.com/m", Name: name}); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
	if !canName("example.com/m", finding.Variable{Package: "example.com/m", Name: "m"}) {
		t.Error("a package cannot name what it declares")
	}
}

// A race that runs have shown before counts, whatever those with the patch show, until there is a patch for it too.
func TestLeavesKnownRace(t *testing.T) {
	made, none := &finding.Fix{Verdict: finding.Verified}, &finding.Fix{Verdict: finding.Withheld, Withheld: "why"}
	draft := &finding.Fix{Verdict: finding.Draft}
	for name, c := range map[string]struct {
		fix            *finding.Fix // of the other race
		isAsked, alone bool
		corrected      bool // by the patch, as the source shows
		err            error
		left           int
		want           string
	}{
		"to come":             {isAsked: true, left: 1},
		"in the copy already": {fix: made, isAsked: true},
		"made by itself":      {fix: made, isAsked: true, alone: true, left: 1},
		"withheld":            {fix: none, isAsked: true, want: "it leaves the race for m.T.other, at t.go:3 in (*T).Set, "},
		"a draft":             {fix: draft, isAsked: true, want: "it leaves the race for m.T.other"},
		"withheld, but gone":  {fix: none, isAsked: true, corrected: true},
		"not to be patched":   {want: "it leaves the race for m.T.other"},
		"cannot be analysed":  {fix: none, isAsked: true, err: errors.New("no disk"), want: "no disk"},
	} {
		other := race("other")
		other.Fix = c.fix
		tr := &trial{group: []*finding.Finding{race("n")}, known: []*finding.Finding{race("n"), other}, alone: c.alone}
		tr.corrects = func(patchgen.Candidate, *finding.Finding) (bool, error) { return c.corrected, c.err }
		if c.isAsked {
			tr.asked = []*finding.Finding{other}
		}
		open, err := tr.races(patchgen.Candidate{}, nil)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case len(open) > 0:
			got = open[0].Text
		}
		if (got != "") != (c.want != "") || !strings.HasPrefix(got, c.want) || len(tr.left) != c.left {
			t.Errorf("%s: %v, %d left, want %q, %d", name, got, len(tr.left), c.want, c.left)
		}
	}
}

// race is one that a run has shown, in (*T).Set.
func race(name string) *finding.Finding {
	return &finding.Finding{Code: finding.CaughtInTheAct, Status: finding.Confirmed,
		Variable: finding.Variable{Package: "m", Type: "T", Name: name},
		Accesses: []finding.Access{{Position: finding.Position{File: "t.go", Line: 3}, Package: "m",
			Function: "(*T).Set", Mode: finding.Write}}}
}

// What go test -json says: a package counts by its tests that failed, or as a whole where none did.
func TestFailuresIn(t *testing.T) {
	out := `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestA","Output":"a_test.go:3: right\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"b_test.go:3: wrong\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}
# q
q.go:1:1: does not build
{"Action":"fail","Package":"q"}
{"Action":"pass","Package":"r"}
`
	failed := failuresIn(out)
	if tests := failed.tests; len(tests) != 2 || tests["TestB of package p"] != 2 || tests["package q"] != 1 {
		t.Errorf("failed: %v", tests)
	}
	if failed.text != "b_test.go:3: wrong" {
		t.Errorf("printed %q", failed.text)
	}
}

// With a patch the tests run no longer than by what is known of them without it, unless the user has set a timeout.
func TestLimitOfTestsWithAPatch(t *testing.T) {
	known := []campaign.PackageResult{
		{WithoutNoise: campaign.WithoutNoise{Limit: 10 * time.Second}},
		{WithoutNoise: campaign.WithoutNoise{Limit: 31 * time.Second}}, {NoTests: true},
	}
	tr := &trial{before: &campaign.Result{Packages: known}}
	if got := tr.limit(); got != 31*time.Second {
		t.Errorf("limit %v, want 31s", got)
	}
	tr.flags.Timeout = time.Minute
	if got := tr.limit(); got != 0 {
		t.Errorf("the user has set a timeout, but the limit is %v", got)
	}
	tr.flags.Timeout, known[0].Limit = 0, 0
	if got := tr.limit(); got != 0 {
		t.Errorf("nothing is known of a package, but the limit is %v", got)
	}
	if got := (&trial{}).limit(); got != 0 {
		t.Errorf("nothing is known, but the limit is %v", got)
	}
	if got := (&trial{measured: 31 * time.Second}).limit(); got != 31*time.Second {
		t.Errorf("the tests have been measured, but the limit is %v", got)
	}
	const output = "panic: test timed out after 10s\n\trunning tests:\n\t\tTestTwice (10s)\n\ngoroutine 4 [running]:\n"
	got := endedAfter(10*time.Second, errors.New(output)).Error()
	if !strings.HasSuffix(got, "; at work: TestTwice (10s)") || !strings.Contains(got, "-- -timeout=10m") {
		t.Errorf("printed %q", got)
	}
	if failed := errors.New("--- FAIL: TestX"); endedAfter(time.Second, failed) != failed {
		t.Error("a test failed, and was not ended")
	}
}
