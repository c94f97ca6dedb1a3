package judge

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/typedfile"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

// ended holds functions whose last line is where the process ended.
const ended = `package m

import (
	"sync"
	"testing"
)

type T struct {
	mu sync.RWMutex
	wg sync.WaitGroup
	m  map[int]int
}

var done chan int

func (t *T) Put() {
	t.m[1] = 2
}

func (t *T) Unlock() {
	defer t.mu.Unlock()
}

func (t *T) Done() {
	t.wg.Done()
}

func Close() {
	close(done)
}

func Send(c chan int) {
	c <- 1
}

func Late(t testing.TB) {
	t.Log("late")
}

func Put() {
	done <- 1
}

func Local() {
	ch := make(chan int)
	go close(ch)
	if cap(ch) > 0 {
		close(ch)
	}
	ch <- 1
}
`

func TestErrorsThatProveABug(t *testing.T) {
	const goroutine = "\n\ngoroutine 7 gp=0xc0 m=0 [running]:\n"
	frame := func(function string, line string) string {
		return function + "(0x1)\n\t/m/m.go:" + line + " +0x1\n"
	}
	std := func(function string) string { return function + "(...)\n\t/go/src/x.go:1 +0x1\n" }
	for _, c := range []struct {
		output   string
		code     finding.Code
		variable finding.Variable
		line     int
	}{
		{"fatal error: concurrent map writes" + goroutine +
			std("internal/runtime/maps.fatal") + std("runtime.mapassign_fast64") + frame("m.(*T).Put", "17"),
			finding.CaughtInTheAct, finding.Variable{Package: "m", Type: "T", Name: "m", Kind: plan.KindMap}, 17},
		{"fatal error: sync: Unlock of unlocked RWMutex" + goroutine +
			std("sync.fatal") + std("sync.(*RWMutex).Unlock") + frame("m.(*T).Unlock", "22"),
			finding.LostUnlock, finding.Variable{Package: "m", Type: "T", Name: "mu", Kind: plan.KindField}, 22},
		{"panic: sync: negative WaitGroup counter [recovered, repanicked]" + goroutine +
			std("testing.tRunner.func1.2") + std("panic") +
			std("sync.(*WaitGroup).Add") + std("sync.(*WaitGroup).Done") + frame("m.(*T).Done", "25"),
			finding.AddRacesWait, finding.Variable{Package: "m", Type: "T", Name: "wg", Kind: plan.KindField}, 25},
		{"panic: close of closed channel" + goroutine + std("panic") + frame("m.Close", "29"),
			finding.CloseRaces, finding.Variable{Package: "m", Name: "done", Kind: plan.KindGlobal}, 29},
		{"panic: send on closed channel" + goroutine + std("panic") + frame("m.Send", "33"),
			finding.CloseRaces, finding.Variable{Package: "m", Function: "Send", Name: "c"}, 33},
		{"panic: Log in goroutine after TestX has completed: late" + goroutine + std("panic") +
			std("testing.(*common).Log") + frame("m.Late", "37"),
			finding.OutlivesTest, finding.Variable{Package: "m", Function: "Late", Name: "t"}, 37},
		{"panic: send on closed channel" + goroutine + std("panic") + std("golang.org/x/y.F"),
			finding.CloseRaces, finding.Variable{Package: "golang.org/x/y", Function: "F", Name: "send on closed channel"}, 1},
	} {
		p := &plan.Plan{Sites: []plan.Site{{
			ID: 1, File: "m.go", Line: 17, Column: 2, Mode: plan.Write,
			Package: "m", Function: "(*T).Put", Expr: "t.m[1]",
			Variable: plan.Variable{Package: "m", Type: "T", Name: "m", Kind: plan.KindMap},
		}}}
		seen := NewTally(p, []*sites.Package{typedfile.Parse(t, ended)})
		seen.Begin(1, 5, nil, nil)
		seen.Add("m", 100, nil, &testproc.Process{Outcome: run.Panicked, Crash: []byte(c.output)}, t.Errorf)
		seen.Begin(2, 6, nil, nil)
		seen.Add("m", 100, nil, &testproc.Process{Outcome: run.Passed}, t.Errorf)
		ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
		cfg := &run.Settings{Program: run.Program{Workspace: ws, Plan: p}}
		found, _ := seen.Findings(cfg, nil, nil)
		if len(found) != 1 {
			t.Errorf("%s: %d findings, want 1", c.output, len(found))
			continue
		}
		f := found[0]
		if err := f.Validate(); err != nil {
			t.Errorf("%s: %v", f.Title, err)
		}
		if f.Code != c.code || f.Variable != c.variable || f.Accesses[0].Line != c.line || f.Status != finding.Confirmed {
			t.Errorf("%s: %s %s, variable %+v, at %v", f.Title, f.Code, f.Status, f.Variable, f.Accesses[0].Position)
		}
		if e := f.Evidence; e.Hits != 1 || e.Runs != 2 || !strings.Contains(c.output, e.Error) {
			t.Errorf("%+v", e)
		}
	}
}

// The panic does not say where the channel was closed; the source does.
func TestWhereClosed(t *testing.T) {
	for _, c := range []struct{ message, function, line, want string }{
		{"close of closed channel", "Close", "29", "No other place calls close for done; the channel may have other names."},
		{"send on closed channel", "Put", "41", "while the send waited. The source closes done at m.go:29."},
		{"send on closed channel", "Local", "50", "the send waited. The source closes ch at m.go:46 and m.go:48."},
		{"send on closed channel", "Send", "33", "before the send, or while the send waited."},
	} {
		crash := "panic: " + c.message + "\n\ngoroutine 7 gp=0xc0 m=0 [running]:\npanic(...)\n\t/go/src/x.go:1 +0x1\n" +
			"m." + c.function + "(0x1)\n\t/m/m.go:" + c.line + " +0x1\n"
		p := &plan.Plan{}
		seen := NewTally(p, []*sites.Package{typedfile.Parse(t, ended)})
		seen.Begin(1, 5, nil, nil)
		seen.Add("m", 100, nil, &testproc.Process{Outcome: run.Panicked, Crash: []byte(crash)}, t.Errorf)
		ws := &build.Workspace{Module: &build.Module{Path: "m", Root: "/m"}}
		cfg := &run.Settings{Program: run.Program{Workspace: ws, Plan: p}}
		found, _ := seen.Findings(cfg, nil, nil)
		if len(found) != 1 || !strings.HasSuffix(found[0].Message, c.want) {
			t.Errorf("%s: %+v, want one that ends in %q", c.function, *found[0], c.want)
		}
	}
}

// What no bug of synchronisation is proven by.
func TestOtherPanicsProveNothing(t *testing.T) {
	for _, output := range []string{
		"panic: not implemented\n\ngoroutine 7 [running]:\nm.F()\n\t/m/m.go:3\n",
		"--- FAIL: TestX (0.00s)\n    x_test.go:3: want panic \"close of closed channel\"\n",
		"fatal error: all goroutines are asleep - deadlock!\n",
	} {
		if kind, ok := fatalOf([]byte(output)); ok {
			t.Errorf("%s: taken for %q", output, kind.text)
		}
	}
}
