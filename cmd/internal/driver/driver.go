// Package driver runs the static passes over the packages of a module, by way
// of the go command: `go vet -vettool=<this program>`. The go command finds
// the packages, keeps the results of unchanged ones in its cache, and runs
// one process of this program a package; each hands back a summary.
//
// A program that calls [Vet] must hand over to [Main] when [IsVetTool] says
// that it was started by the go command.
package driver

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/pass/directives"
	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/analyzers/summary"
	"github.com/interlock-go/interlock/patchgen/quickfix"
)

// Options select the packages to analyse, and how.
type Options struct {
	Dir        string   // where to run the go command; empty: the current directory
	Patterns   []string // packages, as the go command takes them; none: "."
	BuildFlags []string // for the go command, such as -tags=x
	Tool       string   // the vet tool; empty: this program
	Invariants bool     // find all candidates of atomic sections too
	Thorough   bool     // look for endless waits in all of a large package
	// Progress, if set, is called as packages are done, from one goroutine. Its text names the things that
	// are counted, and the packages that it is about.
	Progress func(done, total int, what string)
	Env      []string // added to the environment of this process
	// Temp is a folder for temporary files, of the go command too. The caller
	// removes it, if this process is killed as well. "" is the system's.
	Temp string
	Work string // the user's go.work, where GOWORK names a copy of it; empty: that of the go command
}

// Result is the findings of the passes in all packages together. Files are slash
// paths relative to Root, where they lie below it.
type Result struct {
	Root     string // absolute folder of the main module, or of the go.work in force
	Path     string // path of the main module
	Packages []string
	Findings []*finding.Finding // sorted and sealed over the module
	Skips    []Skip
	Guarded  []Skip                   // may be skipped too, except a part of them: nobody has proven it
	Locks    map[string]summary.Locks // by package
	// Sections are those that comments declare, and candidates if asked for.
	Sections []invariants.Section
	// GaveUp is which passes did not finish which functions, for their size.
	GaveUp []string
	// LeftOut lists, in a sentence a package, tests that were left out, as no required module provides their imports.
	LeftOut []string
	// Problems say which packages were not analysed and why, and which directives make
	// no sense; no finding there does not mean that there is none.
	Problems []string
	// Ignores are the findings that people have accepted in comments. Unused lists, in sentences, those
	// that no check needs.
	Ignores []directives.Ignore
	Unused  []string
	// Uncompiled is the compiler's output on packages that do not compile,
	// with its positions, where others do: the result is that of the others.
	Uncompiled string
}

// Skip is an access that needs no monitor, by the start of its expression.
type Skip struct {
	File         string
	Line, Column int
	Mode         finding.Mode
	Map          bool // the map itself, not the variable that holds it
	Reason       summary.Reason
}

// CompileError reports that no package could be analysed, as some do not compile
// and the others depend on them. Output is that of the compiler,
// with its positions.
type CompileError struct{ Output string }

func (e *CompileError) Error() string {
	return "the packages do not compile:\n" + strings.TrimRight(e.Output, "\n")
}

// Vet analyses the packages. Errors are a [*gocmd.ConfigError], a [*CompileError],
// that of ctx, or a failure to run the go command. When ctx ends, the go
// command and its children are interrupted, and killed if they do not end soon.
func Vet(ctx context.Context, o Options) (*Result, error) {
	tool, err := o.tool()
	if err != nil {
		return nil, err
	}
	list, err := listPackages(ctx, &o)
	if err != nil {
		return nil, err
	}
	v := o.vet(ctx, list, append([]string{"vet", "-vettool=" + tool, "-json"}, o.toolFlags(list)...))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	m := newMerger(list)
	if err := m.read(v.stdout); err != nil {
		return nil, err
	}
	if err := m.without(v); err != nil {
		return nil, err
	}
	return m.finish(), nil
}

// toolFlags returns the flags of the vet tool. The go command keeps its results by them.
func (o *Options) toolFlags(list *packageList) []string {
	flags := []string{"-" + summary.Name + ".emit"}
	if !list.unversioned {
		flags = append(flags, "-"+summary.Name+".modules="+strings.Join(list.modules, ","))
	}
	if o.Invariants {
		flags = append(flags, "-"+summary.Name+".invariants")
	}
	if o.Thorough {
		flags = append(flags, "-"+summary.Name+".thorough")
	}
	return flags
}

func (o *Options) tool() (string, error) {
	if o.Tool != "" {
		return o.Tool, nil
	}
	tool, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding this program, to run it as a vet tool: %w", err)
	}
	return tool, nil
}

// IsVetTool reports whether the go command runs this program as a vet tool,
// given its arguments without the program's name.
func IsVetTool(args []string) bool {
	if len(args) == 0 {
		return false
	}
	last := args[len(args)-1]
	return args[0] == "-V=full" || args[0] == "-flags" || strings.HasSuffix(last, ".cfg")
}

// Main serves as the vet tool for one package and exits.
func Main() {
	if strings.HasSuffix(os.Args[len(os.Args)-1], ".cfg") {
		if outside(os.Args[1:]) {
			os.Exit(0)
		}
		args, err := inside(os.Args[1:])
		if err != nil {
			fmt.Fprintf(os.Stderr, "interlock: %v\n", err)
			os.Exit(1)
		}
		os.Args = append(os.Args[:1], args...)
	}
	collectLater()
	analyzers := append(checks(os.Args[1:]), summary.Analyzer)
	if u, err := readUnit(os.Args[1:]); err == nil && u.VetxOnly {
		analyzers = factsOnly(analyzers)
	}
	unitchecker.Main(analyzers...)
}

// factsOnly returns the analyzers for a package of which only the facts are asked for: those that export facts, with
// the analyzers that they require. The others are there for their flags and do nothing. unitchecker itself leaves out
// those alone that depend on no facts, which would run every check.
func factsOnly(all []*analysis.Analyzer) []*analysis.Analyzer {
	var list []*analysis.Analyzer
	seen := map[*analysis.Analyzer]bool{}
	var add func(a *analysis.Analyzer)
	add = func(a *analysis.Analyzer) {
		if seen[a] {
			return
		}
		seen[a] = true
		if len(a.FactTypes) > 0 {
			list = append(list, a)
		}
		for _, r := range a.Requires {
			add(r)
		}
	}
	for _, a := range all {
		add(a)
		if len(a.FactTypes) == 0 {
			idle := *a
			idle.Requires, idle.ResultType = nil, nil
			idle.Run = func(*analysis.Pass) (any, error) { return nil, nil }
			list = append(list, &idle)
		}
	}
	return list
}

// collectLater leaves the heap of a vet tool alone until it has grown to a size that any machine has room for: most
// packages need less. The collector runs as usual from the first time on, except that a large heap does not grow to the
// double of its live part: it stays below the limit, or grows by half where it has to be above.
func collectLater() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	const room, large = 256 << 20, 1650 << 20
	debug.SetMemoryLimit(room)
	percent := debug.SetGCPercent(-1)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	// A finalizer runs after each collection, and leaves an object for the next one.
	var collected func(*[16]byte)
	collected = func(*[16]byte) {
		metrics.Read(live)
		size := int64(live[0].Value.Uint64())
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(max(large, size+size/2))
		runtime.SetFinalizer(new([16]byte), collected)
	}
	runtime.SetFinalizer(new([16]byte), collected)
}

// checks returns those that serve the arguments: with patches, which take time, only where
// they are applied or printed.
func checks(args []string) []*analysis.Analyzer {
	wanted := slices.ContainsFunc(args, func(a string) bool { return a == "-fix" || a == "-fix=true" })
	switch u, err := readUnit(args); {
	case err == nil && u.VetxOnly:
		return registry.Analyzers()
	case !wanted || err != nil:
		return levels.Shown(registry.Analyzers(), nil, nil)
	}
	return quickfix.Checks(func(reason string) { fmt.Fprintf(os.Stderr, "interlock: %s\n", reason) })
}
