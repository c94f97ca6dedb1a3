package join

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
)

// at makes an access in a line, of a function named after the file.
func at(line int, mode finding.Mode) finding.Access {
	return finding.Access{
		Position: finding.Position{File: "a.go", Line: line, Column: 2},
		Package:  "m", Function: "F", Expr: "x.n", Mode: mode,
	}
}

func make1(code finding.Code, name string, accesses ...finding.Access) *finding.Finding {
	f := &finding.Finding{
		Code: code, Status: finding.Suspected, Title: "t", Accesses: accesses,
		Variable: finding.Variable{Package: "m", Type: "T", Name: name, Kind: "field"},
	}
	if code == finding.CaughtInTheAct {
		f.Status, f.Evidence = finding.Confirmed, &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1}
	}
	return f
}

func seal(fs ...*finding.Finding) []*finding.Finding {
	finding.Sort(fs)
	finding.Seal(fs)
	return fs
}

func join(t *testing.T, static, confirmed []*finding.Finding, reached ...int) []*finding.Finding {
	t.Helper()
	known := &Known{Runs: 20, Lines: map[Line]bool{}}
	for _, line := range reached {
		known.Lines[Line{"a.go", line}] = true
	}
	got := Findings(static, confirmed, known)
	seen := map[string]bool{}
	for _, f := range got {
		if err := f.Validate(); err != nil {
			t.Error(err)
		}
		if seen[f.ID] {
			t.Errorf("id %s comes twice", f.ID)
		}
		seen[f.ID] = true
	}
	return got
}

func TestConfirmedTakesThePlaceOfSuspected(t *testing.T) {
	// The passes count two findings alike; the run has seen the second only,
	// and names the sides in the other order and with another expression.
	unlocked := at(7, finding.Read)
	locked := at(3, finding.Write)
	locked.Locks = []string{"x.mu"}
	second := make1(finding.Unguarded, "n", unlocked, locked)
	second.Notes = []string{"guarded in 9 of 10 places"}
	static := seal(make1(finding.Unguarded, "n", at(5, finding.Read), at(3, finding.Write)), second)
	a, b := at(3, finding.Write), at(7, finding.Read)
	a.Expr, a.Role = "(x).n", "goroutine started at a.go:1"
	confirmed := seal(make1(finding.CaughtInTheAct, "n", a, b))
	wantID, before := static[1].ID, *confirmed[0]

	got := join(t, static, confirmed)
	if len(got) != 2 {
		t.Fatalf("%d findings", len(got))
	}
	i := slices.IndexFunc(got, func(f *finding.Finding) bool { return f.Status == finding.Confirmed })
	c := got[i]
	if c.ID != wantID || c.Code != finding.Unguarded || c.Evidence == nil {
		t.Errorf("id %s (want %s), code %s", c.ID, wantID, c.Code)
	}
	if c.Accesses[0].Line != 7 || !slices.Equal(c.Accesses[1].Locks, locked.Locks) || c.Accesses[1].Role != a.Role {
		t.Errorf("accesses %+v", c.Accesses)
	}
	if !slices.Contains(c.Notes, "guarded in 9 of 10 places") {
		t.Errorf("notes %q", c.Notes)
	}
	if !reflect.DeepEqual(before, *confirmed[0]) {
		t.Error("Join changed what it was given")
	}
}

func TestOneAccessRacesWithItself(t *testing.T) {
	static := seal(make1(finding.LoadAndStore, "n", at(3, finding.Write)))
	got := join(t, static, seal(make1(finding.CaughtInTheAct, "n", at(3, finding.Write), at(3, finding.Write))))
	if len(got) != 1 || got[0].Code != finding.LoadAndStore || got[0].ID != static[0].ID {
		t.Errorf("%+v", got[0])
	}
}

// Where runs have shown lines alone, as in a file with cgo, what is suspected of these lines is a note: it is not
// counted as unconfirmed, and not named either, as another variable of the line may be the one.
func TestLinesAlone(t *testing.T) {
	lines := func(a, b int) *finding.Finding {
		c := make1(finding.CaughtInTheAct, "what a.go:3 accesses", at(a, finding.Write), at(b, finding.Write))
		c.Variable.Type, c.Variable.Kind, c.Accesses[0].Column, c.Accesses[1].Column = "", "", 0, 0
		return c
	}
	static := seal(make1(finding.Unordered, "n", at(3, finding.Write), at(3, finding.Write)))
	got := join(t, static, seal(lines(3, 3)))
	if len(got) != 1 || got[0].Status != finding.Confirmed || got[0].Variable.Name == "n" ||
		!slices.ContainsFunc(got[0].Notes, func(n string) bool { return strings.HasPrefix(n, "suspected there: ") }) {
		t.Errorf("%d findings, first %+v", len(got), got[0])
	}
	if got := join(t, static, seal(lines(3, 4))); len(got) != 2 {
		t.Errorf("of another line: %d findings", len(got))
	}
}

// A race of the access that lacks protection confirms the finding about it, whatever
// it met: both of the suspected accesses stay, for the id, and what it met follows.
func TestAnotherVictimIsTheSameBug(t *testing.T) {
	unlocked, locked := at(7, finding.Read), at(3, finding.Write)
	static := seal(make1(finding.Unguarded, "n", unlocked, locked))
	other := at(9, finding.Write)
	other.Function, other.Goroutine = "G", &finding.Goroutine{ID: 5}
	got := join(t, static, seal(make1(finding.CaughtInTheAct, "n", other, unlocked)))
	if len(got) != 1 {
		t.Fatalf("%d findings", len(got))
	}
	f := got[0]
	if f.ID != static[0].ID || f.Code != finding.Unguarded || f.Status != finding.Confirmed {
		t.Errorf("%s %s, id %s, want %s", f.Status, f.Code, f.ID, static[0].ID)
	}
	a := f.Accesses
	if len(a) != 3 || a[0].Line != 7 || a[1].Line != 3 || a[2].Line != 9 || a[2].Goroutine == nil {
		t.Errorf("accesses %+v", f.Accesses)
	}
}

// All races of one access that lacks protection are one finding. An access that
// holds the lock says nothing of the other side, and a code about a pair needs
// both.
func TestRacesOfOneUnprotectedAccess(t *testing.T) {
	for _, tt := range []struct {
		name   string
		static *finding.Finding
		other  finding.Access // races with the write in line 3, beside line 7
		note   string         // of the one finding; "" where there are two
	}{
		{"itself", make1(finding.Unguarded, "n", at(3, finding.Write), at(7, finding.Read)),
			at(3, finding.Write), "also caught with another goroutine at the same place, in 1 of 1 run"},
		{"late write", make1(finding.WrittenLate, "n", at(3, finding.Write), at(7, finding.Read)),
			at(9, finding.Write), "also caught with the write of x.n at a.go:9:2 in G, in 1 of 1 run"},
		{"unordered", make1(finding.Unordered, "n", at(3, finding.Write), at(7, finding.Read)),
			at(9, finding.Write), "also caught with the write of x.n at a.go:9:2 in G, in 1 of 1 run"},
		{"guarded side", make1(finding.Unguarded, "n", at(7, finding.Read), at(3, finding.Write)), at(9, finding.Write), ""},
		{"different locks", make1(finding.DifferentLocks, "n", at(3, finding.Write), at(7, finding.Read)),
			at(9, finding.Write), ""},
		{"pair", make1(finding.LoadAndStore, "n", at(3, finding.Write), at(7, finding.Read)), at(9, finding.Write), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other := tt.other
			if other.Line == 9 {
				other.Function = "G"
			}
			pair := make1(finding.CaughtInTheAct, "n", at(3, finding.Write), at(7, finding.Read))
			second := make1(finding.CaughtInTheAct, "n", at(3, finding.Write), other)
			static := seal(tt.static)
			got := join(t, static, seal(pair, second))
			if one := len(got) == 1; one != (tt.note != "") {
				t.Fatalf("%d findings", len(got))
			}
			for _, f := range got {
				mine := f.ID == static[0].ID
				if f.Status != finding.Confirmed || mine && f.Code != tt.static.Code || !mine && f.Code != finding.CaughtInTheAct {
					t.Errorf("%s %s %s", f.Status, f.Code, f.ID)
				}
				if tt.note != "" && !slices.Contains(f.Notes, tt.note) {
					t.Errorf("notes %q, want %q", f.Notes, tt.note)
				}
			}
		})
	}
}

func TestOtherVariableStaysApart(t *testing.T) {
	static := seal(make1(finding.Unguarded, "m", at(7, finding.Read), at(3, finding.Write)))
	got := join(t, static, seal(make1(finding.CaughtInTheAct, "n", at(7, finding.Read), at(3, finding.Write))), 7)
	for _, f := range got {
		if f.Status == finding.Confirmed && (f.Code != finding.CaughtInTheAct || len(f.Notes) > 0) {
			t.Errorf("%s %q", f.Code, f.Notes)
		}
		if f.Status == finding.Suspected && strings.Join(f.Notes, "") != "unobserved in 20 runs; none reached a.go:3" {
			t.Errorf("notes %q", f.Notes)
		}
	}
}

func TestIDsStayApart(t *testing.T) {
	// By its place the confirmed finding is the second suspected one; another
	// confirmed one has the id that the second had.
	readAt := func(code finding.Code, line int) *finding.Finding {
		return make1(code, "n", at(line, finding.Read), at(3, finding.Write))
	}
	static := seal(readAt(finding.Unguarded, 5), readAt(finding.Unguarded, 7))
	other := readAt(finding.CaughtInTheAct, 8)
	other.Accesses[0].Package, other.Accesses[1].Package = "m/other", "m/other" // a function of the same name
	confirmed := seal(readAt(finding.CaughtInTheAct, 7), other)
	if got := join(t, static, confirmed); len(got) != 3 {
		t.Errorf("%d findings", len(got))
	}
}

// One missing lock is one finding, however many accesses of its two functions meet.
func TestRacesOfTwoFunctionsAreOneFinding(t *testing.T) {
	in := func(function string, line int, mode finding.Mode) finding.Access {
		a := at(line, mode)
		a.Function = function
		return a
	}
	got := join(t, nil, seal(
		make1(finding.CaughtInTheAct, "n", in("F", 3, finding.Write), in("G", 9, finding.Read)),
		make1(finding.CaughtInTheAct, "n", in("F", 4, finding.Write), in("G", 9, finding.Read)),
		make1(finding.CaughtInTheAct, "n", in("G", 10, finding.Read), in("F", 4, finding.Write)),
		make1(finding.CaughtInTheAct, "n", in("F", 4, finding.Write), in("H", 20, finding.Read)), // another function
		make1(finding.CaughtInTheAct, "m", in("F", 4, finding.Write), in("G", 10, finding.Read)), // another variable
	))
	if len(got) != 3 {
		t.Fatalf("%d findings, want 3", len(got))
	}
	notes := 0
	for _, f := range got {
		notes += len(f.Notes)
	}
	if notes != 2 {
		t.Errorf("%d notes, want 2", notes)
	}
	// Where each pair was suspected, each is confirmed by itself.
	static := seal(
		make1(finding.Unguarded, "n", in("F", 3, finding.Write), in("G", 9, finding.Read)),
		make1(finding.Unguarded, "n", in("F", 4, finding.Write), in("G", 9, finding.Read)))
	got = join(t, static, seal(
		make1(finding.CaughtInTheAct, "n", in("F", 3, finding.Write), in("G", 9, finding.Read)),
		make1(finding.CaughtInTheAct, "n", in("F", 4, finding.Write), in("G", 9, finding.Read))))
	if len(got) != 2 || got[0].Status != finding.Confirmed || got[1].Status != finding.Confirmed {
		t.Errorf("%d findings, want both confirmed", len(got))
	}
}

// A split joins the suspected finding that its section came from, by its id, and
// keeps that id; so it does if what the run saw lies in callees.
func TestSplitTakesThePlaceOfSuspected(t *testing.T) {
	use, test := at(30, finding.Write), at(20, finding.Read)
	use.Expr, test.Expr = "x.put()", "x.has()"
	suspected := make1(finding.TestAndUse, "n", use, test, at(40, finding.Write))
	pos := func(line int) finding.Position { return finding.Position{File: "a.go", Line: line, Column: 2} }
	call, endCall := pos(20), pos(30)
	suspected.Section = &finding.Section{
		Kind: plan.TestAndUse, Entry: pos(3), EntryCall: &call, End: pos(4), EndCall: &endCall,
	}
	static := seal(suspected)
	split := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read), at(40, finding.Write))
	split.Status, split.Section = finding.Confirmed, suspected.Section
	split.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Pattern: "R-w-W"}
	for i, step := range []int{3, 1, 2} {
		split.Accesses[i].Step, split.Accesses[i].Goroutine = step, &finding.Goroutine{ID: int64(step)}
	}
	shown := seal(split)
	claims := map[string]string{split.ID: static[0].ID}
	got := Findings(static, shown, &Known{Runs: 20, Claims: claims})
	if len(got) != 1 || got[0].ID != static[0].ID || got[0].Status != finding.Confirmed {
		t.Fatalf("%d findings, first %s %s", len(got), got[0].ID, got[0].Status)
	}
	for i, want := range []struct{ line, step int }{{30, 3}, {20, 1}, {40, 2}} {
		if a := got[0].Accesses[i]; a.Line != want.line || a.Step != want.step || a.Goroutine == nil {
			t.Errorf("access %d: line %d, step %d, want %+v", i, a.Line, a.Step, want)
		}
	}
}

// Both sides of a section may stand on one line; the store comes first among the accesses of the suspected finding.
func TestSidesOfASection(t *testing.T) {
	on := func(line, column int) finding.Position {
		return finding.Position{File: "a.go", Line: line, Column: column}
	}
	side := func(line, column int, call *finding.Position) sectionSide {
		return sectionSide{finding.Access{Position: on(line, column)}, call}
	}
	outer, inner := on(24, 23), on(24, 29)
	accesses := []finding.Access{{Position: outer}, {Position: inner}}
	for _, c := range []struct {
		name       string
		entry, end sectionSide
		want       []int
	}{
		{"calls on one line: b.set(b.get() + 1)", side(14, 9, &inner), side(20, 2, &outer), []int{1, 0}},
		{"the load is on the line, the store in a callee", side(24, 29, nil), side(20, 2, &outer), []int{1, 0}},
		{"another load of the line", side(24, 40, nil), side(24, 23, nil), []int{1, 0}},
		{"elsewhere", side(30, 2, nil), side(24, 23, nil), []int{-1, 0}},
	} {
		if got := sidesOf(accesses, c.entry, c.end); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A race on the two accesses of a split section leaves the suspected finding to
// the split.
func TestSplitBeforeRace(t *testing.T) {
	suspected := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read))
	static := seal(suspected)
	split := make1(finding.TestAndUse, "n", at(4, finding.Write), at(3, finding.Read), at(4, finding.Write))
	split.Status, split.Section = finding.Confirmed, new(finding.Section)
	split.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Pattern: "R-w-W"}
	race := make1(finding.CaughtInTheAct, "n", at(4, finding.Write), at(3, finding.Read))
	shown := seal(race, split)
	claims := map[string]string{split.ID: static[0].ID}
	got := Findings(static, shown, &Known{Runs: 20, Claims: claims})
	if len(got) != 2 {
		t.Fatalf("%d findings, want the race and the split", len(got))
	}
	for _, f := range got {
		if want := f.Code == finding.TestAndUse; (f.ID == static[0].ID) != want {
			t.Errorf("%s has id %s, the suspected finding %s", f.Code, f.ID, static[0].ID)
		}
	}
}

// An error takes the place of the suspected finding at its line.
func TestErrorTakesThePlaceOfSuspected(t *testing.T) {
	suspected := make1(finding.CloseRaces, "done", at(7, finding.CloseChan), at(26, finding.CloseChan))
	static := seal(suspected)
	seen := make1(finding.CloseRaces, "c", at(26, finding.CloseChan))
	seen.Status = finding.Confirmed
	seen.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Error: "close of closed channel"}
	seen.Accesses[0].Goroutine = &finding.Goroutine{ID: 7}
	got := Findings(static, seal(seen), &Known{Runs: 1})
	if len(got) != 1 || got[0].ID != static[0].ID || got[0].Status != finding.Confirmed ||
		got[0].Accesses[1].Goroutine == nil {
		t.Errorf("%d findings, first %+v", len(got), got[0])
	}
}

// A leak confirms the wait that the static side has said nobody may end: where
// the first place hangs, and not where one of those does that wait for it.
func TestLeakTakesThePlaceOfSuspected(t *testing.T) {
	leak := func(accesses ...finding.Access) *finding.Finding {
		for i := range accesses {
			accesses[i].Goroutine = &finding.Goroutine{ID: int64(i + 1)}
		}
		f := make1(finding.BlockedForEver, "ch", accesses...)
		f.Title, f.Status, f.Evidence = "seen", finding.Confirmed,
			&finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Blocked: "chan send"}
		return f
	}
	wait := func() *finding.Finding {
		f := make1(finding.EndlessWait, "ch", at(7, finding.Send), at(9, finding.Wait))
		f.Message = "said"
		return f
	}
	got := join(t, seal(wait()), seal(leak(at(7, finding.Send))))
	if len(got) != 1 || got[0].Code != finding.EndlessWait || got[0].Status != finding.Confirmed {
		t.Errorf("the leak at the send: %+v", got)
	}
	if a := got[0].Accesses[1]; got[0].Title != "seen" || len(got[0].Notes) > 0 || a.Goroutine != nil || a.Role == "" {
		t.Errorf("another way to wait than the run's: %q, notes %q, %+v", got[0].Title, got[0].Notes, a)
	}
	line := Line{File: at(9, finding.Wait).File, Line: 9}
	beside := &Known{Runs: 1, Waited: map[Line]bool{line: true}}
	got = Findings(seal(wait()), seal(leak(at(7, finding.Send))), beside)
	if a := got[0].Accesses[1]; len(got) != 1 || a.Role != "" {
		t.Errorf("beside the leak, a goroutine waited there: %+v", got)
	}
	got = join(t, seal(wait()), seal(leak(at(7, finding.Send), at(9, finding.Wait))))
	if len(got) != 1 || !slices.Equal(got[0].Notes, []string{"statically: said"}) {
		t.Errorf("the way that the run shows: %+v", got)
	}
	if got := join(t, seal(wait()), seal(leak(at(9, finding.Wait)))); len(got) != 2 {
		t.Errorf("a leak elsewhere: %d findings, want 2", len(got))
	}
}

// That goroutines wait at a lock proves what is suspected there only where the holder is known to be what that claims.
func TestWaitsProveWhatTheHolderShows(t *testing.T) {
	wait := func(code finding.Code, holders ...finding.Holder) *finding.Finding {
		f := make1(code, "mu", at(30, finding.Lock))
		f.Status = finding.Confirmed
		f.Evidence = &finding.Evidence{Engine: "watch", Runs: 1, Hits: 1, Blocked: "sync.Mutex.Lock", Holders: holders}
		return f
	}
	held := func(line int, returned bool) finding.Holder {
		return finding.Holder{Position: at(line, finding.Lock).Position, Function: "F", Lock: "mu", ID: 1, Returned: returned}
	}
	leak, relock := finding.BlockedForEver, finding.DoubleLock
	for _, tt := range []struct {
		name  string
		s, c  *finding.Finding
		joins bool
	}{
		{"a return keeps the lock", make1(finding.LostUnlock, "mu", at(22, finding.Leave), at(20, finding.Lock)),
			wait(leak, held(20, true)), true},
		{"the function is still there", make1(finding.LostUnlock, "mu", at(22, finding.Leave), at(20, finding.Lock)),
			wait(leak, held(20, false)), false},
		{"another function keeps it", make1(finding.LostUnlock, "mu", at(32, finding.Leave), at(30, finding.Lock)),
			wait(leak, held(20, true)), false},
		{"nobody knows the holder", make1(finding.LostUnlock, "mu", at(32, finding.Leave), at(30, finding.Lock)),
			wait(leak), false},
		{"the holder waits", make1(relock, "mu", at(30, finding.Lock), at(20, finding.Lock)),
			wait(relock, held(20, false)), true},
		{"it has locked elsewhere", make1(relock, "mu", at(30, finding.Lock), at(20, finding.Lock)),
			wait(relock, held(10, false)), false},
		{"the run shows another class", make1(finding.ReadLockAgain, "mu", at(30, finding.Lock), at(20, finding.Lock)),
			wait(relock, held(20, false)), false},
	} {
		got := join(t, seal(tt.s), seal(tt.c))
		if (len(got) == 1) != tt.joins {
			t.Errorf("%s: %d findings", tt.name, len(got))
		}
		if tt.joins && got[0].Code != tt.s.Code {
			t.Errorf("%s: %s, want %s", tt.name, got[0].Code, tt.s.Code)
		}
	}
}

// Goroutines left behind at both acquisitions of a suspected cycle are one bug, if a run has shown both.
func TestLeaksAtOneCycleAreOneFinding(t *testing.T) {
	leak := func(line, run int) *finding.Finding {
		f := make1(finding.BlockedForEver, "mu", at(line, finding.Lock))
		f.Status = finding.Confirmed
		f.Evidence = &finding.Evidence{Engine: "watch", Run: run, Runs: 9, Hits: line, Blocked: "sync.Mutex.Lock"}
		return f
	}
	cycle := func() *finding.Finding {
		f := make1(finding.LockCycle, "mu", at(3, finding.Lock), at(7, finding.Lock))
		for _, a := range f.Accesses {
			f.Cycle = append(f.Cycle, finding.Edge{From: "m.a", To: "m.b", Position: a.Position, Function: "F"})
		}
		return f
	}
	for _, tt := range []struct {
		leaks      []*finding.Finding
		want, hits int // findings, and how often the first is seen
	}{
		{[]*finding.Finding{leak(3, 2), leak(7, 2)}, 1, 3},
		{[]*finding.Finding{leak(3, 2), leak(7, 1)}, 3, 0},
		{[]*finding.Finding{leak(3, 2), leak(8, 2)}, 3, 0},
	} {
		got := join(t, seal(cycle()), seal(tt.leaks...))
		if len(got) != tt.want || tt.want == 1 && (got[0].Code != finding.LockCycle || got[0].Evidence.Hits != tt.hits) {
			t.Errorf("%d findings, want %d; first %s %+v", len(got), tt.want, got[0].Code, got[0].Evidence)
		}
	}
}

// Runs that left tests out, since these hang, do not speak for them.
func TestUnreachedNamesTestsLeftOut(t *testing.T) {
	static := seal(make1(finding.Unguarded, "n", at(5, finding.Read)))
	known := &Known{Runs: 2, Lines: map[Line]bool{}, LeftOut: []string{"TestStuck"}}
	const want = "unobserved in 2 runs; none reached a.go:5; they left out what hangs: TestStuck"
	if notes := Findings(static, nil, known)[0].Notes; !slices.Contains(notes, want) {
		t.Errorf("%q, want %q", notes, want)
	}
	known.Lines[Line{"a.go", 5}] = true
	if notes := Findings(static, nil, known)[0].Notes; !slices.Contains(notes, "unobserved in 2 runs") {
		t.Errorf("reached: %q", notes)
	}
}

// A suspected race says how near two goroutines came at its two accesses, in whichever order.
func TestApart(t *testing.T) {
	static := seal(make1(finding.Unguarded, "n", at(5, finding.Read), at(9, finding.Write)))
	for _, tt := range []struct {
		met  []Met
		want int64
	}{
		{nil, 0},
		{[]Met{{[2]Line{{"a.go", 5}, {"a.go", 7}}, 1}}, 0},
		{[]Met{{[2]Line{{"a.go", 9}, {"a.go", 9}}, 1}}, 0},
		{[]Met{{[2]Line{{"a.go", 5}, {"a.go", 9}}, 7000}, {[2]Line{{"a.go", 9}, {"a.go", 5}}, 3000}}, 3000},
	} {
		got := Findings(static, nil, &Known{Runs: 2, Met: tt.met})[0]
		said := strings.Contains(strings.Join(got.Notes, ""), "two goroutines came to one address at its accesses, 3µs apart")
		if got.Apart != tt.want || said != (tt.want > 0) {
			t.Errorf("%v: %d apart, notes %q; want %d", tt.met, got.Apart, got.Notes, tt.want)
		}
	}
}
