package main

// cell is a shared variable, and how its owner of the moment accesses it. The
// texts are templates; add and read are whole lines, and each says nothing of
// synchronisation.
type cell struct {
	name  string
	decl  string // at package level: types
	typ   string // *typ is what v$ is, where code can be handed the variable
	local string // makes v$, whose count is 0
	add   string // counts up by one
	read  string // an expression: the count
	whole bool   // local does more than to make a zero *typ
	// near are accesses of the first and of the second worker to what lies
	// beside the variable and is theirs alone.
	near [2]string
	// deaf is a cell that code accesses which is not monitored.
	deaf bool
}

const structCell = "v$ := &box${}\n"

var cells = []cell{
	{
		name: "field", typ: "box$", local: structCell,
		decl: "type box$ struct { before, n, after int }\n",
		add:  "«?v$.n++¦v$.n += 1¦v$.n = v$.n + 1¦v$.n, _ = v$.n+1, 0» //~\n", read: "v$.n",
		near: [2]string{"v$.before++\n", "v$.after++\n"},
	},
	{name: "captured", local: "v$ := 0\n", add: "«?v$++¦v$ += 1¦v$ = v$ + 1» //~\n", read: "v$"},
	{name: "captured struct", local: "var v$ struct{ n, m int }\n", add: "v$.n++ //~\n", read: "v$.n", near: [2]string{"v$.m++\n", ""}},
	{name: "captured slice", local: "var v$ []int\n", add: "v$ = append(v$, 1) //~\n", read: "len(v$)"},
	{name: "captured array", local: "var v$ [5]int16\n", add: "v$[2]++ //~\n", read: "int(v$[2])", near: [2]string{"v$[1]--\n", "v$[3]++\n"}},
	{name: "global", decl: "var v$ int\n", local: "v$ = 0\n", add: "v$++ //~\n", read: "v$"},
	{name: "global struct", decl: "var v$ struct{ a int8; n int16; b int8 }\n", local: "v$.n = 0\n", add: "v$.n++ //~\n", read: "int(v$.n)", near: [2]string{"v$.a++\n", "v$.b = 1\n"}},
	{name: "global map", decl: "var v$ = map[string]int{}\n", local: "clear(v$)\n", add: "v$[\"k\"]++ //~\n", read: "v$[\"k\"]"},
	{
		name: "small neighbours", typ: "box$", local: structCell,
		decl: "type box$ struct { a, n, b uint8; c bool }\n",
		add:  "v$.n++ //~\n", read: "int(v$.n)",
		near: [2]string{"v$.a++\n", "v$.b += 2\n"},
	},
	{
		name: "halves of a word", typ: "box$", local: structCell,
		decl: "type box$ struct { a uint16; n int16; b [2]int16; c int32 }\n",
		add:  "v$.n += 1 //~\n", read: "int(v$.n)",
		near: [2]string{"v$.a ^= 3\n", "v$.b[«?0¦1»] = 7\nv$.c--\n"},
	},
	{
		name: "pointed to", typ: "int", local: "v$ := new(int)\n",
		add: "«?*v$++¦*v$ = *v$ + 1¦*v$ += 1» //~\n", read: "*v$",
	},
	{
		name: "pointer to pointer", whole: true, typ: "*int", local: "p$ := new(int)\nv$ := &p$\n",
		add: "**v$++ //~\n", read: "**v$",
	},
	{
		name: "array element", typ: "[8]int", local: "v$ := new([8]int)\n",
		add: "v$[«#3-4»]++ //~\n", read: "v$[3] + v$[4]",
		near: [2]string{"v$[«#0-2»]++\n", "v$[«#5-7»] = 9\n"},
	},
	{
		name: "byte of an array", typ: "[16]byte", local: "v$ := new([16]byte)\n",
		add: "v$[7]++ //~\n", read: "int(v$[7])",
		near: [2]string{"v$[6]++\n", "v$[8]--\nv$[15] |= 1\n"},
	},
	{
		name: "slice element", whole: true, typ: "[]int", local: "s$ := make([]int, «#5-9»)\nv$ := &s$\n",
		add: "(*v$)[2]++ //~\n", read: "(*v$)[2]",
		near: [2]string{"(*v$)[1]++\n", "(*v$)[3]--\n"},
	},
	{
		name: "part of a slice", typ: "box$", local: "s$ := make([]int32, 12)\nv$ := &box${s$[:4], s$[4:8:8], s$[8:]}\n",
		decl: "type box$ struct { low, mid, high []int32 }\n",
		add:  "if v$.mid != nil {\nv$.mid[«#0-3»]++ //~\n}\n", read: "func() (n int) {\nfor _, e := range v$.mid { //~\nn += int(e)\n}\nreturn\n}()",
		near: [2]string{"if v$.low != nil {\nclear(v$.low)\n}\n", "if v$.high != nil {\ncopy(v$.high, []int32{1, 2})\n}\n"},
	},
	{
		name: "map element", typ: "box$", local: "v$ := &box${m: map[string]int{}}\n",
		decl: "type box$ struct { m map[string]int }\n",
		add:  "if v$.m != nil {\n«?v$.m[\"k\"]++¦v$.m[\"k\"] += 1¦v$.m[\"k\"] = v$.m[\"k\"] + 1» //~\n}\n", read: "v$.m[\"k\"]",
	},
	{
		name: "growing map", typ: "box$", local: "v$ := &box${m: map[int]*int{}}\n",
		decl: "type box$ struct { m map[int]*int; next int }\n",
		add:  "if v$.m != nil {\nv$.m[v$.next] = new(int) //~\nv$.next += 7 //~\nif v$.next > 70 { //~\ndelete(v$.m, -1) //~\n}\n}\n", read: "len(v$.m)",
	},
	{
		name: "interface", typ: "box$", local: structCell,
		decl: "type box$ struct { x any; y int }\n",
		add:  "if n, ok := v$.x.(int); ok { //~\nv$.x = n + 1 //~\n} else {\nv$.x = 1 //~\n}\n",
		read: "func() int { n, _ := v$.x.(int); return n }()", near: [2]string{"v$.y++\n", ""},
	},
	{
		name: "string", typ: "box$", local: structCell,
		decl: "type box$ struct { s string; t string }\n",
		add:  "v$.s += \"x\" //~\n", read: "len(v$.s)", near: [2]string{"", "v$.t = \"theirs\"\n"},
	},
	{
		name: "appended slice", typ: "box$", local: "v$ := &box${list: make([]int, 0, «#0-3»)}\n",
		decl: "type box$ struct { list []int }\n",
		add:  "v$.list = append(v$.list, «#1-9») //~\n", read: "len(v$.list)",
	},
	{
		name: "linked list", typ: "box$", local: structCell,
		decl: "type node$ struct { next *node$; id int }\ntype box$ struct { head *node$; n int }\n",
		add:  "v$.head = &node${next: v$.head, id: 1} //~\nv$.n++ //~\n", read: "v$.n",
	},
	{
		name: "generic", typ: "box$[int64]", local: "v$ := &box$[int64]{}\n",
		decl: "type box$[T int64 | float64] struct { n T; other T }\nfunc (b *box$[T]) inc() { b.n++ } //~\nfunc (b *box$[T]) get() T { return b.n } //~\n",
		add:  "v$.inc() //~\n", read: "int(v$.get())", near: [2]string{"v$.other++\n", ""},
	},
	{
		name: "embedded", typ: "box$", local: structCell,
		decl: "type inner$ struct { n, m int }\ntype box$ struct { head int; inner$; tail int }\n",
		add:  "v$.n++ //~\n", read: "v$.inner$.n", near: [2]string{"v$.head = 3\n", "v$.tail++\n"},
	},
	{
		name: "copied struct", typ: "box$", local: structCell,
		decl: "type box$ struct { n int; pad [«#1-9»]int; s string }\n",
		add:  "{\nc := *v$ //~\nc.n++\nc.pad[0] += 2\n*v$ = c //~\n}\n", read: "v$.n",
	},
	{
		name: "float", typ: "box$", local: structCell,
		decl: "type box$ struct { f float64; c complex128; g float32 }\n",
		add:  "v$.f += 1.0 //~\n", read: "int(v$.f)", near: [2]string{"v$.c += 2i\n", "v$.g *= 2\n"},
	},
	{
		name: "behind a method", typ: "box$", local: structCell,
		decl: "type box$ struct { n int }\n\n//go:noinline\nfunc (b *box$) inc() { b.n++ } //~\n\nfunc (b *box$) get() (n int) {\ndefer func() { n = b.n }() //~\nreturn -1\n}\n",
		add:  "«?v$.inc()¦func() { f := v$.inc; f() }()¦func() { defer v$.inc() }()» //~\n", read: "v$.get()",
	},
	{
		name: "behind an interface", typ: "box$", local: "v$ := &box${c: &count${}}\n",
		decl: "type count$ struct { n int }\nfunc (c *count$) add(k int) { c.n += k } //~\nfunc (c *count$) get() int { return c.n } //~\ntype adder$ interface { add(int); get() int }\ntype box$ struct { c adder$ }\n",
		add:  "if v$.c != nil {\nv$.c.add(1)\n}\n", read: "v$.c.get()",
	},
	{
		name: "nested arrays", typ: "box$", local: structCell,
		decl: "type cellof$ struct { a, n int32 }\ntype box$ struct { rows [3][2]cellof$ }\n",
		add:  "v$.rows[1][1].n++ //~\n", read: "int(v$.rows[1][1].n)",
		near: [2]string{"v$.rows[1][1].a++\n", "v$.rows[1][0].n++\nv$.rows[2][0].a--\n"},
	},
	{
		name: "closure's", typ: "box$", local: "v$ := newBox$()\n",
		decl: "type box$ struct { inc func(); get func() int }\nfunc newBox$() *box$ {\nn := 0\nreturn &box${func() { n++ }, func() int { return n }} //~\n}\n",
		add:  "if v$.inc != nil {\nv$.inc()\n}\n", read: "v$.get()",
	},
	{
		name: "whole slice", typ: "box$", local: "v$ := &box${s: make([]int, «#2-5»)}\n",
		decl: "type box$ struct { s []int }\n",
		add:  "for i := range v$.s {\nv$.s[i]++ //~\n}\n", read: "slices.Max(slices.Clone(v$.s))",
	},
	{
		name: "function value", typ: "box$", local: "v$ := &box${f: func() int { return 0 }}\n",
		decl: "type box$ struct { f func() int; n int }\n",
		add:  "if n := v$.n + 1; n > 0 { //~\nv$.n = n //~\nv$.f = func() int { return n } //~\n}\n", read: "v$.f()",
	},
	{
		name: "through unsafe", typ: "box$", local: structCell,
		decl: "type box$ struct { a int32; n [2]int32 }\n",
		add:  "(*[2]int32)(unsafe.Pointer(&v$.n))[1]++ //~\n", read: "int(*(*int32)(unsafe.Add(unsafe.Pointer(v$), 8)))",
		near: [2]string{"*(*int32)(unsafe.Pointer(v$)) += 2\n", "v$.n[0]--\n"},
	},
	{
		name: "through reflect", typ: "box$", local: structCell, deaf: true,
		decl: "type box$ struct { N int; M int }\n",
		add:  "func(f reflect.Value) { f.SetInt(f.Int() + 1) }(reflect.ValueOf(v$).Elem().Field(0))\n", read: "v$.N",
		near: [2]string{"v$.M++\n", ""},
	},
	{
		name: "buffer of std", typ: "bytes.Buffer", local: "v$ := new(bytes.Buffer)\n", deaf: true,
		add: "fmt.Fprint(v$, \"y\")\n", read: "v$.Len()",
	},
	{
		name: "sorted by std", typ: "box$", local: structCell, deaf: true,
		decl: "type box$ struct { list []string }\n",
		add:  "v$.list = append(v$.list, strconv.Itoa(len(v$.list)))\nsort.Strings(v$.list)\n", read: "len(v$.list)",
	},
	{
		name: "swapped pair", typ: "box$", local: structCell,
		decl: "type box$ struct { a, b int }\n",
		add:  "v$.a, v$.b = v$.b+1, v$.a //~\n", read: "v$.a + v$.b",
	},
	{
		name: "map of structs", typ: "box$", local: "v$ := &box${m: map[key$]point${}}\n",
		decl: "type key$ struct { a int; b string }\ntype point$ struct { x, y int }\ntype box$ struct { m map[key$]point$ }\n",
		add:  "if v$.m != nil {\np := v$.m[key${1, \"k\"}] //~\np.x++\nv$.m[key${1, \"k\"}] = p //~\n}\n", read: "v$.m[key${1, \"k\"}].x",
	},
	{
		name: "anonymous struct", typ: "struct{ n, m int }", local: "v$ := new(struct{ n, m int })\n",
		add: "v$.n++ //~\n", read: "v$.n", near: [2]string{"v$.m++\n", ""},
	},
	{
		name: "list of std", typ: "list.List", local: "v$ := list.New()\n", deaf: true,
		add: "v$.PushBack(1)\n", read: "v$.Len()",
	},
	{
		name: "array in a big struct", typ: "box$", local: structCell,
		decl: "type box$ struct { a [100]int; n [3]struct{ x, y int64 }; b [100]int }\n",
		add:  "v$.n[2].y++ //~\n", read: "int(v$.n[2].y)", near: [2]string{"v$.a[99]++\n", "v$.n[2].x++\nv$.b[0]++\n"},
	},
}
