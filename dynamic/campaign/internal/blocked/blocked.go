package blocked

import (
	"cmp"
	"fmt"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Place is a kind of goroutine blocked for ever: the place and the variable of its
// wait, and the place where it was started.
type Place struct {
	State    string // as the runtime prints it, such as "chan send"
	Function string
	File     string
	Line     int
	Started  string // file and line of the go statement
}

// Goroutine is a goroutine that nothing can wake any more.
type Goroutine struct {
	At        Place
	Goroutine finding.Goroutine
	Parent    int64 // the goroutine that started it; 0 if that is not known
	Hang      bool  // found because a test waits for ever, and part of that
	During    bool  // found because a test waits for ever
	Asleep    bool  // by the runtime, as no goroutine could run
	Abandoned bool  // the holder of its lock has ended, which is all that shows it
	Holder    *evidence.LockHolder
}

// leakHeader is the first line of a goroutine that is blocked for ever: "goroutine 19 [chan send
// (leaked), 2 minutes]:", or without the word where the runtime has printed it.
var leakHeader = regexp.MustCompile(
	`^goroutine \d+ [^\[]*\[([^\]]*?)( \(leaked\))?(, \d+ minutes)?(, locked to thread)?\]`)

// onPurpose is the state of goroutines that are meant to wait for ever, unless a test is one: that waits for nothing.
const onPurpose = "select (no cases)"

// startedBy is the line that names the starter of a goroutine.
var startedBy = regexp.MustCompile(`(?m)^created by .* in goroutine (\d+)$`)

// Read reads one leaked goroutine. It is not ok if it waits on purpose, or if no
// code of the module has a part in it.
func Read(ws *build.Workspace, leak *evidence.LeakedGoroutine) (b Goroutine, ok bool) {
	m := leakHeader.FindStringSubmatch(leak.Stack)
	if m == nil {
		return b, false
	}
	b.Hang, b.During, b.Goroutine, b.Holder = leak.Hang, leak.Hang, stacktext.Parse(leak.Stack), leak.Holder
	b.Abandoned = m[2] == "" && leak.Holder != nil && leak.Holder.Stack == ""
	if m[1] == onPurpose && !(b.Hang && OfTest(&b.Goroutine)) {
		return b, false
	}
	for len(b.Goroutine.Stack) > 1 && stacktext.IsRuntime(b.Goroutine.Stack[0].Function) {
		b.Goroutine.Stack = b.Goroutine.Stack[1:]
	}
	userpath.Goroutine(ws, &b.Goroutine)
	inModule := func(f finding.Frame) bool { return !filepath.IsAbs(filepath.FromSlash(f.File)) }
	frames := slices.Concat(b.Goroutine.Stack, b.Goroutine.Created)
	if len(b.Goroutine.Stack) == 0 || !slices.ContainsFunc(frames, inModule) {
		return b, false
	}
	frame := stacktext.UserFrame(b.Goroutine.Stack)
	b.At = Place{State: m[1], Function: frame.Function, File: frame.File, Line: frame.Line}
	if len(b.Goroutine.Created) > 0 {
		b.At.Started = fmt.Sprintf("%s:%d", b.Goroutine.Created[0].File, b.Goroutine.Created[0].Line)
	}
	if m := startedBy.FindStringSubmatch(leak.Stack); m != nil {
		fmt.Sscan(m[1], &b.Parent)
	}
	return b, true
}

// Leaks divides the leaked goroutines of a process: a test that waits for ever is
// one leak with all goroutines that it started, in the
// order of the text; each other place is one.
func Leaks(all []Goroutine) (leaks [][]Goroutine) {
	slices.SortFunc(all, func(a, b Goroutine) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Goroutine.ID, b.Goroutine.ID))
	})
	family := map[int64]int64{} // goroutine -> the waiting test that it comes from
	for grown := true; grown; {
		grown = false
		for _, b := range all {
			of, known := family[b.Parent]
			if b.Hang && OfTest(&b.Goroutine) {
				of, known = b.Goroutine.ID, true
			}
			if known && b.Hang && family[b.Goroutine.ID] == 0 {
				family[b.Goroutine.ID], grown = of, true
			}
		}
	}
	index := map[int64]int{}
	places := map[Place]bool{}
	for _, b := range all {
		of := family[b.Goroutine.ID]
		i, known := index[of]
		switch {
		case of != 0 && known:
			leaks[i] = append(leaks[i], b)
			continue
		case of != 0:
			index[of] = len(leaks)
		default:
			b.Hang = false
			if places[b.At] {
				continue
			}
			places[b.At] = true
		}
		leaks = append(leaks, []Goroutine{b})
	}
	return leaks
}

// OfTest reports whether the goroutine runs a test.
func OfTest(g *finding.Goroutine) bool {
	return slices.ContainsFunc(g.Stack, func(f finding.Frame) bool { return f.Function == "testing.tRunner" })
}

// Access returns where a goroutine waits, as an access; the variable that it
// waits for; and the operation in the source of pkgs, if it is found.
func (b *Goroutine) Access(pkgs []*sites.Package) (a finding.Access, v finding.Variable, op operation.Operation) {
	a = finding.Access{Mode: modeOf(b.At.State), Goroutine: &b.Goroutine, Expr: b.At.State}
	a.Package, a.Function = stacktext.SplitName(b.At.Function)
	a.File, a.Line = b.At.File, b.At.Line
	if b.At.Started != "" {
		a.Role = "goroutine started at " + b.At.Started
	}
	v = finding.Variable{Package: a.Package, Function: a.Function, Name: b.At.State}
	// The operation of a library is that of the function which waits there, and not one of the module's line.
	if in := b.Goroutine.Stack[0]; in.Function != b.At.Function && in.Function != "panic" {
		a.Expr += " in " + in.Name()
	}
	if op = operation.Waiting(pkgs, &a); op.Node != nil {
		a.Column, a.Expr = op.Column(), "select"
		if op.Operand != nil {
			a.Expr, v = types.ExprString(op.Operand), op.Variable(a.Function)
		}
	}
	return a, v, op
}

// modeOf is the operation of a goroutine in a state.
func modeOf(state string) finding.Mode {
	switch {
	case strings.HasPrefix(state, "chan send"):
		return finding.Send
	case strings.HasPrefix(state, "chan receive"):
		return finding.Receive
	case strings.HasSuffix(state, "RWMutex.RLock"):
		return finding.ReadLock
	case strings.HasSuffix(state, "Mutex.Lock"):
		return finding.Lock
	}
	return finding.Wait
}

func (at Place) Compare(other Place) int {
	return cmp.Or(cmp.Compare(at.File, other.File), cmp.Compare(at.Line, other.Line), cmp.Compare(at.State, other.State),
		cmp.Compare(at.Started, other.Started), cmp.Compare(at.Function, other.Function))
}

// TestIn returns the one of the tests that has started the goroutine in its own function, or in a method of a suite of
// tests, which runs below another test by its name; "" if there is none, or if the test waits for ever.
func (b *Goroutine) TestIn(tests []string) string {
	if b.Hang || len(b.Goroutine.Created) == 0 {
		return ""
	}
	_, function := stacktext.SplitName(b.Goroutine.Created[0].Function)
	parts := strings.Split(function, ".")
	i := slices.IndexFunc(tests, func(t string) bool {
		if parts[0] == t {
			return true
		}
		_, below, _ := strings.Cut(t, "/")
		return strings.HasPrefix(parts[0], "(") && len(parts) > 1 && slices.Contains(strings.Split(below, "/"), parts[1])
	})
	if i < 0 {
		return ""
	}
	return tests[i]
}
