package stacktext

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Panic is how a goroutine ended a process.
type Panic struct {
	Message   string
	Goroutine finding.Goroutine
}

var (
	panicMessage = regexp.MustCompile(`(?m)^(?:panic|fatal error): (.*)$`)
	panicStack   = regexp.MustCompile(`(?m)^(goroutine \d+) [^\n]*\[running[^\n]*\]:\n`)
)

// Crash returns the output of the runtime when it ended a process, from the message on; nil if it did not end it.
//
// kept is the runtime's copy of it, which no other process writes to. If there is one, only it counts: a process
// that was started, and crashed on purpose, prints the same to output. The message of a fatal error is missing in
// the copy, and is found in output in front of it. Where hasCopy is false, only a text that ends the output counts.
func Crash(output, kept []byte, hasCopy bool) []byte {
	switch {
	case hasCopy && len(kept) == 0:
		return nil
	case hasCopy && panicMessage.Match(kept):
		return kept
	case hasCopy:
		return slices.Concat(messageBefore(output, kept), kept)
	}
	all := panicMessage.FindAllIndex(output, -1)
	if len(all) == 0 {
		return nil
	}
	text := output[all[len(all)-1][0]:]
	if !goroutineLine.Match(text) || len(crashLines.ReplaceAll(text, nil)) > 0 {
		return nil
	}
	return text
}

// crashLines are the lines that the runtime prints in a crash:
//
//	panic: close of closed channel [recovered, repanicked]
//	[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x478a71]
//
//	goroutine 7 [running]:
//	example.com/m.F(0x1)
//		/m/m.go:26 +0x1
//	created by example.com/m.G in goroutine 1
//		/m/m.go:30 +0x1
var crashLines = regexp.MustCompile(`(?m)^(?:(?:panic|fatal error): .*|\t.*|\[.*|goroutine \d.*|runtime stack:|` +
	`\.\.\..*|[^\s].*\n\t.*|PC=0x.*|[a-z]+\d*\s+0x[0-9a-f]+|exit status \d+)?(?:\n|\z)`)

var goroutineLine = regexp.MustCompile(`(?m)^goroutine \d+ `)

// messageBefore returns the message that stands in output directly in front of a copy's first goroutine, with the empty
// line in between; nil where there is none.
func messageBefore(output, kept []byte) []byte {
	first, _, _ := bytes.Cut(bytes.TrimSpace(kept), []byte("\n\n"))
	before := output[:max(bytes.LastIndex(output, first), 0)]
	all := panicMessage.FindAllIndex(before, -1)
	if len(all) == 0 {
		return nil
	}
	last := all[len(all)-1]
	if rest := before[last[1]:]; len(crashLines.ReplaceAll(rest, nil)) > 0 || goroutineLine.Match(rest) {
		return nil // that of another crash
	}
	return before[last[0]:]
}

// PanicOf reads a [Crash].
func PanicOf(crash []byte) (p Panic, ok bool) {
	m := panicMessage.FindSubmatchIndex(crash)
	if m == nil {
		return p, false
	}
	p.Message = string(crash[m[2]:m[3]])
	rest := crash[m[1]:]
	at := panicStack.FindSubmatchIndex(rest)
	if at == nil {
		return p, false
	}
	text, _, _ := bytes.Cut(rest[at[1]:], []byte("\n\n"))
	p.Goroutine = Parse(string(rest[at[2]:at[3]]) + " [running]:\n" + string(text))
	for i, f := range slices.Backward(p.Goroutine.Stack) { // the frames above are those of the panic, and of a second one
		if f.Function == "panic" {
			p.Goroutine.Stack = p.Goroutine.Stack[i+1:]
			break
		}
	}
	isUsers := func(f finding.Frame) bool {
		return !IsRuntime(f.Function) && !strings.HasPrefix(f.Function, MonitorFrames)
	}
	if i := slices.IndexFunc(p.Goroutine.Stack, isUsers); i >= 0 {
		p.Goroutine.Stack = p.Goroutine.Stack[i:]
	} else {
		p.Goroutine.Stack = nil
	}
	return p, len(p.Goroutine.Stack) > 0
}

// PanickedTest returns the test that the goroutine is of which ended a process, as its calls and the go statement show
// that; "" where they do not.
func PanickedTest(crash []byte) string {
	p, _ := PanicOf(crash)
	for _, f := range slices.Concat(p.Goroutine.Stack, p.Goroutine.Created) {
		if test := testOfFrame(f.Function); test != "" && strings.HasSuffix(f.File, "_test.go") {
			return test
		}
	}
	return ""
}

// IsRuntime reports whether a function is one by which the runtime or package sync
// fails.
func IsRuntime(function string) bool {
	for _, p := range []string{"runtime.", "internal/runtime/", "internal/sync.", "internal/race.", "sync."} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

// PanicMessage returns the message of the panic or fatal error in a [Crash], or "".
func PanicMessage(crash []byte) string {
	m := panicMessage.FindSubmatch(crash)
	if m == nil {
		return ""
	}
	return string(m[1])
}
