package rt_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// What lies on a goroutine's own stack is never watched, at whichever call of the
// monitor the stack moves. The programs access nothing else, but in section 2.
func TestStacksMove(t *testing.T) {
	for _, program := range []string{"cleanStacksGrow", "cleanStacksShrink"} {
		for seed := range min(runs(t), 5) {
			r := (&run{program: program, seed: seed, env: []string{widest, "INTERLOCK_SECTIONS=1-2"}}).do(t)
			r.expectClean(t)
			s := r.stats()
			if s.Counters == nil || s.Counters.OnStack == 0 || s.Counters.Windows != 0 || len(r.races()) != 0 {
				t.Errorf("%s, seed %d: %d races, counters %+v, want accesses on the stack and no window",
					program, seed, len(r.races()), s.Counters)
			}
			ended := 0
			for _, e := range s.Ended {
				ended += e.Times
				if e.Section != 2 {
					t.Errorf("%s, seed %d: a section on a stack was opened: %+v", program, seed, e)
				}
			}
			if ended == 0 {
				t.Errorf("%s, seed %d: no section on shared memory has come to its end", program, seed)
			}
		}
	}
}

// An address on a stack is good for as long as nothing can move that: the monitor
// makes numbers of pointers in functions that cannot grow it, or keeps three bits.
func TestAddressesAreNumbersInOnePlace(t *testing.T) {
	const mode = packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	pkgs, err := packages.Load(&packages.Config{Mode: mode}, ".")
	if err != nil || len(pkgs) != 1 || len(pkgs[0].Errors) != 0 {
		t.Fatal(err, pkgs)
	}
	fset, info := pkgs[0].Fset, pkgs[0].TypesInfo
	found := 0
	for _, f := range pkgs[0].Syntax {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			nosplit := strings.Contains(pragmas(fn), "//go:nosplit\n") && strings.Contains(pragmas(fn), "//go:noinline\n")
			masked := map[ast.Node]bool{}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					if mask := info.Types[n.Y].Value; n.Op == token.AND && mask != nil && len(mask.String()) <= 2 {
						ast.Inspect(n.X, func(n ast.Node) bool { masked[n] = true; return true })
					}
				case ast.Expr:
					if !numberOfPointer(info, n) {
						return true
					}
					found++
					if !nosplit && !masked[n] {
						t.Errorf("%s: %s makes a number of a pointer, and its stack may move", fset.Position(n.Pos()), fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	if found < 10 {
		t.Errorf("%d numbers are made of pointers: the test does not find them", found)
	}
}

// pragmas returns the comment of fn, directives included.
func pragmas(fn *ast.FuncDecl) (text string) {
	if fn.Doc != nil {
		for _, c := range fn.Doc.List {
			text += c.Text + "\n"
		}
	}
	return text
}

// numberOfPointer reports whether e converts an unsafe.Pointer to a number, or reads
// a pointer as one: *(*uintptr)(unsafe.Pointer(&p)).
func numberOfPointer(info *types.Info, e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.CallExpr:
		return len(e.Args) == 1 && info.Types[e.Fun].IsType() && isBasic(info.TypeOf(e), types.Uintptr) &&
			isBasic(info.TypeOf(e.Args[0]), types.UnsafePointer)
	case *ast.StarExpr:
		c, ok := ast.Unparen(e.X).(*ast.CallExpr)
		return ok && !info.Types[e].IsType() && len(c.Args) == 1 && isBasic(info.TypeOf(e), types.Uintptr) &&
			isBasic(info.TypeOf(c.Args[0]), types.UnsafePointer)
	}
	return false
}

func isBasic(t types.Type, kind types.BasicKind) bool {
	b, ok := types.Unalias(t).(*types.Basic)
	return ok && b.Kind() == kind
}

// The functions that make numbers of pointers, and what they call, have no check
// of the stack's end in the machine code.
func TestAddressGrowsNoStack(t *testing.T) {
	binary, err := buildWatch()
	if err != nil {
		t.Fatal(err)
	}
	const symbols = `^interlock\.invalid/rt\.(address|stackDepth|getg)(\.abi0)?$`
	text, err := exec.Command("go", "tool", "objdump", "-s", symbols, binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"address", "stackDepth", "getg"} {
		if !regexp.MustCompile(`(?m)^TEXT interlock\.invalid/rt\.` + name + `(\.abi0)?\(SB\)`).Match(text) {
			t.Errorf("%s has no machine code of its own", name)
		}
	}
	for line := range strings.Lines(string(text)) {
		call := regexp.MustCompile(`CALL (\S+)`).FindStringSubmatch(line)
		if strings.Contains(line, "morestack") || call != nil && !strings.HasPrefix(call[1], "interlock.invalid/rt.getg") {
			t.Errorf("may grow the stack: %s", line)
		}
	}
}
