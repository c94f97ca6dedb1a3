package sites

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const forksSource = `package p

import "sync"

type pool struct{ wg sync.WaitGroup }

func (pool) Go(func()) {}

func f(p *pool, run func(), ch chan int) {
	go run() // fork
	go func() { // fork with its body
		go p.wg.Done() // fork
	}()
	p.wg.Go(run) // fork
	p.wg.Go(func() {}) // fork with its body
	p.Go(run)
	select {
	case <-ch:
		go run() // fork
	}
	switch {
	default:
		go run() // fork
	}
again:
	go run() // fork
	for ; ; p.wg.Go(run) {
		if p.wg.Go(run); ch != nil {
			goto again
		}
	}
}

//go:nosplit
func g(run func()) { go run() }
`

func TestForks(t *testing.T) {
	p := typed(t, forksSource)
	var got, want []string
	ids := map[uint64]bool{}
	for _, fork := range Forks(p, p.Files[0]) {
		text := "fork"
		if fork.Body != nil {
			text += " with its body"
		}
		got = append(got, fmt.Sprintf("%d: %s", p.Fset.Position(fork.Stmt.Pos()).Line, text))
		if fork.ID == 0 || ids[fork.ID] {
			t.Errorf("id %d again", fork.ID)
		}
		ids[fork.ID] = true
	}
	for i, line := range strings.Split(forksSource, "\n") {
		if _, comment, ok := strings.Cut(line, " // "); ok {
			want = append(want, fmt.Sprintf("%d: %s", i+1, comment))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
