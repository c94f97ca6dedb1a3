package rt_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// accesses is a package that touches memory in the ways that matter for
// escape analysis; %R{…} and %W{…} mark what the rewriter wraps.
const accesses = `package p

import (
	"sync/atomic"
	%IMPORT
)

type ints []int

type node struct {
	n    int
	s    string
	next *node
	m    map[string]int
}

func local() int {
	v := node{n: 1, m: map[string]int{}}
	%W{v.n}++
	%W{v.s} = "a"
	%MW{v.m}["a"] = 1
	a := [3]int64{}
	atomic.AddInt64(%AW{a[0]}, atomic.LoadInt64(%AR{a[1]}))
	var typed atomic.Int64
	(*%AW{typed}).Store(1)
	s := ints(make([]int, 3))
	copy(%WS{s}, %RS{s})
	clear(%WS{s[:2]})
	copy(%WN{s}, %RN{s})
	s = append(%WA{s}, 1)
	w := [4]int{}
	%W{w[2]} = %R{v.n}
	return %R{v.n} + %MR{v.m}["a"] + %R{w[1]} + len(%R{v.s})
}

func argument(p *node, m map[string]int) int {
	for p != nil && %R{p.n} != 0 {
		%W{p.n} -= %MR{m}["a"]
		p = %R{p.next}
	}
	return 0
}

func captured() int {
	n := 0
	add := func() { %W{n}++ }
	add()
	return %R{n}
}

func generic[T any](p *struct{ v T }) T { return %R{p.v} }

func user() string { return generic(&struct{ v string }{"a"}) }
`

// compile writes a package to a folder of scratch and compiles it with -m.
func compile(t *testing.T, folder, source string) string {
	t.Helper()
	dir := filepath.Join(scratch, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	text, err := goBuild(folder, "-gcflags=-m", ".")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func plainSource() string {
	s := strings.Replace(accesses, "%IMPORT", "", 1)
	s = regexp.MustCompile(`%A[RW]\{(.*?)\}`).ReplaceAllString(s, "&$1")
	return regexp.MustCompile(`%\w+\{(.*?)\}`).ReplaceAllString(s, "$1")
}

func monitoredSource() string {
	s := strings.Replace(accesses, "%IMPORT", `"interlock.invalid/rt"`, 1)
	s = regexp.MustCompile(`%(M[RW]|[RW]S)\{(.*?)\}`).ReplaceAllString(s, "rt.$1($2, 1)")
	s = regexp.MustCompile(`%(RN|WN|WA)\{(.*?)\}`).ReplaceAllString(s, "rt.$1($2, 1, 1)")
	s = regexp.MustCompile(`%(A[RW])\{(.*?)\}`).ReplaceAllString(s, "rt.$1(&$2, 1)")
	return regexp.MustCompile(`%([RW])\{(.*?)\}`).ReplaceAllString(s, "*rt.$1(&$2, 1)")
}

// Every call of the monitor is inlined into its caller.
func TestInlined(t *testing.T) {
	source := monitoredSource()
	text := compile(t, "monitored", source)
	for _, name := range []string{"R", "W", "AR", "AW", "RS", "WS", "RN", "WN", "WA", "MR", "MW"} {
		want := strings.Count(source, "rt."+name+"(")
		// A call is listed again for each copy of the function that holds it.
		call := regexp.MustCompile(`(?m)^\./p\.go:(\d+:\d+): inlining call to rt\.` + name + `\[`)
		places := map[string]bool{}
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			places[m[1]] = true
		}
		if want == 0 || len(places) < want {
			t.Errorf("%d of %d calls of rt.%s are inlined:\n%s", len(places), want, name, text)
		}
	}
}

// What is on the stack in the plain program is there in the monitored one.
func TestNothingNewEscapes(t *testing.T) {
	plain := escapes(compile(t, "plain", plainSource()))
	monitored := escapes(compile(t, "monitored", monitoredSource()))
	if len(plain) != len(monitored) {
		t.Errorf("the plain package moves to the heap:\n%s\nthe monitored one:\n%s",
			strings.Join(plain, "\n"), strings.Join(monitored, "\n"))
	}
}

// escapes returns the messages about what moves to the heap, without positions.
func escapes(text string) (messages []string) {
	for line := range strings.Lines(text) {
		_, message, _ := strings.Cut(line, ": ")
		if strings.Contains(message, "escapes to heap") && !strings.Contains(message, "not escape") ||
			strings.Contains(message, "moved to heap") {
			messages = append(messages, strings.TrimSpace(message))
		}
	}
	slices.Sort(messages)
	return messages
}
