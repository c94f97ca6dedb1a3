package features

import (
	"context"
	"os"
)

func (t *T) Named() (n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n = t.n // = t.mu
	if n < 0 {
		return
	}
	return t.n, nil // = t.mu
}

// acquire returns with the lock held if it returns true. The result is not followed.
func (t *T) acquire() bool {
	t.mu.Lock()
	if t.n > 3 {
		return true
	}
	t.mu.Unlock()
	return false
}

func (t *T) ByResult() {
	if t.acquire() {
		t.n++ // = maybe T.mu
		t.mu.Unlock()
	}
}

func (t *T) Exits() {
	t.mu.Lock()
	if t.n > 3 {
		os.Exit(1)
	} else {
		t.mu.Unlock()
	}
	t.n++ // = none
}

func (t *T) Selects(ctx context.Context, ch chan int) {
	t.mu.Lock()
	select {
	case k := <-ch:
		t.n = k // = t.mu
		t.mu.Unlock()
	case <-ctx.Done():
		t.mu.Unlock()
		t.n = 0 // = none
	}
	t.n++ // = none
}

func (t *T) Goto(k int) {
	t.mu.Lock()
again:
	t.n++ // = t.mu
	if k--; k > 0 {
		goto again
	}
	t.mu.Unlock()
	goto end
end:
	t.n++ // = none
}

func (t *T) Switches(k int) {
	switch {
	case k > 3:
		t.mu.Lock()
		fallthrough
	case k > 2:
		t.n++ // = maybe T.mu
	default:
		t.mu.Lock()
		t.n++ // = t.mu
		t.mu.Unlock()
	}
}

func (t *T) Labels(list [][]int) {
outer:
	for _, row := range list {
		t.mu.Lock()
		for _, k := range row {
			if k == 0 {
				t.mu.Unlock()
				continue outer
			}
		}
		t.n++ // = t.mu
		t.mu.Unlock()
	}
}
