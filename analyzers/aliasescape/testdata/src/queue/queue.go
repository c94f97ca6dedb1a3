// Package queue has no lock: its users bring theirs.
package queue

type Queue struct {
	array []byte
	tail  int
}

func (q *Queue) Push(b []byte) { // want Push:"changes Queue.array"
	q.copy(b)
}

func (q *Queue) copy(b []byte) { q.tail += copy(q.array[q.tail:], b) }

func (q *Queue) Get(i int) ([]byte, error) { // want Get:"result 0 aliases Queue.array"
	b, _, err := q.peek(i)
	return b, err
}

func (q *Queue) peek(i int) ([]byte, int, error) { return q.array[i : i+1], 1, nil }
