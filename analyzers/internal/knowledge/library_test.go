package knowledge

import (
	"flag"
	"go/importer"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// imports reads the types of packages of the standard library from what the go command has compiled.
var imports = importer.Default()

var update = flag.Bool("update", false, "write the parts of the table that other rooms have")

func TestPartsAreFresh(t *testing.T) {
	for _, p := range parts {
		want, err := p.source()
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("../../..", p.file)
		if *update {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != string(want) {
			t.Errorf("%s is stale (%v); mend it with: go test ./analyzers/internal/knowledge -update", p.file, err)
		}
	}
}

// Every name in a row is there in the library, so that a slip of the pen is seen.
func TestRowsNameFunctions(t *testing.T) {
	form := regexp.MustCompile(`^(\w+|\w+\.\w+|\*\.\w+|\w+\.\*|\*\.\*)$`)
	for _, r := range library {
		for name := range strings.FieldsSeq(r.names) {
			if !form.MatchString(name) {
				t.Errorf("%s: %q is no name of a function or method", r.pkg, name)
			}
		}
		if strings.HasPrefix(r.pkg, "golang.org/") || strings.HasPrefix(r.pkg, anyModule) || r.names == "" {
			continue // not in the standard library, or there by its package alone
		}
		pkg, err := imports.Import(r.pkg)
		if err != nil {
			t.Errorf("%s: %v", r.pkg, err)
			continue
		}
		there := map[string]bool{}
		for _, fn := range functionsOf(pkg) {
			for _, name := range rowNames(fn) {
				there[name] = true
			}
		}
		for name := range strings.FieldsSeq(r.names) {
			if !there[name] {
				t.Errorf("%s has no %s", r.pkg, name)
			}
		}
	}
}

// functionsOf lists the functions and methods of a package.
func functionsOf(pkg *types.Package) []*types.Func {
	var list []*types.Func
	for _, name := range pkg.Scope().Names() {
		switch o := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			list = append(list, o)
		case *types.TypeName:
			for sel := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				list = append(list, sel.Obj().(*types.Func))
			}
			if i, ok := o.Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					list = append(list, m)
				}
			}
		}
	}
	return list
}

func TestFunctionsHaveTheirRow(t *testing.T) {
	find := func(path, name string) *types.Func {
		t.Helper()
		pkg, err := imports.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, fn := range functionsOf(pkg) {
			if rowNames(fn)[0] == name {
				return fn
			}
		}
		t.Fatalf("%s has no %s", path, name)
		return nil
	}
	for _, want := range []struct {
		pkg, name string
		ask       func(*types.Func) bool
		is        bool
	}{
		{"strings", "Index", NeverWaits, true},
		{"fmt", "Sprint", NeverWaits, true},
		{"fmt", "Fprint", NeverWaits, false},
		{"sync", "WaitGroup.Wait", NeverWaits, false},
		{"sync", "WaitGroup.Done", NeverWaits, true},
		{"net", "Conn.Read", WaitsOutside, true},
		{"net/http", "Get", WaitsOutside, true},
		{"net/http", "Header.Get", WaitsOutside, false},
		{"time", "Now", Lasts, false},
		{"time", "Time.Add", Lasts, false},
		{"time", "AfterFunc", Lasts, true},
		{"time", "Timer.Stop", Lasts, true},
		{"sync/atomic", "Int64.Load", Lasts, false},
		{"sync/atomic", "LoadInt64", Lasts, false},
		{"sync/atomic", "Int64.Store", Lasts, true},
		{"strings", "Index", Lasts, false},
		{"testing", "common.FailNow", NeverReturns, true},
		{"testing", "T.Run", OrdersNothing, false},
		{"testing", "common.Log", OrdersNothing, true},
		{"runtime", "Goexit", OrdersNothing, false},
		{"runtime", "GC", OrdersNothing, true},
		{"runtime", "SetFinalizer", StartsAtOnce, false},
		{"time", "AfterFunc", StartsAtOnce, true},
		{"reflect", "Value.Call", CallsByName, true},
		{"reflect", "Value.Int", CallsByName, false},
		{"container/list", "List.PushBack", KeepsNothing, false},
	} {
		if got := want.ask(find(want.pkg, want.name)); got != want.is {
			t.Errorf("%s.%s: got %t, want %t", want.pkg, want.name, got, want.is)
		}
	}
	for _, want := range []struct {
		pkg, name string
		i         int
		writes    bool
	}{
		{"fmt", "Fprint", 0, true}, {"fmt", "Fprint", 1, false}, {"fmt", "Sscan", 1, true},
		{"encoding/binary", "Read", 2, true}, {"encoding/binary", "ByteOrder.PutUint16", 1, true},
		{"encoding/binary", "PutUvarint", 0, true}, {"strings", "Index", 0, false},
	} {
		if writes, known := WritesArgument(find(want.pkg, want.name), want.i); writes != want.writes || !known {
			t.Errorf("%s.%s writes to argument %d: got %t (known: %t), want %t", want.pkg, want.name, want.i, writes, known,
				want.writes)
		}
	}
}
