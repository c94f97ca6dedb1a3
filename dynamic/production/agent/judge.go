//go:build interlock_production

package agent

import (
	"runtime"
	"strings"

	"github.com/interlock-go/interlock/dynamic/production/operands"
	"github.com/interlock-go/interlock/dynamic/production/status"
)

// seenPair is a pair of instructions that was reported.
type seenPair struct {
	count, next uint64
	race        status.Race // as it was written, without sides where it is not kept
}

// side is one access of a pair, as far as the code shows it.
type side struct {
	operands.Access
	*access
	frames []status.Frame
	named  []status.Label // labels of the goroutine
}

// judge reports the pair in a.caught, unless the code shows that the two do not conflict. requires: a.mu.
func (a *agent) judge() {
	p := &a.caught
	e1, ok := a.side(&p.e1)
	if ok {
		e2, found := a.second(p)
		if found && conflict(e1, e2) {
			a.report(e1, e2)
			return
		}
	}
	if p.how != byValue {
		a.dismissed++
		return
	}
	a.unnamed++
	if ok {
		if p, due := a.count([2]uintptr{e1.PC}); due {
			r := a.out.change(a, e1, p.count)
			a.out.write(r)
			a.keep(p, r, status.Changed, e1)
		}
	}
}

// second returns the second access of a pair.
func (a *agent) second(p *pair) (side, bool) {
	if p.how != byValue {
		return a.side(&p.e2[0]) // seen, or with byPlace one like it
	}
	// One of the threads that were asked may have stood beside its write.
	for i := range min(int(p.answers), len(p.e2)) {
		at := &p.e2[i]
		f := a.code.function(at.pc)
		if at.flags&near == 0 || f == nil || at.g == p.e1.g {
			continue
		}
		for _, found := range f.Near(at.pc, p.addr, uintptr(p.size), &at.regs) {
			if s, ok := a.placed(at, found); ok && found.Write {
				return s, true
			}
		}
	}
	return side{}, false
}

// report writes a race.
func (a *agent) report(e1, e2 side) {
	a.reported++
	if p, due := a.count([2]uintptr{e1.PC, e2.PC}); due {
		r := a.out.pair(a, e1, e2, p.count)
		a.out.write(r)
		a.keep(p, r, hows[a.caught.how], e2, e1)
	}
}

// hows are the ways of seeing a pair with two sides, as pages have them.
var hows = [...]status.How{
	byClock: status.Clock, byMeeting: status.Meeting, byValue: status.Meeting, byPlace: status.Like,
}

// count counts a pair of instructions, and reports whether it is due to be written: again as its count grows fourfold.
func (a *agent) count(key [2]uintptr) (p *seenPair, due bool) {
	p = a.seen[key]
	if p == nil {
		if len(a.seen) >= 4096 {
			return nil, false
		}
		p = &seenPair{next: 1}
		a.seen[key] = p
	}
	if p.count++; p.count < p.next {
		return p, false
	}
	p.next *= 4
	return p, true
}

// side returns what the code shows of an access.
func (a *agent) side(at *access) (s side, ok bool) {
	f := a.code.function(at.pc - 1)
	if f == nil {
		return s, false
	}
	var found operands.Access
	if at.flags&trapped != 0 {
		found, ok = f.Behind(at.pc)
		if at.flags&writes != 0 { // a register that watches writes has shown it
			found.Read, found.Write = false, true
		}
	} else {
		found, ok = f.At(at.pc)
	}
	if !ok {
		return s, false
	}
	return a.placed(at, found)
}

// placed returns the side of an access that was found in the code.
func (a *agent) placed(at *access, found operands.Access) (s side, ok bool) {
	// The stack that was taken stands at the access, or a few instructions beside it.
	s = side{found, at, framesOf(at.stack[:at.n]), labelsOf(at.labels[:])}
	exact, _ := runtime.CallersFrames([]uintptr{s.PC + 1}).Next()
	if len(s.frames) > 0 && s.frames[0].Function == exact.Function {
		s.frames[0].Line = exact.Line
	}
	if packageOf(exact.Function) == "sync/atomic" {
		s.Atomic = true // an atomic load is a plain instruction
	} else if internal(exact.Function, exact.File) {
		return s, false
	}
	for len(s.frames) > 1 && packageOf(s.frames[0].Function) == "sync/atomic" {
		s.frames = s.frames[1:]
	}
	return s, len(s.frames) > 0
}

// conflict reports whether two accesses that nothing orders are a data race. An atomic write as the first one releases
// by itself: the second access may come behind it by that.
func conflict(e1, e2 side) bool {
	if e1.Atomic && (e1.Write || e2.Atomic) {
		return false
	}
	sure := e1.Write && !e1.Read || e2.Write && !e2.Read
	return sure && !(e1.Atomic && e2.Atomic)
}

// internal reports whether a function of a file synchronises by means of its own, and so accesses memory as it likes:
// it is of the runtime, whatever its name is (time.Sleep is), of packages that work with the runtime, or assembly.
func internal(function, file string) bool {
	for _, of := range []string{"runtime/", "internal/runtime/"} {
		if strings.HasPrefix(file, of) || strings.Contains(file, "/src/"+of) {
			return true
		}
	}
	pkg := packageOf(function)
	switch pkg {
	case "runtime", "sync", "internal/sync", "internal/race", "internal/abi", "internal/poll", "syscall":
		return true
	}
	return strings.HasPrefix(pkg, "internal/runtime/") || strings.HasPrefix(pkg, "runtime/") || function == "" ||
		strings.HasSuffix(file, ".s")
}

// packageOf returns the package of a function, such as a/b of a/b.(*T).M.
func packageOf(function string) string {
	slash := strings.LastIndexByte(function, '/')
	dot := strings.IndexByte(function[slash+1:], '.')
	if dot < 0 {
		return function
	}
	return function[:slash+1+dot]
}
