package generics

type Box[T any] struct{ v T }

func (b *Box[T]) Later(v T) {
	go func() {
		b.v = v // want `Box.v is accessed by two goroutines`
	}()
	_ = b.v
	var zero T
	b.v = zero
}
