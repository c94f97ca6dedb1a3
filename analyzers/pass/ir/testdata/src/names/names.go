package names

var g = func() int { return 1 }

type T struct{}

func (t *T) M() {
	func() {
		func() {}()
		defer func() { func() {}() }()
	}()
	func() {}()
}

type G[P any] struct{}

func (G[P]) M() {}

func F(seq func(func(int) bool)) {
	for range seq {
		func() {}()
	}
}

func init() { func() {}() }

func init() {}

var h = struct{ f func() }{func() {}}
