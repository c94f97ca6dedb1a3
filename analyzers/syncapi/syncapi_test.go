package syncapi_test

import (
	"go/importer"
	"go/types"
	"testing"

	"github.com/interlock-go/interlock/analyzers/syncapi"
)

// TestAtomic asks for every function and method of the package, so that a new one of a later Go is noticed.
func TestAtomic(t *testing.T) {
	pkg, err := importer.Default().Import("sync/atomic")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Func:
			if obj.Exported() && syncapi.Atomic(obj) == "" {
				t.Errorf("%s is no operation", obj.FullName())
			}
		case *types.TypeName:
			if want := "atomic." + name; obj.Exported() && syncapi.Type(obj.Type()) != want {
				t.Errorf("Type(%s) = %q, want %q", name, syncapi.Type(obj.Type()), want)
			}
			named, ok := obj.Type().(*types.Named)
			for i := 0; ok && obj.Exported() && i < named.NumMethods(); i++ {
				if m := named.Method(i); m.Exported() && syncapi.Atomic(m) != m.Name() {
					t.Errorf("Atomic(%s) = %q", m.FullName(), syncapi.Atomic(m))
				}
			}
		}
	}
	if got := syncapi.Type(types.NewPointer(types.Typ[types.Int])); got != "" {
		t.Errorf("Type(*int) = %q", got)
	}
}
