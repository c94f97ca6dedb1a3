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

// PanicOf reads what the runtime prints when a panic or a fatal error ends a process.
func PanicOf(output []byte) (p Panic, ok bool) {
	m := panicMessage.FindSubmatchIndex(output)
	if m == nil {
		return p, false
	}
	p.Message = string(output[m[2]:m[3]])
	rest := output[m[1]:]
	at := panicStack.FindSubmatchIndex(rest)
	if at == nil {
		return p, false
	}
	text, _, _ := bytes.Cut(rest[at[1]:], []byte("\n\n"))
	p.Goroutine = Parse(string(rest[at[2]:at[3]]) + " [running]:\n" + string(text))
	for i, f := range slices.Backward(p.Goroutine.Stack) { // what comes before is how the runtime panics, and panics again
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

// IsRuntime reports whether a function is one by which the runtime or package sync
// fails.
func IsRuntime(function string) bool {
	for _, p := range []string{"runtime.", "internal/runtime/", "internal/sync.", "sync."} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

// PanicMessage returns the message of the panic or fatal error that ended a process, or "".
func PanicMessage(output []byte) string {
	m := panicMessage.FindSubmatch(output)
	if m == nil {
		return ""
	}
	return string(m[1])
}
