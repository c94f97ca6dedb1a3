package facts

type T struct {
	n    int
	next *T
}

var last *T

func New() *T { return &T{} } // want New:"fresh result"

func Chain() *T { // want Chain:"fresh result"
	a, b := New(), New()
	a.next = b
	return a
}

func Named() (t *T, err error) { // want Named:"fresh result"
	defer func() { t.n++ }()
	t = &T{}
	return t, nil
}

func Kept() *T { // want Kept:"keeps its parameters private"
	t := &T{}
	last = t
	return t
}

func Started() *T { // want Started:"keeps its parameters private"
	t := &T{}
	go func() { t.n++ }()
	return t
}

// What hangs on a published object is published.
func Hung() *T { // want Hung:"keeps its parameters private"
	a, b := &T{}, &T{}
	last = a
	a.next = b
	return b
}

func Publish(t *T) { last = t } // want Publish:"publishes parameter 0"

func Use(t *T) int { return t.n } // want Use:"keeps its parameters private"
