package hb

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// sources are the files of a Go installation with the functions that the runtime expects of race
// detection, and those of sync/atomic.
type sources struct {
	with     *source   // runtime/race.go
	without  *source   // runtime/race0.go: a stub of each hook that the runtime calls
	pointers *source   // runtime/atomic_pointer.go: those operations of sync/atomic that are built on others
	atomic   []*source // sync/atomic/doc*.go
	channels *source   // runtime/chan.go
	conds    *source   // runtime/sema.go
}

// source is a file, and its functions by name.
type source struct {
	text  []byte
	fset  *token.FileSet
	funcs map[string]*ast.FuncDecl
	order []string
}

func parseSource(name string, text []byte) (*source, error) {
	s := &source{text: text, fset: token.NewFileSet(), funcs: map[string]*ast.FuncDecl{}}
	f, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			s.funcs[fn.Name.Name] = fn
			s.order = append(s.order, fn.Name.Name)
		}
	}
	return s, nil
}

// of returns the text of a function, with its comment, which holds directives.
func (s *source) of(fn *ast.FuncDecl) string {
	from := fn.Pos()
	if fn.Doc != nil {
		from = fn.Doc.Pos()
	}
	return s.between(from, fn.End())
}

func (s *source) between(from, to token.Pos) string {
	return string(s.text[s.fset.Position(from).Offset:s.fset.Position(to).Offset])
}

func readSources(goroot string) (*sources, error) {
	read := func(name ...string) (*source, error) {
		file := filepath.Join(append([]string{goroot, "src"}, name...)...)
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		return parseSource(file, text)
	}
	var s sources
	var errs [7]error
	s.with, errs[0] = read("runtime", "race.go")
	s.without, errs[1] = read("runtime", "race0.go")
	s.pointers, errs[2] = read("runtime", "atomic_pointer.go")
	s.atomic = make([]*source, 2)
	s.atomic[0], errs[3] = read("sync", "atomic", "doc.go")
	s.atomic[1], errs[4] = read("sync", "atomic", "doc_64.go")
	s.channels, errs[5] = read("runtime", "chan.go")
	s.conds, errs[6] = read("runtime", "sema.go")
	return &s, errors.Join(errs[:]...)
}

// chans returns runtime/chan.go with a call in the two functions by which all operations of
// channels that have an effect go.
func (s *sources) chans() ([]byte, error) {
	return s.channels.withCalls([]insertion{
		{"racenotify", "(c *hchan, idx uint, sg *sudog)", "", "hbTraceChan(c, sg)"},
		{"racesync", "(c *hchan, sg *sudog)", "", "hbTraceChan(c, sg); if hbMeet(sg) { return }"},
	})
}

// semaphores returns runtime/sema.go with hooks for sync.Cond, which has none: Signal and Broadcast synchronise before
// the Wait that they unblock, whatever its Locker orders. Where nobody waits, they have returned before the lock.
func (s *sources) semaphores() ([]byte, error) {
	const lock = "lockWithRank(&l.lock, lockRankNotifyList)"
	return s.conds.withCalls([]insertion{
		{"notifyListWait", "(l *notifyList, t uint32)", "", "defer raceacquire(unsafe.Pointer(l))"},
		{"notifyListNotifyAll", "(l *notifyList)", lock, "racereleasemerge(unsafe.Pointer(l))"},
		{"notifyListNotifyOne", "(l *notifyList)", lock, "racereleasemerge(unsafe.Pointer(l))"},
	})
}

// insertion is a call that is added to a function with these parameters: before the one place that has a text, or at
// the start where that is "".
type insertion struct{ function, parameters, before, call string }

// withCalls returns the text of a file with calls in functions, each of which it must have.
func (s *source) withCalls(all []insertion) ([]byte, error) {
	calls := map[int]string{} // by where they go
	for _, in := range all {
		fn := s.funcs[in.function]
		if fn == nil || s.between(fn.Type.Params.Pos(), fn.Type.Params.End()) != in.parameters {
			return nil, fmt.Errorf("it has no %s%s as the engine knows it", in.function, in.parameters)
		}
		at, body := s.fset.Position(fn.Body.Lbrace).Offset+1, s.between(fn.Body.Lbrace+1, fn.Body.Rbrace)
		if in.before != "" {
			before, after, _ := strings.Cut(body, in.before)
			if len(before) == len(body) || strings.Contains(after, in.before) {
				return nil, fmt.Errorf("its %s does not call %s once, as the engine knows it", in.function, in.before)
			}
			at += len(before)
		}
		calls[at] = " " + in.call + "; "
	}
	text := slices.Clone(s.text)
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(calls))) { // the last one first, so that offsets stay
		text = slices.Insert(text, at, []byte(calls[at])...)
	}
	return text, nil
}

// race returns the part of runtime/race.go that does not bind the C++ runtime: the functions
// that internal/race and users call, made of functions that ours defines. Each hook that the runtime calls
// must be in one of the two.
func (s *sources) race(ours map[string][]byte) ([]byte, error) {
	defined := map[string]bool{}
	for name, text := range ours {
		f, err := parseSource(name, text)
		if err != nil {
			return nil, err
		}
		for fn := range f.funcs {
			defined[fn] = true
		}
	}
	out := bytes.NewBufferString(raceHeader)
	for _, name := range s.with.order {
		if fn := s.with.funcs[name]; !defined[name] && isKept(fn) {
			fmt.Fprintf(out, "%s\n\n", s.with.of(fn))
			defined[name] = true
		}
	}
	var missing []string
	for _, hook := range s.without.order {
		if !defined[hook] {
			missing = append(missing, hook)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("its runtime calls hooks that the engine does not have (%s)", strings.Join(missing, ", "))
	}
	return format.Source(out.Bytes())
}

const raceHeader = `//go:build race

package runtime

import (
	"internal/abi"
	"unsafe"
)

const raceenabled = true

`

// isKept reports whether a function of runtime/race.go is about Go code alone: exported, pushed
// to internal/race, or about objects of a type.
func isKept(fn *ast.FuncDecl) bool {
	name := fn.Name.Name
	return fn.Body != nil &&
		(ast.IsExported(name) || strings.HasPrefix(name, "race_") || strings.HasSuffix(name, "ObjectPC"))
}

// atomics returns bodies for the functions of sync/atomic, which are declared without. Each
// is the runtime's own operation between hbAtomicBegin and hbAtomicEnd.
func (s *sources) atomics() ([]byte, error) {
	out := bytes.NewBufferString(atomicHeader)
	for _, file := range s.atomic {
		for _, name := range file.order {
			fn := file.funcs[name]
			if p := s.pointers.funcs["sync_atomic_"+name]; fn.Body != nil || p != nil && p.Body != nil {
				continue
			}
			body, err := atomicBody(name)
			if err != nil {
				return nil, err
			}
			signature := strings.TrimPrefix(file.between(fn.Type.Pos(), fn.Type.End()), "func "+name)
			fmt.Fprintf(out, "//go:linkname hb_%s sync/atomic.%s\n//go:nosplit\n", name, name)
			fmt.Fprintf(out, "func hb_%s%s {\n%s}\n\n", name, signature, body)
		}
	}
	return format.Source(out.Bytes())
}

const atomicHeader = `package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

`

// operation is that of a group of functions of sync/atomic.
type operation struct {
	name     string // their names begin with it
	kind     string
	acquires bool
	call     string // of the runtime's own, in the words of operand
	stored   string // whether it has stored something
}

// operand holds the parts that depend on the type: the end of the names of the runtime's functions (WIDTH of
// And and Or), the type of the memory, of the result, and of the operand that is added.
type operand struct{ END, WIDTH, MEMORY, RESULT, DELTA string }

var operations = []operation{
	{"CompareAndSwap", "hbWrite", true, "swapped = atomic.CasEND(AT, MEMORY(old), MEMORY(new))", "swapped"},
	{"Load", "hbRead", true, "val = RESULT(atomic.LoadEND(AT))", "false"},
	{"Store", "hbWrite", false, "atomic.StoreEND(AT, MEMORY(val))", "true"},
	{"Swap", "hbWrite", true, "old = RESULT(atomic.XchgEND(AT, MEMORY(new)))", "true"},
	{"Add", "hbWrite", true, "new = RESULT(atomic.XaddEND(AT, DELTA(delta)))", "true"},
	{"And", "hbWrite", true, "old = RESULT(atomic.AndWIDTH(AT, MEMORY(mask)))", "true"},
	{"Or", "hbWrite", true, "old = RESULT(atomic.OrWIDTH(AT, MEMORY(mask)))", "true"},
}

var operands = map[string]operand{
	"Int32":   {"", "32", "uint32", "int32", "int32"},
	"Uint32":  {"", "32", "uint32", "uint32", "int32"},
	"Int64":   {"64", "64", "uint64", "int64", "int64"},
	"Uint64":  {"64", "64", "uint64", "uint64", "int64"},
	"Uintptr": {"uintptr", "uintptr", "uintptr", "uintptr", "uintptr"},
	// Only Load: the others are built on those of uintptr.
	"Pointer": {"p", "p", "byte", "unsafe.Pointer", ""},
}

// atomicBody returns the body of a function of sync/atomic, such as AddInt32.
func atomicBody(name string) (string, error) {
	i := slices.IndexFunc(operations, func(o operation) bool { return strings.HasPrefix(name, o.name) })
	if i < 0 {
		return "", fmt.Errorf("its sync/atomic has an operation that the engine does not know (%s)", name)
	}
	o := operations[i]
	on, known := operands[strings.TrimPrefix(name, o.name)]
	if !known {
		return "", fmt.Errorf("its sync/atomic has an operation that the engine does not know (%s)", name)
	}
	at := "(*" + on.MEMORY + ")(unsafe.Pointer(addr))"
	if on.MEMORY == "byte" {
		at = "unsafe.Pointer(addr)"
	}
	call := strings.NewReplacer(
		"AT", at, "END", on.END, "WIDTH", on.WIDTH, "MEMORY", on.MEMORY, "RESULT", on.RESULT, "DELTA", on.DELTA,
	).Replace(o.call)
	return "\t_ = *addr\n" + // a nil pointer is to show here
		fmt.Sprintf("\tg, s := hbAtomicBegin(unsafe.Pointer(addr), %s, %v, sys.GetCallerPC())\n", o.kind, o.acquires) +
		fmt.Sprintf("\t%s\n\thbAtomicEnd(unsafe.Pointer(addr), g, s, %s)\n\treturn\n", call, o.stored), nil
}
