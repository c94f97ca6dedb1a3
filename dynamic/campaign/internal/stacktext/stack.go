// Package stacktext reads the stacks of goroutines that the monitor and the runtime print.
package stacktext

import (
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// MonitorFrames begins the names of the monitor's own functions.
const MonitorFrames = "interlock.invalid/rt."

// LockFrames begins the names of those that stand between the program and its locks.
const LockFrames = "interlock.invalid/rt/locks."

// start is the function by which the runtime starts a goroutine. runtime.Callers has it, runtime.Stack has not.
const start = "runtime.goexit"

// Parse reads the text of runtime.Stack for one goroutine: its id, its
// frames from the innermost, the go statement that made it. Monitor frames on
// top are dropped, and so is the runtime's start of the goroutine. Text
// that was cut short yields the frames before the cut;
// lines that are none of a stack are passed over.
func Parse(text string) finding.Goroutine {
	var g finding.Goroutine
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if rest, ok := strings.CutPrefix(lines[0], "goroutine "); ok {
		id, _, _ := strings.Cut(rest, " ")
		g.ID, _ = strconv.ParseInt(id, 10, 64)
		lines = lines[1:]
	}
	for i := 0; i+1 < len(lines); i++ {
		file, line, ok := parsePosition(lines[i+1])
		if !ok {
			continue
		}
		name, created := strings.CutPrefix(lines[i], "created by ")
		i++
		if name = functionName(name, created); name == "" || name == start {
			continue
		}
		frame := finding.Frame{Function: name, File: file, Line: line}
		switch {
		case created:
			g.Created = append(g.Created, frame)
		case len(g.Stack) == 0 && strings.HasPrefix(name, MonitorFrames):
		case strings.HasPrefix(name, LockFrames): // and the functions that these have called
			g.Stack = nil
		default:
			g.Stack = append(g.Stack, frame)
		}
	}
	return g
}

// functionName strips the text behind the name: the arguments of a call, or the
// goroutine that made this one.
func functionName(s string, created bool) string {
	if created {
		s, _, _ = strings.Cut(s, " in goroutine ")
		return s
	}
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return ""
	}
	return s[:open]
}

// parsePosition reads the second line of a frame: a tab, the file, a colon,
// the line, and mostly an offset. A path may hold blanks and colons.
func parsePosition(s string) (file string, line int, ok bool) {
	s, ok = strings.CutPrefix(s, "\t")
	if !ok {
		return "", 0, false
	}
	if i := strings.LastIndex(s, " +0x"); i >= 0 {
		s = s[:i]
	}
	i := strings.LastIndexByte(s, ':')
	if i <= 0 {
		return "", 0, false
	}
	line, err := strconv.Atoi(s[i+1:])
	return s[:i], line, err == nil && line > 0
}

// UserFrame returns the innermost frame of the module, or the innermost of all.
func UserFrame(stack []finding.Frame) finding.Frame {
	for _, f := range stack {
		if !filepath.IsAbs(filepath.FromSlash(f.File)) {
			return f
		}
	}
	return stack[0]
}

// SplitName splits the name of a function in a stack behind its package's path. The runtime writes the dots in the
// last element of a path as %2e, which the path that is returned has not.
func SplitName(name string) (pkg, function string) {
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return "", name
	}
	pkg = name[:slash+dot]
	if path, err := url.PathUnescape(pkg); err == nil {
		pkg = path
	}
	return pkg, name[slash+dot+1:]
}
