package pointsto_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/interlock-go/interlock/pointsto"
	"github.com/interlock-go/interlock/pointsto/load"
)

// maxGrowth is how many times as much CPU time a program of twice the size may need, beyond
// what one without the shape needs. What is square needs four times as much.
const maxGrowth = 3

// maxSquareGrowth is that for the shape whose square package pointsto states.
const maxSquareGrowth = 6

// tooLittle is a cost that says nothing: a collection of garbage costs more.
const tooLittle = 300 * time.Millisecond

// The analysis is no worse than linear in the instructions that are reached.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	repeat := func(n int, text string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.NewReplacer("@", fmt.Sprint(i+1), "#", fmt.Sprint(i)).Replace(text))
		}
		return b.String()
	}
	const closures = "closures that are called by others" // each call may reach each closure
	none := analysisCost(t, "func main() {}\n")
	for _, shape := range []struct {
		name string
		size int
		make func(n int) string
	}{
		{"a chain of calls that hand a pointer on", 4000, func(n int) string {
			return "type T struct{ n *int }\nfunc main() { x := 0; f0(&T{&x}) }\n" +
				repeat(n, "func f#(t *T) { *t.n = #; f@(t) }\n") + fmt.Sprintf("func f%d(*T) {}\n", n)
		}},
		{"types with goroutines", 2000, func(n int) string {
			return "func main() {\n" + repeat(n, "t#()\n") + "}\n" +
				repeat(n, "type T# struct{ n int; next *T# }\n"+
					"func t#() { x := &T#{}; go func() { x.n++ }(); x.next = &T#{}; x.n++ }\n")
		}},
		{closures, 1000, func(n int) string {
			return "func main() {\n" + repeat(n, "h#()\n") + "}\n" +
				repeat(n, "func h#() { x := new(int); f := func() { *x++ }; go func() { f() }() }\n")
		}},
		{"lists of interfaces", 2000, func(n int) string {
			return "var all []any\nfunc put(args ...any) { all = append(all, args...) }\nfunc main() {\n" +
				repeat(n, "put(#, new(int), &struct{ a# int }{})\n") + "}\n"
		}},
		{"maps, channels and slices", 2000, func(n int) string {
			return "func main() {\n" + repeat(n, "g#()\n") + "}\n" + repeat(n,
				"func g#() { m := map[string]*int{}; c := make(chan map[string]*int, 1); c <- m; "+
					"s := []map[string]*int{<-c}; go func() { s[0][\"x\"] = new(int) }() }\n")
		}},
	} {
		t.Run(shape.name, func(t *testing.T) {
			size := shape.size / slower
			var small, large time.Duration
			for range 3 { // other work on the machine adds to a figure, and takes nothing off
				small = analysisCost(t, shape.make(size)) - none
				large = analysisCost(t, shape.make(2*size)) - none
				t.Log("without", none, "size", size, small, "and twice", large)
				limit := time.Duration(maxGrowth)
				if shape.name == closures {
					limit = maxSquareGrowth
				}
				if large <= tooLittle || large <= limit*small {
					return
				}
			}
			t.Errorf("from size %d to %d: %v to %v", size, 2*size, small, large)
		})
	}
}

// analysisCost returns the CPU time that the analysis of a program of one file uses, without
// that of loading it.
func analysisCost(t *testing.T, source string) time.Duration {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), []byte("module fixture\n\ngo 1.24\n"))
	write(t, filepath.Join(dir, "main.go"), []byte("package main\n\n"+source))
	p, err := load.Load(t.Context(), load.Options{
		Dir: dir, Root: dir, Programs: true, Env: append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"),
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	pointsto.Analyze(p, pointsto.Options{}).Verdicts()
	return used() - before
}
