package session

import (
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// facts are what passes have noted of the objects of one package. An object of
// the package itself is found as it is, one that another package knows, perhaps
// from earlier types, by its path.
type facts struct {
	pkg    *types.Package
	own    map[factKey]analysis.Fact
	byPath map[pathKey]analysis.Fact
	paths  objectpath.Encoder
}

type factKey struct {
	obj  types.Object
	kind reflect.Type
}

type pathKey struct {
	path objectpath.Path
	kind reflect.Type
}

func newFacts(pkg *types.Package) *facts {
	return &facts{pkg: pkg, own: map[factKey]analysis.Fact{}, byPath: map[pathKey]analysis.Fact{}}
}

func (f *facts) set(obj types.Object, fact analysis.Fact) {
	kind := reflect.TypeOf(fact)
	f.own[factKey{obj, kind}] = fact
	if path, err := f.paths.For(obj); err == nil { // others cannot name the rest
		f.byPath[pathKey{path, kind}] = fact
	}
}

func (f *facts) get(obj types.Object, into analysis.Fact) bool {
	kind := reflect.TypeOf(into)
	fact, ok := f.own[factKey{obj, kind}]
	if !ok && obj.Pkg() != f.pkg {
		if path, err := objectpath.For(obj); err == nil {
			fact, ok = f.byPath[pathKey{path, kind}]
		}
	}
	if ok {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(fact).Elem())
	}
	return ok
}

// same reports whether both say the same to other packages.
func (f *facts) same(o *facts) bool {
	if len(f.byPath) != len(o.byPath) {
		return false
	}
	for key, fact := range f.byPath {
		old, ok := o.byPath[key]
		if !ok || !sameValue(reflect.ValueOf(fact), reflect.ValueOf(old)) {
			return false
		}
	}
	return true
}

// sameValue is [reflect.DeepEqual], except that a field Where, which is a place
// in the source for people, may differ: a patch moves every line below it.
func sameValue(a, b reflect.Value) bool {
	if a.IsValid() != b.IsValid() || !a.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return sameValue(a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type().Field(i).Name != "Where" && !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		return a.Len() == b.Len() && sameElements(a, b)
	case reflect.Map:
		return a.Len() == b.Len() && sameEntries(a, b)
	default:
		return a.Equal(b)
	}
}

func sameElements(a, b reflect.Value) bool {
	for i := range a.Len() {
		if !sameValue(a.Index(i), b.Index(i)) {
			return false
		}
	}
	return true
}

func sameEntries(a, b reflect.Value) bool {
	for it := a.MapRange(); it.Next(); {
		if !sameValue(it.Value(), b.MapIndex(it.Key())) {
			return false
		}
	}
	return true
}
