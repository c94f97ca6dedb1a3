package judge

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/operation"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

var FatalErrors = []fatalError{
	{"concurrent map writes", finding.CaughtInTheAct, finding.Write,
		"concurrent writes of a map",
		midWrite, nil},
	{"concurrent map read and map write", finding.CaughtInTheAct, finding.Read,
		"a map read during a write",
		midWrite, nil},
	{"concurrent map iteration and map write", finding.CaughtInTheAct, finding.Read,
		"a map iterated during a write",
		"The runtime found that another goroutine wrote the map during an iteration, or was about to.", nil},
	{"concurrent map clone and map write", finding.CaughtInTheAct, finding.Read,
		"a map cloned during a write",
		midWrite, nil},
	{"sync: negative WaitGroup counter", finding.AddRacesWait, finding.Done,
		"Done came before enough was added",
		"Done was called more often than Add had counted by then: either there are more calls of Done, or an Add came " +
			"too late.", []string{"Done", "Add"}},
	{"sync: WaitGroup misuse: Add called concurrently with Wait", finding.AddRacesWait, finding.Add,
		"WaitGroup.Add during Wait",
		"A goroutine called Add while another waited and the counter was zero, " +
			"so Wait may return before the work is done.", []string{"Add", "Go", "Wait"}},
	{"sync: WaitGroup is reused before previous Wait has returned", finding.AddRacesWait, finding.Wait,
		"WaitGroup used again before Wait has returned",
		"A goroutine called Add for the next round while another had not returned from Wait yet.", []string{"Wait"}},
	{"sync: unlock of unlocked mutex", finding.LostUnlock, finding.Call,
		"unlock of a mutex that is not locked",
		oneTooMany, []string{"Unlock"}},
	{"sync: Unlock of unlocked RWMutex", finding.LostUnlock, finding.Call,
		"unlock of a mutex that is not locked",
		oneTooMany, []string{"Unlock"}},
	{"sync: RUnlock of unlocked RWMutex", finding.LostUnlock, finding.Call,
		"unlock of a mutex that is not locked for reading",
		oneTooMany, []string{"RUnlock"}},
	{"send on closed channel", finding.CloseRaces, finding.Send,
		"send on a closed channel",
		"The channel was closed before the send, or while the send waited.", nil},
	{"Log in goroutine after", finding.OutlivesTest, finding.Call,
		"used by a goroutine after the test has ended",
		outlived, testMethods},
	{"Fail in goroutine after", finding.OutlivesTest, finding.Call,
		"used by a goroutine after the test has ended",
		outlived, testMethods},
	{"close of closed channel", finding.CloseRaces, finding.CloseChan,
		"a channel closed twice",
		"The channel was closed before.", nil},
}

// testMethods are those of testing.T by which a test logs or fails.
var testMethods = []string{
	"Error", "Errorf", "Fail", "FailNow", "Fatal", "Fatalf", "Log", "Logf", "Skip", "SkipNow", "Skipf",
}

const (
	outlived   = "The test had not waited for the goroutine, whose call ended the tests of the whole package."
	midWrite   = "The runtime found another goroutine in the middle of a write of the same map."
	oneTooMany = "It was unlocked more often than locked, " +
		"by one goroutine alone or by two that each meant to be the only one."
)

// fatalOf returns the error that ended a process, if it proves a bug by itself.
func fatalOf(crash []byte) (*fatalError, bool) {
	message := stacktext.PanicMessage(crash)
	for i := range FatalErrors {
		if strings.HasPrefix(message, FatalErrors[i].text) {
			return &FatalErrors[i], true
		}
	}
	return nil, false
}

// Fatal takes up how a process has crashed, which may be by such an error.
func (t *Tally) Fatal(pkg string, strength int, crash []byte) {
	kind, ok := fatalOf(crash)
	if !ok {
		return
	}
	p, ok := stacktext.PanicOf(crash)
	if !ok {
		return
	}
	at := FatalAt{kind.text, p.Goroutine.Stack[0].Function, p.Goroutine.Stack[0].Line}
	seen := t.Fatals[at]
	if seen == nil {
		seen = &FatalSeen{
			Kind: kind, message: wholeText(p.Message), Goroutine: p.Goroutine, Run: t.Runs, seed: t.Seed,
			strength: strength, test: pkg, Hits: map[int]bool{},
		}
		t.Fatals[at] = seen
	}
	seen.Hits[t.Runs] = true
	t.Showed(pkg, at.text+" in "+at.function)
}

// wholeText returns the message of a panic without the runtime's remark that it was recovered. For the panic of a log
// after the end of a test, it returns the message without the logged text.
func wholeText(message string) string {
	message, _, _ = strings.Cut(message, " [recovered")
	const ended = " has completed"
	if i := strings.Index(message, ended); i >= 0 {
		message = message[:i+len(ended)]
	}
	return message
}

// endedBy makes a finding of each error that has ended runs, and leaves out one at
// a line at which a race of the same class was caught: that has both sides, and gets a note.
func (t *Tally) endedBy(cfg *run.Settings, races []*finding.Finding) (all []*finding.Finding) {
	for _, at := range slices.SortedFunc(maps.Keys(t.Fatals), FatalAt.compare) {
		f := t.fatalFinding(cfg, at)
		same := slices.IndexFunc(races, func(r *finding.Finding) bool {
			return f.Code == r.Code && slices.ContainsFunc(r.Accesses, func(a finding.Access) bool {
				return a.File == f.Accesses[0].File && a.Line == f.Accesses[0].Line
			})
		})
		if same >= 0 {
			races[same].Evidence.Harmful = true
			races[same].Notes = append(races[same].Notes,
				fmt.Sprintf("%d of the runs ended at %s:%d with the runtime's error %q", f.Evidence.Hits, f.Accesses[0].File,
					f.Accesses[0].Line, at.text))
			continue
		}
		all = append(all, f)
	}
	return all
}

func (t *Tally) fatalFinding(cfg *run.Settings, at FatalAt) *finding.Finding {
	seen := t.Fatals[at]
	kind, g := seen.Kind, seen.Goroutine
	userpath.Goroutine(cfg.Workspace, &g)
	a := finding.Access{Mode: kind.mode, Goroutine: &g}
	frame := stacktext.UserFrame(g.Stack)
	a.Package, a.Function = stacktext.SplitName(frame.Function)
	a.File, a.Line = frame.File, frame.Line
	a.Expr = kind.text // where the source says no more
	says := kind.says
	v := finding.Variable{Package: a.Package, Function: a.Function, Name: kind.text}
	if site := t.mapAt(&a); kind.code == finding.CaughtInTheAct && site != nil {
		v, a.Expr, a.Source, a.Position = finding.Variable(site.Variable), site.Expr, site.Source, t.position(site.ID)
	} else if op := operation.Failing(t.Pkgs, &a, kind.calls); op.Node != nil {
		v, a.Expr, a.Column = op.Variable(a.Function), types.ExprString(op.Operand), op.Column()
		if kind.code == finding.CloseRaces {
			says += whereClosed(v, &a, op.Closes(t.Pkgs))
		}
	}
	f := &finding.Finding{
		Code: kind.code, Status: finding.Confirmed,
		Title: fmt.Sprintf("%s: %s", a.Expr, kind.title),
		Message: fmt.Sprintf("Goroutine %d ended the process in %s with the error %q. %s",
			g.ID, a.Function, seen.message, says),
		Variable: v,
		Accesses: []finding.Access{a},
		Evidence: &finding.Evidence{
			Engine: "watch", Run: seen.Run, Runs: t.runsOf(seen.test), Hits: len(seen.Hits), Count: len(seen.Hits),
			Seed: seen.seed, Test: seen.test, Harmful: true, Error: kind.text,
		},
	}
	t.replays(cfg, seen.strength, nil, f, func(seen *Tally) bool {
		return seen.Fatals[at] != nil
	})
	return f
}

// whereClosed names the places where the channel of a is closed, of which the panic does not say which one it was.
func whereClosed(v finding.Variable, a *finding.Access, closes []finding.Position) string {
	var places []string
	for _, p := range closes {
		if a.Mode != finding.CloseChan || p.File != a.File || p.Line != a.Line {
			places = append(places, fmt.Sprintf("%s:%d", p.File, p.Line))
		}
	}
	const few = 3
	switch n := len(places); {
	case n == 0 && len(closes) > 0 && v.Kind != "": // a local variable may be a parameter, and hold any channel
		return fmt.Sprintf(" No other place calls close for %s; the channel may have other names.", a.Expr)
	case n == 0:
		return ""
	case n > few:
		places = append(places[:few-1], fmt.Sprintf("%d other places", n-few+1))
		fallthrough
	case n > 1:
		last := len(places) - 1
		return fmt.Sprintf(" The source closes %s at %s and %s.", a.Expr, strings.Join(places[:last], ", "), places[last])
	}
	return fmt.Sprintf(" The source closes %s at %s.", a.Expr, places[0])
}

// runsOf counts the runs of a package's tests, at least the one without a monitor.
func (t *Tally) runsOf(pkg string) (n int) {
	for r := range t.tests {
		if r.Pkg == pkg {
			n++
		}
	}
	return max(n, 1)
}

// mapAt returns a site on the line of a that accesses a map, or nil.
func (t *Tally) mapAt(a *finding.Access) *plan.Site {
	for i := range t.plan.Sites {
		s := &t.plan.Sites[i]
		sameMode := (s.Mode == plan.Write) == (a.Mode == finding.Write)
		if s.File == a.File && s.Line == a.Line && s.Variable.Kind == plan.KindMap && sameMode {
			return s
		}
	}
	return nil
}

func (at FatalAt) compare(other FatalAt) int {
	return cmp.Or(cmp.Compare(at.text, other.text), cmp.Compare(at.function, other.function),
		cmp.Compare(at.line, other.line))
}
