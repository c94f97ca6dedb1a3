package region

import (
	"fmt"
	"go/token"
	"strings"
	"testing"
)

// The line of the access is marked; want has the regions as lock:from-to.
func TestAround(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"plain", "s.mu.Lock()\ns.n++ // here\ns.mu.Unlock()\nother()", "s.mu:2-4"},
		{"deferred", "s.mu.RLock()\ndefer s.mu.RUnlock()\nreturn s.n // here", "s.mu(read):2-5"},
		{"behind the unlock", "s.mu.Lock()\ns.mu.Unlock()\ns.n++ // here", ""},
		{"before the lock", "s.n++ // here\ns.mu.Lock()\ns.mu.Unlock()", ""},
		{"no unlock here", "s.mu.Lock()\ns.n++ // here", ""},
		{"early return", "s.mu.Lock()\nif bad {\ns.mu.Unlock()\nreturn\n}\ns.n++ // here\ns.mu.Unlock()", "s.mu:2-8"},
		{"unlock in a branch that holds the access", "s.mu.Lock()\nif ok {\ns.n++ // here\ns.mu.Unlock()\n}", "s.mu:2-5"},
		{"lock in another branch", "if ok {\ns.mu.Lock()\n}\ns.n++ // here\ns.mu.Unlock()", ""},
		{"two", "a.Lock()\nb.Lock()\ns.n++ // here\nb.Unlock()\na.Unlock()", "a:2-6 b:3-5"},
		{"twice", "a.Lock()\na.Unlock()\na.Lock()\ns.n++ // here\na.Unlock()\na.Lock()\na.Unlock()", "a:4-6"},
		{"in a goroutine of its own", "s.mu.Lock()\ngo func() {\ns.n++ // here\n}()\ns.mu.Unlock()", ""},
		{"case", "switch {\ncase ok:\ns.mu.Lock()\ns.n++ // here\ns.mu.Unlock()\n}", "s.mu:4-6"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			source := "package p; func (s *S) f() {\n" + tt.body + "\n}\n"
			line := 1 + strings.Count(source[:strings.Index(source, "// here")], "\n")
			var got []string
			for _, r := range Parse(source).Around(line) {
				side := ""
				if r.Read {
					side = "(read)"
				}
				got = append(got, fmt.Sprintf("%s%s:%d-%d", r.Lock, side, r.From, r.To))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("got %q, want %q", s, tt.want)
			}
		})
	}
	for _, source := range []string{"", "\xff", "no Go at all {", "package p; func f() { a.Lock("} {
		if got, at := Parse(source).Around(1), Parse(source).Literal(1); got != nil || at != 0 {
			t.Errorf("%q: %v, %d", source, got, at)
		}
	}
}

func TestLiteral(t *testing.T) {
	f := Parse("package p\n\nfunc f() {\ng(func() {\nh()\ngo func() {\nh()\n}()\nh()\n})\nh()\n}\n")
	at := func(pos token.Pos) int { return f.fset.Position(pos).Line }
	for line, want := range map[int]int{1: 0, 3: 0, 4: 0, 5: 4, 6: 4, 7: 6, 9: 4, 11: 0} {
		if got := at(f.Literal(line)); got != want {
			t.Errorf("line %d: in the literal at line %d, want %d", line, got, want)
		}
	}
	// A literal of one line is the place of what it does, and of the statement that starts it.
	f = Parse("package p\n\nfunc f() {\ng(func() {\ngo func() { h() }()\n})\n}\n")
	if literal, starter := at(f.Literal(5)), at(f.Starter(5)); literal != 5 || starter != 4 {
		t.Errorf("line 5: in the literal at line %d, started by that at %d; want 5 and 4", literal, starter)
	}
}
