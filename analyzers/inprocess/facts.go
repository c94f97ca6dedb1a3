package inprocess

import (
	"go/types"
	"reflect"
	"slices"
	"sync"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Facts are the facts that analyzers have noted of the objects of one package. The run that notes them finds an
// object as it is; other packages, which may know it from other types, find it by its path. Safe for concurrent
// use.
type Facts struct {
	mu     sync.Mutex
	own    map[factKey]analysis.Fact // guarded by mu; nil after the run
	byPath map[pathKey]analysis.Fact // guarded by mu
	paths  objectpath.Encoder        // guarded by mu
}

type factKey struct {
	obj  types.Object
	kind reflect.Type
}

type pathKey struct {
	path objectpath.Path
	kind reflect.Type
}

func newFacts() *Facts {
	return &Facts{own: map[factKey]analysis.Fact{}, byPath: map[pathKey]analysis.Fact{}}
}

func (f *Facts) setFact(obj types.Object, fact analysis.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kind := reflect.TypeOf(fact)
	f.own[factKey{obj, kind}] = fact
	if path, err := f.paths.For(obj); err == nil { // others cannot name the rest
		f.byPath[pathKey{path, kind}] = carried(reflect.ValueOf(fact)).Interface().(analysis.Fact)
	}
}

// dropPrivate drops the part that only the run that has noted f can ask for, and the types with it.
func (f *Facts) dropPrivate() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own, f.paths = nil, objectpath.Encoder{}
}

// ofObject sets into to the fact that the current run has noted of an object.
func (f *Facts) ofObject(obj types.Object, into analysis.Fact) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return assign(into, f.own[factKey{obj, reflect.TypeOf(into)}])
}

// ofPath sets into to the known fact of the object with the path.
func (f *Facts) ofPath(path objectpath.Path, into analysis.Fact) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return assign(into, f.byPath[pathKey{path, reflect.TypeOf(into)}])
}

func assign(into, fact analysis.Fact) bool {
	if fact == nil {
		return false
	}
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(fact).Elem())
	return true
}

// resolved lists the facts of the given types with the objects that pkg, the
// package as an importer sees it, has at their paths.
func (f *Facts) resolved(pkg *types.Package, kinds []analysis.Fact) (all []analysis.ObjectFact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, fact := range f.byPath {
		if !slices.ContainsFunc(kinds, func(k analysis.Fact) bool { return reflect.TypeOf(k) == key.kind }) {
			continue
		}
		if obj, err := objectpath.Object(pkg, key.path); err == nil {
			all = append(all, analysis.ObjectFact{Object: obj, Fact: fact})
		}
	}
	return all
}

// Same reports whether both say the same to other packages. A nil receiver is
// the same as nothing.
func (f *Facts) Same(o *Facts) bool {
	if f == nil || o == nil {
		return f == o
	}
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

// carried returns a copy of v without unexported fields: other packages see no more of a fact than they would
// if it had been written to a file, and it holds no types of the package.
func carried(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		if !v.IsNil() {
			out.Set(carriedContents(v))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(carried(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}

// carriedContents is carried for the contents of a value that is not nil.
func carriedContents(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(carried(v.Elem()))
		return out
	case reflect.Slice:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(carried(v.Index(i)))
		}
		return out
	case reflect.Map:
		out := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			out.SetMapIndex(carried(it.Key()), carried(it.Value()))
		}
		return out
	}
	return carried(v.Elem()) // of an interface
}

// sameValue is [reflect.DeepEqual], except that places in the source, which are for
// people, may differ, as an edit moves every line below it: a field Where, and
// positions.
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
		if a.Type() == reflect.TypeFor[finding.Position]() {
			return true
		}
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
