package p

type matrix struct{ rows [][]int }

var table [4]T

func elements(s []int, m *matrix, pa *[4]int, v T, str string) {
	s[0] = 1                // want write s[0] element:elements.s[] in elements
	s[1]++                  // want write s[1] element:elements.s[] in elements
	_ = m.rows[0][1]        // want read m.rows field:matrix.rows in elements; read m.rows[0] element:matrix.rows[] in elements; read m.rows[0][1] element:matrix.rows[][] in elements
	_ = pa[1]               // want read pa[1] element:elements.pa[] in elements
	_ = v.arr[1]            // a plain local
	_ = v.s[1]              // want read v.s[1] element:T.s[] in elements
	_ = str[0]              // strings do not change
	_ = table[1].n          // want read table[1].n field:T.n in elements
	_ = table[1].arr[2]     // want read table[1].arr[2] element:T.arr[] in elements
	_ = &s[2]               // only the address
	_ = m.rows[0][1:]       // want read m.rows field:matrix.rows in elements; read m.rows[0] element:matrix.rows[] in elements
	s[0], s[1] = s[1], s[0] // want write s[0] element:elements.s[] in elements; write s[1] element:elements.s[] in elements; read s[1] element:elements.s[] in elements; read s[0] element:elements.s[] in elements
}

func made(n int) (out []int, _ error) {
	s := make([]int, n)
	s = append(s, 1)
	s = s[:len(s)-1]
	s[0] = 1
	t := append([]int(nil), s...)
	copy(t[1:], s)
	for i := range t {
		t[i]++
	}
	out = []int{1}
	out[0] = t[0]
	var none []int
	none = append(none, s[0])
	_ = string([]byte("x")[0])
	return none, nil
}

func leaves(n int, sink chan []int, x any) {
	a := make([]int, n)
	b := a
	b[0] = 1 // want write b[0] element:leaves.b[] in leaves
	a[0] = 1 // want write a[0] element:leaves.a[] in leaves
	c := make([]int, n)
	sink <- c // want read sink channel:leaves.sink in leaves
	c[0] = 1  // want write c[0] element:leaves.c[] in leaves
	d := make([]T, n)
	d[0].mu.Lock()
	d[0].n = 1 // want write d[0].n field:T.n in leaves
	e := make([]int, n)
	go func() {
		e[0] = 1 // want write e[0] element:leaves.e[] in leaves.func1
	}()
	switch y := x.(type) {
	case []int:
		y[0] = 1 // want write y[0] element:leaves.y[] in leaves
	}
	f := make([]int, n)
	g := f[1:]
	g[0] = f[0] // want write g[0] element:leaves.g[] in leaves; read f[0] element:leaves.f[] in leaves
	for _, h := range [][]int{f} {
		h[0] = 1 // want write h[0] element:leaves.h[] in leaves
	}
}

func generically[E any](s []E, i int) E {
	return s[i] // want read s[i] element:generically.s[] in generically
}

func mixed[S ~[]byte | ~string](s S, i int) byte {
	return s[i]
}
