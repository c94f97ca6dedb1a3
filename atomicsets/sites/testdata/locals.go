package p

var initial = func() int {
	return N // want read N global:N in init.func1
}()

func init() {
	N++ // want write N global:N in init.0
}

func captured() (err error, n int) {
	never := 1
	again := 1
	once := 2
	again = 2 // want write again captured:captured.again in captured
	go func() {
		_ = never
		_ = again // want read again captured:captured.again in captured.func1
		_ = once
		n++ // want write n captured:captured.n in captured.func1
		func() {
			err = nil // want write err captured:captured.err in captured.func1.1
		}()
	}()
	x, err := two() // want write err captured:captured.err in captured
	_ = x
	for i := 0; i < 3; i++ { // want read i captured:captured.i in captured; write i captured:captured.i in captured
		go func() {
			_ = i // want read i captured:captured.i in captured.func2
		}()
	}
	for _, v := range []int{1} {
		go func() {
			_ = v
		}()
	}
	if err := error(nil); err != nil {
		_ = err
	}
	return err, 1 // want read err captured:captured.err in captured
}

func two() (int, error) { return 0, nil }

func addressed() int {
	x := 1
	set(&x)
	var buf [4]byte
	_ = buf[:]
	var t T
	t.lock()
	_ = t.n                // want read t.n field:T.n in addressed
	return x + int(buf[0]) // want read x local:addressed.x in addressed; read buf[0] element:addressed.buf[] in addressed
}

func set(p *int) {
	*p = 1 // want write *p deref:set.*p in set
}

func (t *T) lock() {
	*t = T{} // want write *t deref:T.* in (*T).lock
	t.n++    // want write t.n field:T.n in (*T).lock
}

func (t T) value() int {
	return t.next.value() // want read *t.next deref:T.* in T.value
}

type list[E any] struct {
	head *list[E]
	val  E
}

func (l *list[E]) get() E {
	return l.head.val // want read l.head field:list.head in (*list).get; read l.head.val field:list.val in (*list).get
}

func instance(l *list[int]) int {
	return l.val // want read l.val field:list.val in instance
}

//go:nosplit
func nosplit(p *T) int {
	return p.n // want read p.n field:T.n in nosplit skip
}

// direct has a comment before its directive.
//
//go:norace
func direct(p *T) int {
	return func() int {
		return p.n // want read p.n field:T.n in direct.func1 skip
	}()
}
