package stacktext

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

const sampleStack = `goroutine 18 [running]:
interlock.invalid/rt.hold(0xc000010000, 0xc00001)
	/cache/rt/watch.go:80 +0x1d
interlock.invalid/rt.W[...](...)
	/cache/rt/fast.go:12
example.com/m.(*T[...]).Inc(0xc000012345, {0x1, 0x2})
	/home/a b/m.go:10 +0x2b
example.com/m.Start.func1()
	C:/go/x.go:7 +0x25
...23 frames elided...
interlock.invalid/rt.R[...](...)
	/cache/rt/fast.go:9
created by example.com/m.Start in goroutine 1
	/home/a b/m.go:33 +0x5a
`

func TestParseStack(t *testing.T) {
	want := finding.Goroutine{
		ID: 18,
		Stack: []finding.Frame{
			{Function: "example.com/m.(*T[...]).Inc", File: "/home/a b/m.go", Line: 10},
			{Function: "example.com/m.Start.func1", File: "C:/go/x.go", Line: 7},
			{Function: "interlock.invalid/rt.R[...]", File: "/cache/rt/fast.go", Line: 9},
		},
		Created: []finding.Frame{{Function: "example.com/m.Start", File: "/home/a b/m.go", Line: 33}},
	}
	if got := Parse(sampleStack); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := Parse(strings.ReplaceAll(sampleStack, "\n", "\r\n")); !reflect.DeepEqual(got, want) {
		t.Errorf("with CRLF: %+v", got)
	}
}

func TestParseStackCutShort(t *testing.T) {
	got := Parse(sampleStack[:strings.Index(sampleStack, "C:/go")])
	if len(got.Stack) != 1 || got.ID != 18 || got.Created != nil {
		t.Errorf("%+v", got)
	}
}

// What the runtime writes today is what the parser reads.
func TestParseStackOfTheRuntime(t *testing.T) {
	done := make(chan finding.Goroutine)
	go func() {
		buf := make([]byte, 1<<16)
		done <- Parse(string(buf[:runtime.Stack(buf, false)]))
	}()
	g := <-done
	const function = ".TestParseStackOfTheRuntime"
	if g.ID <= 0 || len(g.Stack) != 1 || !strings.HasSuffix(g.Stack[0].Function, function+".func1") ||
		!strings.HasSuffix(g.Stack[0].File, "/stack_test.go") {
		t.Errorf("%+v", g)
	}
	if len(g.Created) != 1 || !strings.HasSuffix(g.Created[0].Function, function) || g.Created[0].Line == 0 {
		t.Errorf("created %+v", g.Created)
	}
}

func FuzzParseStack(f *testing.F) {
	f.Add(sampleStack)
	f.Add("")
	f.Add("goroutine ")
	f.Add("f(\n\t:1")
	f.Add(")\n\tx:1")
	f.Add("created by \n\ta:1 +0x")
	f.Fuzz(func(t *testing.T, text string) {
		g := Parse(text)
		for _, frame := range append(g.Stack, g.Created...) {
			if frame.File == "" || frame.Line <= 0 {
				t.Errorf("frame without a position: %+v", frame)
			}
			if !strings.Contains(text, frame.Function) || !strings.Contains(text, frame.File) {
				t.Errorf("frame that the text does not hold: %+v", frame)
			}
		}
		if n := strings.Count(text, "\n"); len(g.Stack)+len(g.Created) > (n+1)/2+1 {
			t.Errorf("%d frames of %d lines", len(g.Stack)+len(g.Created), n)
		}
	})
}

// The runtime escapes the dots in the last element of a package's path.
func TestSplitNameUnescapes(t *testing.T) {
	pkg, function := SplitName("gopkg.in/natefinch/lumberjack%2ev2.(*Logger).mill")
	if pkg != "gopkg.in/natefinch/lumberjack.v2" || function != "(*Logger).mill" {
		t.Errorf("%q and %q", pkg, function)
	}
}
