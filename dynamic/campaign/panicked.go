package campaign

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// panicking is the goroutine that ended a process by a panic.
type panicking struct {
	message   string
	goroutine finding.Goroutine
}

var (
	panicMessage = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)
	panicStack   = regexp.MustCompile(`(?m)^(goroutine \d+) [^\n]*\[running[^\n]*\]:\n`)
)

// panicOf reads what the runtime prints when a panic or a fatal error ends a process.
func panicOf(output []byte) (p panicking, ok bool) {
	m := panicMessage.FindSubmatchIndex(output)
	if m == nil {
		return p, false
	}
	p.message = string(output[m[2]:m[3]])
	rest := output[m[1]:]
	at := panicStack.FindSubmatchIndex(rest)
	if at == nil {
		return p, false
	}
	text, _, _ := bytes.Cut(rest[at[1]:], []byte("\n\n"))
	p.goroutine = stacktext.Parse(string(rest[at[2]:at[3]]) + " [running]:\n" + string(text))
	for i, f := range slices.Backward(p.goroutine.Stack) { // what comes before is how the runtime panics, and panics again
		if f.Function == "panic" {
			p.goroutine.Stack = p.goroutine.Stack[i+1:]
			break
		}
	}
	for len(p.goroutine.Stack) > 0 && isRuntime(p.goroutine.Stack[0].Function) {
		p.goroutine.Stack = p.goroutine.Stack[1:]
	}
	return p, len(p.goroutine.Stack) > 0
}

// isRuntime reports whether a function is one by which the runtime or package sync
// fails.
func isRuntime(function string) bool {
	return slices.ContainsFunc([]string{"runtime.", "internal/runtime/", "internal/sync.", "sync."}, func(p string) bool { return strings.HasPrefix(function, p) })
}

// inside reports whether the goroutine was between the section's entry and the last
// of its ends, as far as lines say.
func (t *tally) inside(p *panicking, s *plan.Section) bool {
	first, last := t.position(s.Entry).Line, 0
	if s.EntryCall != nil {
		first = s.EntryCall.Line
	}
	for _, e := range s.Ends {
		line := t.position(e.Site).Line
		if e.EndCall != nil {
			line = e.EndCall.EndLine
		}
		last = max(last, line)
	}
	for _, f := range p.goroutine.Stack {
		if strings.HasSuffix(f.Function, "."+s.Function) {
			return first <= f.Line && f.Line <= last
		}
	}
	return false
}

// panicked takes up a process that ended in a panic: where the goroutine was in a
// section into which another had come, the section is split, and its end is the
// panic. Where it panicked at a read of the section's variable, which by then held
// another value, the split is why.
func (t *tally) panicked(pkg string, strength int, came []*evidence.Record, output []byte) {
	p, ok := panicOf(output)
	if _, fatal := fatalOf(output); !ok || fatal {
		return
	}
	for _, record := range slices.Backward(came) {
		split := *record.Split
		section := t.section(split.Section)
		if split.Entry.GID != p.goroutine.ID || section.Kind == plan.Invariant || !t.inside(&p, section) {
			continue
		}
		used := record.Kind == evidence.Used
		if used && !p.at(t.position(split.End.Site)) {
			continue
		}
		split.End = nil
		t.sight(section, sighting{split: split, run: t.runs, seed: t.seed, strength: strength, test: pkg, panicked: &p, used: used})
		return // the others came into sections that had ended before
	}
}

// at reports whether the goroutine panicked by an error of the runtime, such as an
// index out of range, on the line.
func (p *panicking) at(place finding.Position) bool {
	top := p.goroutine.Stack[0]
	return strings.HasPrefix(p.message, "runtime error: ") && top.Line == place.Line && strings.HasSuffix(filepath.ToSlash(top.File), "/"+place.File)
}
