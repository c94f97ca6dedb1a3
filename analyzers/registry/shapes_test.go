package registry_test

import (
	"fmt"
	"strings"
)

// shape makes sources of any size, as people and generators write them.
type shape struct {
	name   string
	size   int // such that the cost of twice as much can be told from noise
	source func(n int) string
}

// repeat returns text n times, with the number in place of each #.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// nest returns text n deep: open n times, inner, and as many times end.
func nest(n int, open, inner, end string) string {
	return repeat(n, open) + inner + strings.Repeat(end, n)
}

const guarded = `
import "sync"

type T struct {
	mu sync.Mutex
	m  map[int]int
	s  []int
	n  int
	done chan struct{}
}
`

var shapes = []shape{
	{"returns through a defer", 400, func(n int) string {
		return `
import "errors"

func step(i int) error {
	if i > 3 {
		return errors.New("x")
	}
	return nil
}

func F(n int) (out []int, err error) {
	defer func() {
		if err != nil {
			out = nil
		}
	}()
` + repeat(n, "if err = step(n + #); err != nil { return out, err }\n") + `
	return nil, nil
}`
	}},
	{"accesses in a function", 1000, func(n int) string {
		return guarded + `
func (t *T) F() {
	t.mu.Lock()
` + repeat(n, "t.n++; t.m[#] = t.n\n") + `
	t.mu.Unlock()
}
func (t *T) G() int { return t.n }`
	}},
	{"accesses in branches", 500, func(n int) string {
		return guarded + `
func (t *T) F(k int) {
` + repeat(n, "if k > # { t.n++; t.m[k] = t.n }\n") + `
}
func (t *T) Start() { go t.F(1); go t.F(2) }`
	}},
	{"locks in branches", 400, func(n int) string {
		return guarded + `
func (t *T) F(k int) {
` + repeat(n, "if k > # { t.mu.Lock(); t.n++; t.mu.Unlock() }\n") + `
}
func (t *T) G() int { return t.n }`
	}},
	{"locks one after the other", 300, func(n int) string {
		return "import \"sync\"\ntype T struct {\n" + repeat(n, "mu# sync.Mutex; n# int\n") + "}\nfunc (t *T) F() {\n" +
			repeat(n, "t.mu#.Lock(); t.n#++; t.mu#.Unlock()\n") + "}"
	}},
	{"locks within each other", 25, func(n int) string {
		return "import \"sync\"\ntype T struct {\n" + repeat(n, "mu# sync.Mutex; n# int\n") + "}\nfunc (t *T) F() {\n" +
			repeat(n, "t.mu#.Lock(); t.n#++; defer t.mu#.Unlock()\n") + "}"
	}},
	{"closings and goroutines", 300, func(n int) string {
		return guarded + `
func (t *T) F() {
` + repeat(n, "go func() { t.n++; <-t.done; t.n = # }()\n") + `
	t.n = 1
	close(t.done)
}`
	}},
	{"closures that capture", 600, func(n int) string {
		return "func F() int {\nx := 0\n" + repeat(n, "f# := func() { x += #; if x > # { x-- } }; f#()\n") + "return x\n}"
	}},
	{"closures within each other", 60, func(n int) string {
		return "func F() int {\nx := 0\n" + nest(n, "func() {\nx++\n", "x--", "\n}()\n") + "return x\n}"
	}},
	{"goroutines within each other", 60, func(n int) string {
		return guarded + "func F(t *T) {\nx := 0\n" + nest(n, "go func() {\nx++; t.n++\n", "x--", "\n}()\n") + "}"
	}},
	{"defers", 400, func(n int) string {
		return guarded + "func (t *T) F() {\n" +
			repeat(n, "t.mu.Lock(); if t.n > # { defer t.mu.Unlock(); t.n = #; return }; t.mu.Unlock()\n") + "}"
	}},
	{"loops within each other", 60, func(n int) string {
		return guarded + "func (t *T) F(k int) {\n" +
			nest(n, "for i# := 0; i# < k; i#++ {\nt.mu.Lock(); t.n += i#; t.mu.Unlock()\n", "t.n++", "\n}\n") + "}"
	}},
	{"loops one after the other", 500, func(n int) string {
		return guarded + "func (t *T) F(k int) {\n" +
			repeat(n, "for i := range k { t.mu.Lock(); t.s[i] = t.n; t.n++; t.mu.Unlock() }\n") + "}"
	}},
	{"a variable through branches", 1000, func(n int) string {
		return guarded + "func F(a, b *T, k int) {\nx := a\n" + repeat(n, "if k > # { x = b } else { x = a }; x.n++\n") + "}"
	}},
	{"pieces of pieces", 1000, func(n int) string {
		return guarded + "func (t *T) F(k int) []int {\nt.mu.Lock()\nx := t.s\n" + repeat(n, "if k > # { x = x[1:] }\n") +
			"t.mu.Unlock()\nx[0] = 1\nreturn x\n}"
	}},
	{"calls down a chain", 1000, func(n int) string {
		return guarded + "func (t *T) f0(x *T) { t.mu.Lock(); x.n++; t.mu.Unlock() }\n" +
			chain(n, "func (t *T) f#(x *T) { y := &T{}; y.n = 1; t.f@(x); t.f@(y) }\n") + "func (t *T) F(x *T) { t.flast(x) }"
	}},
	{"results up a chain", 1000, func(n int) string {
		return guarded + "func (t *T) f0() []int { return t.s }\n" + chain(n, "func (t *T) f#() []int { return t.f@() }\n") +
			"func (t *T) F() { t.mu.Lock(); x := t.flast(); t.mu.Unlock(); x[0] = 1 }"
	}},
	{"callbacks down a chain", 1000, func(n int) string {
		return guarded + "func f0(f func()) { go f() }\n" + chain(n, "func f#(f func()) { f@(f) }\n") +
			"func (t *T) F() { flast(func() { t.n++ }); t.n++ }"
	}},
	{"a switch", 500, func(n int) string {
		return guarded + "func (t *T) F(k int) {\nswitch k {\n" + repeat(n, "case #: t.n = k; t.m[#]++\n") +
			"}\n}\nfunc Start(t *T) { go t.F(1); t.F(2) }"
	}},
	{"a literal", 2000, func(n int) string {
		return "type e struct { name string; f func(int) int }\nvar table = []e{\n" +
			repeat(n, "{\"#\", func(i int) int { return i + # }},\n") + "}\nvar names = map[string]*e{\n" +
			repeat(n, "\"#\": {name: \"#\"},\n") + "}"
	}},
	{"methods of a type", 600, func(n int) string {
		return guarded + repeat(n, "func (t *T) Get#() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }\nfunc (t *T) "+
			"Put#(k int) { t.n = k }\n")
	}},
	{"else upon else", 400, func(n int) string {
		return guarded + "func (t *T) F(k int) {\n" + repeat(n, "if k == # { t.mu.Lock(); t.n = #; t.mu.Unlock() } else ") +
			"{ t.n++ }\n}"
	}},
	{"methods of an interface", 300, func(n int) string {
		return guarded + "type I interface {\n" + repeat(n, "m#()\n") + "}\n" + repeat(n, "func (t *T) m#() { t.n++ }\n") +
			"func F(i I) {\n" + repeat(n, "i.m#()\n") + "}\nfunc Start(t *T) { F(t) }"
	}},
	{"types of an interface", 300, func(n int) string {
		return "type I interface { m() }\n" + repeat(n, "type T# struct { n int }\nfunc (t *T#) m() { t.n++ }\n") +
			"func F(i I) { i.m() }\nfunc Start() {\n" + repeat(n, "F(&T#{})\n") + "}"
	}},
	{"tests and uses", 150, func(n int) string {
		return guarded + "func (t *T) F(k int) {\n" +
			repeat(n, "t.mu.Lock(); ok# := t.m[#] > 0; t.mu.Unlock(); if ok# { t.mu.Lock(); t.m[#] = k; t.mu.Unlock() }\n") + "}"
	}},
	{"loads and stores", 300, func(n int) string {
		return guarded + "func (t *T) F(k int) {\n" +
			repeat(n, "t.mu.Lock(); x# := t.n; t.mu.Unlock(); t.mu.Lock(); t.n = x# + k; t.mu.Unlock()\n") + "}"
	}},
	{"fields", 1000, func(n int) string {
		return "import \"sync\"\ntype T struct {\nmu sync.Mutex\n" + repeat(n, "f# int\n") + "}\n" +
			repeat(n, "func (t *T) Get#() int { t.mu.Lock(); defer t.mu.Unlock(); return t.f# }\nfunc (t *T) Put#(k int) { "+
				"t.f# = k }\n")
	}},
	{"objects made in a function", 500, func(n int) string {
		return guarded + "func F(c chan *T) {\n" +
			repeat(n, "t# := &T{m: map[int]int{}}; t#.n = #; if t#.n > # { c <- t# }; t#.m[1] = 2\n") + "}"
	}},
	{"scopes of goroutines", 60, func(n int) string {
		return "import \"time\"\n" + repeat(n, "func F#(f func() int) int {\nch := make(chan int)\n"+
			"go func() { ch <- f() }()\nselect {\ncase v := <-ch:\nreturn v\ncase <-time.After(time.Second):\nreturn #\n}\n}\n")
	}},
	{"goroutines of a scope", 100, func(n int) string {
		return "func F(f func() int) (sum int) {\nch := make(chan int)\n" + repeat(n, "go func() { ch <- f() + # }()\n") +
			repeat(n, "if f() > # { sum += <-ch }\n") + "return sum\n}"
	}},
	{"functions that call each other", 300, func(n int) string {
		return guarded + repeat(n, "func (t *T) r#(x *T, k int) { t.mu.Lock(); t.n++; t.mu.Unlock(); if k > # { x.r0(t, k) "+
			"} }\n") +
			"func (t *T) All(x *T) {\n" + repeat(n, "t.r#(x, #)\n") + "}"
	}},
}

// chain returns text n times, with its number in place of each #, that of the
// one after it in place of each @: callers stand before what they call, the
// last of which is numbered 0, and the first is called last.
func chain(n int, text string) string {
	var b strings.Builder
	for i := n; i > 0; i-- {
		number := fmt.Sprint(i)
		if i == n {
			number = "last"
		}
		b.WriteString(strings.NewReplacer("#", number, "@", fmt.Sprint(i-1)).Replace(text))
	}
	return b.String()
}
