package tests

type hits struct{ n int }

func (h *hits) add() {
	h.n++ // want `hits.n is accessed by two goroutines that nothing orders: the goroutine started at tests_test.go:\d+ writes it, and so do the others`
}
