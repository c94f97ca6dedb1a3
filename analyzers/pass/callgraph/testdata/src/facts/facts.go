package facts

var kept []func()

func Now(f func()) { f() } // want Now:"params: call"

func Deferred(f func()) { defer f() } // want Deferred:"params: call"

func Later(f func()) { go f() } // want Later:"params: go"

func Wrapped(f func()) { // want Wrapped:"params: go"
	go func() {
		defer println("done")
		f()
	}()
}

func Through(f func()) { Now(f) } // want Through:"params: call"

func Kept(f func()) { kept = append(kept, f) } // ok: lost

func Checked(f func()) { // want Checked:"params: call"
	if f != nil {
		f()
	}
}

// Tree recurses by a closure that captures itself, and the parameter.
func Tree(n int, visit func(int)) { // want Tree:"params: call"
	var walk func(int)
	walk = func(i int) {
		visit(i)
		if i > 0 {
			walk(i - 1)
		}
	}
	walk(n)
}

// Swapped takes its parameter out of a captured variable and puts it back.
func Swapped(f func()) { // ok: assigned again, so lost
	saved := f
	restore := func() { f = saved }
	f = saved
	restore()
	f()
}

// restored replaces a function that a closure calls, and restores it.
func restored() {
	hook := func() { println("hook") }
	run := func() { hook() }
	saved := hook
	hook = func() { saved() }
	defer func() { hook = saved }()
	hook = hook
	saved = hook
	run()
}
