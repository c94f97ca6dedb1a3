package main

// wrap is a way to come to an access. The text has the part «body».
type wrap struct {
	name string
	text string
	decl string // at package level
	// handed: the variable is handed on as a pointer, named «type», whose zero
	// value will do where own is set.
	handed, own bool
	sleeps      bool
}

var wraps = []wrap{
	{name: "directly", text: "«body»"},
	{name: "closure", text: "func() {\n«body»}()\n"},
	{name: "deferred", text: "func() {\ndefer func() {\n«body»}()\n}()\n"},
	{name: "select with default", text: "select {\ndefault:\n«body»}\n"},
	{name: "recovered", text: "func() {\ndefer func() { recover() }()\n«body»panic(1)\n}()\n"},
	{name: "its own goroutine", text: "func() {\nd := make(chan bool)\ngo func() {\n«body»close(d)\n}()\n<-d\n}()\n"},
	{name: "table of functions", text: "for _, f := range []func(){func() {}, func() {\n«body»}} {\nf()\n}\n"},
	{name: "reflect", text: "reflect.ValueOf(func() {\n«body»}).Call(nil)\n"},
	{name: "iter.Pull", text: "func() {\nnext, stop := iter.Pull(func(yield func(int) bool) {\n«body»yield(1)\n})\nnext()\nstop()\n}()\n"},
	{name: "range over a function", text: "for range func(yield func() bool) {\nyield()\n} {\n«body»}\n"},
	{name: "after a nap", sleeps: true, text: "time.Sleep(«#1-90» * time.Microsecond)\n«body»"},
	{name: "between yields", text: "runtime.Gosched()\n«body»runtime.Gosched()\n"},
	{name: "switch", text: "switch {\ncase time.Now().IsZero():\ndefault:\n«body»}\n"},
	{name: "labelled loop", text: "func() {\nloop:\nfor {\nfor range 3 {\n«body»break loop\n}\n}\n}()\n"},
	{
		name: "recursion", decl: "//go:noinline\nfunc deep$(depth int, f func()) int {\nvar pad [«#1-1500»]byte\nsink(pad[:])\nif depth == 0 {\nf()\nreturn int(pad[0])\n}\nreturn deep$(depth-1, f) + int(pad[0])\n}\n",
		text: "deep$(«#0-30», func() {\n«body»})\n",
	},
	{
		name: "helper", decl: "func bump$(v$ *«type») {\n«body»}\n", handed: true,
		text: "bump$(v$)\n",
	},
	{
		name: "recursion with a variable of its own", handed: true, own: true,
		decl: "//go:noinline\nfunc once$(v$ *«type») {\n«body»}\n\n//go:noinline\nfunc below$(depth int, v$ *«type») {\nvar pad [«#1-1200»]byte\nvar own «type»\nsink(pad[:])\nonce$(&own)\nif depth == 0 {\nonce$(v$)\nreturn\n}\nbelow$(depth-1, v$)\nonce$(&own)\n}\n",
		text: "below$(«#0-25», v$)\n",
	},
	{
		name: "generic function", handed: true,
		decl: "func apply$[T any](x *T, f func(*T)) { f(x) }\n", text: "apply$(v$, func(v$ *«type») {\n«body»})\n",
	},
	{
		name: "type switch", handed: true, text: "switch v$ := any(v$).(type) {\ncase *«type»:\n«body»}\n",
	},
	{
		name: "unsafe.Pointer", handed: true, text: "func(p unsafe.Pointer) {\nv$ := (*«type»)(p)\n«body»}(unsafe.Pointer(v$))\n",
	},
	{
		name: "channel of pointers", handed: true, text: "func() {\nc := make(chan *«type», 1)\nc <- v$\nv$ := <-c\n«body»}()\n",
	},
	{
		name: "litter", handed: true, text: "for range «#2-30» {\no := new(«type»)\nsink(o)\n}\n«body»",
	},
}
