package crossing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// run is the steps of a run, one a line: goroutine, what, site or use with s or l, address, and the frames, outermost
// first, as function:line. Functions of the test have a name that begins with T.
func run(t *testing.T, text string) (steps []Step) {
	t.Helper()
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		var s Step
		if _, err := fmt.Sscanf(words[0]+" "+words[3], "g%d %d", &s.GID, &s.Addr); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s.What, s.Size = words[1], 8
		if _, err := fmt.Sscanf(words[2], "s%d", &s.Site); err != nil {
			fmt.Sscanf(words[2], "l%d", &s.Use)
		}
		for _, w := range words[4:] {
			name, at, _ := strings.Cut(w, ":")
			f := finding.Frame{Function: name, File: "a.go"}
			if strings.HasPrefix(name, "T") {
				f.File = "a_test.go"
			}
			fmt.Sscan(at, &f.Line)
			s.Frames = append(s.Frames, f)
		}
		steps = append(steps, s)
	}
	return steps
}

// source is a program in which sites of the same tens access one variable.
var source = Source{
	IsOurs:   func(file string) bool { return !strings.HasSuffix(file, "_test.go") },
	Variable: func(site uint32) plan.Variable { return plan.Variable{Name: fmt.Sprint(site / 10)} },
}

// What another goroutine does between two accesses of one activation crosses it where it conflicts with both.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, steps, want string
	}{
		{"load and store", `
			g1 lock l1 1 T:1 add:3 get:8
			g1 read s10 100 T:1 add:3 get:8
			g1 unlock l1 1 T:1 add:3 get:8
			g1 held l2 0 T:1 add:4 set:9
			g2 lock l2 1 T:2 add:4 set:9
			g2 write s11 100 T:2 add:4 set:9
			g2 unlock l2 1 T:2 add:4 set:9
			g1 resumed l2 0 T:1 add:4 set:9
			g1 write s11 100 T:1 add:4 set:9`, "10 11 11 in add"},
		{"two variables", `
			g1 write s10 100 T:1 move:3 take:8
			g1 held s20 0 T:1 move:4 put:9
			g2 read s12 100 T:2 sum:6
			g2 read s22 200 T:2 sum:6
			g1 resumed s20 0 T:1 move:4 put:9
			g1 write s20 200 T:1 move:4 put:9`, "10 12 20 in move"},
		{"other memory", `
			g1 read s10 100 T:1 add:3
			g1 held s11 0 T:1 add:4
			g2 write s11 300 T:2 add:4
			g1 resumed s11 0 T:1 add:4
			g1 write s11 100 T:1 add:4`, ""},
		{"reads alone", `
			g1 read s10 100 T:1 add:3
			g1 held s10 0 T:1 add:4
			g2 read s10 100 T:2 add:3
			g1 resumed s10 0 T:1 add:4
			g1 read s10 100 T:1 add:4`, ""},
		{"the next round of a loop", `
			g1 read s10 100 T:1 work:4
			g1 held s11 0 T:1 work:3
			g2 write s11 100 T:2 set:9
			g1 resumed s11 0 T:1 work:3
			g1 write s11 100 T:1 work:3`, ""},
		{"two calls of the test", `
			g1 read s10 100 T:1 get:8
			g1 held s11 0 T:2 set:9
			g2 write s11 100 T:3 set:9
			g1 resumed s11 0 T:2 set:9
			g1 write s11 100 T:2 set:9`, ""},
		{"of two calls of the other goroutine, each with one", `
			g1 write s10 100 T:1 move:3 take:8
			g1 held s20 0 T:1 move:4 put:9
			g2 read s12 100 T:2 a:6
			g2 read s22 200 T:3 b:7
			g1 resumed s20 0 T:1 move:4 put:9
			g1 write s20 200 T:1 move:4 put:9`, ""},
	} {
		var got []string
		for _, x := range Find(run(t, c.steps), nil, source) {
			got = append(got, fmt.Sprint(x.First.Site, x.Came.Site, x.Last.Site, " in "+x.Function))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q", c.name, text, c.want)
		}
	}
}

// A goroutine is kept away before the outermost lock that it takes, and is held ahead of a section before that one.
func TestFindPlaces(t *testing.T) {
	found := Find(run(t, `
		g1 lock l1 1 T:1 add:3 get:8
		g1 read s10 100 T:1 add:3 get:8
		g1 unlock l1 1 T:1 add:3 get:8
		g1 held l2 0 T:1 add:4 set:9
		g2 lock l3 2 T:2 reset:6
		g2 lock l2 1 T:2 reset:7
		g2 write s11 100 T:2 reset:7
		g1 resumed l2 0 T:1 add:4 set:9
		g1 write s11 100 T:1 add:4 set:9`), nil, source)
	if len(found) != 1 || found[0].Before != (arm.Place{Use: 1}) || found[0].Out != (arm.Place{Use: 3}) {
		t.Errorf("%+v", found)
	}
}

// Where the process ends while a goroutine is held, a run that goes on shows its next access; and a read that
// finds nothing stored yet crosses no section, but comes before the first store. What the other run shows has the
// number of the goroutine that was held.
func TestFindInLaterRun(t *testing.T) {
	ended := run(t, `
		g1 read s10 100 T:1 open:3
		g1 held s11 0 T:1 open:4
		g2 write s12 100 T:2 close:6
		g2 read s20 200 T:2 close:7`)
	later := run(t, `
		g5 held s11 0 T:1 open:4
		g5 resumed s11 0 T:1 open:4
		g5 write s11 900 T:1 open:4
		g5 write s21 950 T:1 open:5`)
	if found := Find(ended, later, source); len(found) == 0 || found[0].Last.Site != 11 || found[0].Last.GID != 1 {
		t.Errorf("crossings %+v", found)
	}
	early := FindEarly(ended, later, 2, source)
	if len(early) != 1 || early[0].Came.Site != 20 || early[0].Last.Site != 21 || early[0].Last.GID != 1 ||
		!early[0].IsEarly() {
		t.Errorf("early %+v", early)
	}
	stored := append(run(t, `g3 write s22 200 T:3 init:1`), ended...)
	if early := FindEarly(stored, later, 2, source); len(early) != 0 {
		t.Errorf("early, although stored: %+v", early)
	}
}

// The stack of a step that was kept until a goroutine was held ends with the start of the goroutine by the runtime, and
// has no go statement: that of a later step is the same.
func TestRead(t *testing.T) {
	const kept = "goroutine 7 [running]:\nm.add()\n\t/m/a.go:3\nruntime.goexit()\n\t/go/asm.s:1771\n"
	const held = "goroutine 7 [running]:\nm.add()\n\t/m/a.go:4 +0x1\n" +
		"created by m.start in goroutine 1\n\t/m/a.go:9 +0x1\n"
	steps := Read([]evidence.Record{
		{Step: &evidence.Step{GID: 7, Stack: kept}}, {Step: &evidence.Step{GID: 7, Stack: held}},
		{Step: &evidence.Step{GID: 8, Stack: kept}},
	})
	for i, want := range []int{1, 1, 0} {
		g := stacktext.Parse(steps[i].Stack)
		if len(steps[i].Frames) != 1 || len(g.Stack) != 1 || len(g.Created) != want {
			t.Errorf("step %d: %+v, want one frame and %d go statements", i, g, want)
		}
	}
}
