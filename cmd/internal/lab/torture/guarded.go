package torture

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// guarded writes a block of workers that share a variable under a lock: the
// product of cells, locks, forks and wraps. Before the fork and after the
// join the variable is its maker's alone.
func (w *writer) guarded() (body, decl string) {
	b := &guardedBlock{w: w, cell: pickOne(w, cells), lock: pickOne(w, locks),
		fork: pickOne(w, forks), decls: map[string]string{}}
	w.shape = fmt.Sprintf("%s; %s; %s", b.lock.name, b.cell.name, b.fork.name)
	w.fixed = b.cell.hasFlag("deaf")
	w.parts = map[string]string{"type": w.expand(b.cell.fields["typ"])}
	b.bubble = w.rng.IntN(12) == 0 && !strings.Contains(b.fork.codeLines("text"), "t.Run(") &&
		!strings.Contains(b.fork.codeLines("text"), "sync.Mutex")
	text := ""
	for range w.rng.IntN(3) {
		text += w.expand(b.cell.codeLines("add"))
		b.total++
	}
	text += b.workers()
	text += w.expand(fmt.Sprintf("check(t, %s, %d) //~\n", b.cell.fields["read"], b.total))
	if w.rng.IntN(3) == 0 {
		text += w.expand(b.cell.codeLines("add"))
	}
	text = w.expand(b.cell.codeLines("local")) + w.withUses(w.expand(b.lock.codeLines("local")), text) + text
	if b.bubble {
		text = "synctest.Test(t, func(t *testing.T) {\n" + text + "})\n"
	}
	decl = w.expand(b.cell.codeLines("decl")) + w.expand(b.lock.codeLines("decl"))
	for _, name := range slices.Sorted(maps.Keys(b.decls)) {
		decl += b.decls[name]
	}
	return text, decl
}

// declared finds the names of variables that a line declares.
var declared = regexp.MustCompile(`(?m)^(?:var )?(\w+(?:, \w+)*) (?::=|[\w*\[])`)

// withUses writes a use after the declarations for each variable that text
// does not use: a weakened block may not.
func (w *writer) withUses(declarations, text string) string {
	out := declarations
	for _, m := range declared.FindAllStringSubmatch(declarations, -1) {
		for name := range strings.SplitSeq(m[1], ", ") {
			if strings.HasSuffix(name, w.block) && !regexp.MustCompile(`\b`+name+`\b`).MatchString(text) {
				out += "_ = &" + name + "\n"
			}
		}
	}
	return out
}

type guardedBlock struct {
	w     *writer
	cell  part
	lock  part
	fork  part
	decls map[string]string // of wraps, by name
	total int
	// bubble: all of it runs in a bubble of testing/synctest, where nobody may
	// sleep while others wait for a mutex.
	bubble bool
}

// workers writes the fork, the workers and the join.
func (b *guardedBlock) workers() string {
	text := b.fork.codeLines("text")
	b.decls["fork"] = b.w.expand(b.fork.codeLines("decl"))
	n := 2 + b.w.rng.IntN(3)
	w := b.w
	w.parts["n"] = fmt.Sprint(n)
	if b.fork.hasFlag("loop") {
		w.parts["each"] = "_ = i\n" + b.worker(-1, n)
		return w.expand(text)
	}
	before, rest, _ := strings.Cut(text, "«workers:")
	each, after := cutBracket(rest)
	var all strings.Builder
	for i := range n {
		w.parts["worker"] = b.worker(i, 1)
		one := strings.NewReplacer("%%", "%", "%", "«worker»", "#1-", "#1-", "#", fmt.Sprint(i)).Replace(each)
		all.WriteString(w.expand(one))
	}
	return w.expand(before) + all.String() + w.expand(after)
}

// cutBracket cuts text at the end of the bracket that is open.
func cutBracket(text string) (inside, after string) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '«':
			depth++
		case r == '»' && depth == 0:
			return text[:i], text[i+len(closes):]
		case r == '»':
			depth--
		}
	}
	panic("no » in " + text)
}

// worker writes the body of worker i, or of all of them, n, in a loop over i
// where i is -1.
func (b *guardedBlock) worker(i, n int) string {
	w := b.w
	rounds := 1 + w.rng.IntN(4)
	text := fmt.Sprintf("for range %d {\n", rounds)
	text += b.writeNeighbours(i)
	if i > 0 && w.rng.IntN(4) == 0 {
		text += b.locked(w.expand("use("+b.cell.fields["read"]+") //~\n"), true, i)
	} else {
		text += b.locked(b.wrapped(), false, i)
		b.total += rounds * n
	}
	if w.rng.IntN(3) == 0 {
		text += "runtime.Gosched()\n"
	}
	return text + "}\n"
}

// writeNeighbours writes the accesses to the neighbours of the variable.
func (b *guardedBlock) writeNeighbours(i int) string {
	near := [2]string{b.w.expand(b.cell.codeLines("near 0")), b.w.expand(b.cell.codeLines("near 1"))}
	switch {
	case i == 0 || i == 1:
		return near[i]
	case i < 0 && near[0] != "":
		return "if i == 0 {\n" + near[0] + "} else if i == 1 {\n" + near[1] + "}\n"
	}
	return ""
}

// locked writes the body under the lock. Where worker 0 or all workers count,
// the lock can be weakened.
func (b *guardedBlock) locked(body string, reads bool, i int) string {
	w := b.w
	w.parts["body"] = body
	if share := b.lock.codeLines("share"); reads && share != "" {
		return w.expand(share)
	}
	right := w.expand(b.lock.codeLines("with"))
	if i > 0 {
		return right
	}
	weak := map[string]string{"no lock": body}
	for _, field := range slices.Sorted(maps.Keys(b.lock.fields)) {
		if what, ok := strings.CutPrefix(field, "weak "); ok && (i < 0) == b.lock.hasFlag("all") {
			weak[what] = "func() {\n" + w.expand(b.lock.codeLines(field)) + "}()\n"
		}
	}
	out := right
	for _, what := range slices.Sorted(maps.Keys(weak)) {
		if w.takePlace(what) {
			out = weak[what]
		}
	}
	return out
}

// wrapped writes an access that counts up, and how the worker comes to it.
func (b *guardedBlock) wrapped() string {
	w := b.w
	add := w.expand(b.cell.codeLines("add"))
	c := pickOne(w, wraps)
	for !b.fitsCell(&c) {
		c = pickOne(w, wraps)
	}
	w.parts["body"] = add
	if b.decls[c.name] == "" {
		b.decls[c.name] = w.expand(c.codeLines("decl"))
	}
	return w.expand(c.codeLines("text"))
}

// fitsCell reports whether the cell can be come to so.
func (b *guardedBlock) fitsCell(c *part) bool {
	switch {
	case c.hasFlag("handed") && b.cell.fields["typ"] == "":
		return false
	case c.hasFlag("own") && b.cell.hasFlag("whole"):
		return false
	}
	return !c.hasFlag("sleeps") || !b.bubble
}

// pickOne draws one.
func pickOne[T any](w *writer, from []T) T { return from[w.rng.IntN(len(from))] }
