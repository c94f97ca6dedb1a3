package predicate

import (
	"fmt"
	"go/types"

	"github.com/interlock-go/interlock/dynamic/instrument/internal/source"
)

// LooseWords names which of the first words of the entry's variable may differ although
// its value does not. That matters for sections that users declare: the campaign, which
// knows the types, compares the values.
func LooseWords(r *source.File, a *source.Access, length bool) (flags []string) {
	t := r.Info.TypeOf(a.Node)
	if a.SyncMap() {
		return nil // values are compared by the monitor, as == does
	}
	if m, ok := source.Under(t).(*types.Map); ok && a.Map() {
		t = m.Elem()
		if length {
			return nil
		}
	}
	for word := range watchedWords {
		if loose(t, 0)>>word&1 != 0 {
			flags = append(flags, fmt.Sprintf("Loose%d", word))
		}
	}
	return flags
}

// allLoose is the set for types with an unknown layout: no word is compared.
const allLoose = 1<<watchedWords - 1

// watchedWords is how many words of a variable the monitor compares.
const watchedWords = 4

// layout is that of the systems that the monitor runs on.
var layout = types.SizesFor("gc", "amd64")

// loose returns the loose words of a value of type t that begins at the offset: the
// address of a string or slice, and the capacity; the second word of an interface; and
// words with bytes of no field.
func loose(t types.Type, offset int64) uint32 {
	word := func(i int64) uint32 {
		if n := offset/8 + i; n < watchedWords {
			return 1 << n
		}
		return 0
	}
	if hasParam(t) {
		return allLoose
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if source.IsString(t) {
			return word(0)
		}
	case *types.Slice:
		return word(0) | word(2)
	case *types.Interface:
		return word(1)
	case *types.Array:
		return looseElements(u, offset)
	case *types.Struct:
		return looseFields(u, offset)
	}
	return 0
}

// hasParam reports whether the size of t depends on a type parameter.
func hasParam(t types.Type) bool {
	if source.IsTypeParam(t) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return hasParam(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if hasParam(f.Type()) {
				return true
			}
		}
	}
	return false
}

// looseElements is loose for an array.
func looseElements(a *types.Array, offset int64) (words uint32) {
	size := layout.Sizeof(a.Elem())
	for i := int64(0); size > 0 && i < a.Len() && offset+i*size < 8*watchedWords; i++ {
		words |= loose(a.Elem(), offset+i*size)
	}
	return words
}

// looseFields is loose for a struct.
func looseFields(s *types.Struct, offset int64) (words uint32) {
	var fields []*types.Var
	for f := range s.Fields() {
		fields = append(fields, f)
	}
	next := int64(0)
	for i, at := range layout.Offsetsof(fields) {
		if next < at { // a hole
			words |= 1 << min((offset+next)/8, watchedWords)
		}
		words |= loose(fields[i].Type(), offset+at)
		next = at + layout.Sizeof(fields[i].Type())
	}
	if next < layout.Sizeof(s) {
		words |= 1 << min((offset+next)/8, watchedWords)
	}
	return words & allLoose
}
