package campaign

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// panicking is the goroutine that ended a process by a panic.
type panicking struct {
	message   string
	goroutine finding.Goroutine
}

var (
	panicMessage = regexp.MustCompile(`(?m)^panic: (.*)$`)
	panicStack   = regexp.MustCompile(`(?m)^(goroutine \d+) [^\n]*\[running[^\n]*\]:\n`)
)

// panicOf reads what the runtime prints when a panic ends a process.
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
	p.goroutine = parseStack(string(rest[at[2]:at[3]]) + " [running]:\n" + string(text))
	for i, f := range p.goroutine.Stack { // what comes before is how the runtime panics
		if f.Function == "panic" {
			p.goroutine.Stack = p.goroutine.Stack[i+1:]
			break
		}
	}
	for len(p.goroutine.Stack) > 0 && strings.HasPrefix(p.goroutine.Stack[0].Function, "runtime.") {
		p.goroutine.Stack = p.goroutine.Stack[1:]
	}
	return p, len(p.goroutine.Stack) > 0
}

// inside reports whether the goroutine was in the function of the section.
func (p *panicking) inside(s *plan.Section) bool {
	for _, f := range p.goroutine.Stack {
		if strings.HasSuffix(f.Function, "."+s.Function) {
			return true
		}
	}
	return false
}

// panicked takes up a process that ended in a panic: where the goroutine was in a
// section into which another had come, the section is split, and its end is the
// panic.
func (t *tally) panicked(pkg string, strength int, came []*evidence.Record, output []byte) (proven []uint32) {
	p, ok := panicOf(output)
	if !ok {
		return nil
	}
	for i := len(came) - 1; i >= 0; i-- {
		split := came[i].Split
		section := t.section(split.Section)
		if split.Entry.GID != p.goroutine.ID || !p.inside(section) || section.Kind == plan.Invariant {
			continue
		}
		if t.sight(section, sighting{*split, t.runs, t.seed, strength, pkg, true, &p}) {
			proven = append(proven, section.ID)
		}
		break // the others came into sections that had ended before
	}
	return proven
}
