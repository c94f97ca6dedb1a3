// Package features has a function for each way to reach a variable. The
// comments name the path of what a line stores into, and the variable.
package features

type T struct {
	n     int
	next  *T
	inner struct{ k int }
	list  []int
	array [3]int
	byKey map[string]*T
}

var (
	global T
	ptr    *T
)

func parameter(t *T) {
	t.n = 1            // = t.n of T.n
	t.next.n = 1       // = t.next.n of T.n
	t.inner.k = 1      // = t.inner.k of T.inner.k
	t.list[0] = 1      // = t.list[0]
	t.array[2] = 1     // = t.array[2] of T.array
	t.byKey["a"].n = 1 // = (*features.T).n of T.n
}

func (t *T) receiver() {
	t.n = 1 // = t.n of T.n
}

func globals() {
	global.n = 1 // = global.n of T.n
	ptr.n = 1    // = ptr.n of T.n
}

func local() {
	t := &T{}
	t.n = 1 // = (*features.T).n of T.n
	u := t.next
	u.n = 1 // = (*features.T).next.n of T.n
}

func reassigned(t, u *T, yes bool) {
	if yes {
		t = u
	}
	t.n = 1 // = (*features.T).n of T.n
}

func loop(list []*T) {
	for _, t := range list {
		t.n = 1 // = list[…].n of T.n
	}
	for i := range list {
		list[i].n = 1 // = list[…].n of T.n
	}
}

func captured(t *T) func() {
	return func() {
		t.n = 1 // = t.n of T.n
	}
}

func address(t *T) {
	p := &t.inner
	p.k = 1 // = t.inner.k of T.inner.k
	q := &t.n
	*q = 1 // = t.n of T.n
}

func called() {
	get().n = 1 // = get().n of T.n
}

func get() *T { return ptr }

func asserted(v any) {
	v.(*T).n = 1 // = v.n of T.n
}

type embeds struct {
	T
	*other
}

type other struct{ m int }

func embedded(e *embeds) {
	e.n = 1 // = e.T.n of T.n
	e.m = 1 // = e.other.m of other.m
}

type box[V any] struct{ v V }

func generic[V any](b *box[V], v V) {
	b.v = v // = b.v of box.v
}

func useGeneric(b *box[int]) {
	b.v = 1 // = b.v of box.v
}

func namedResult() (t *T) {
	t = &T{}
	defer func() {
		t.n = 1 // = (*features.T).n of T.n
	}()
	return t
}

func converted(t *T) {
	type U T
	(*U)(t).n = 1 // = t.n of converted.U.n
}
