package generics

func Later[T any](v T, next func(T) T) T {
	go func() {
		v = *new(T) // want `variable v is shared`
	}()
	return v
}
