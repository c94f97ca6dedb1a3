package bench

import (
	"sort"
	"sync"
)

// degree is the least number of children of an inner node but the root.
const degree = 16

// BTree is an ordered set of ints, safe for concurrent use.
type BTree struct {
	mu   sync.Mutex
	root *node // guarded by mu
	len  int   // guarded by mu
}

type node struct {
	keys     []int
	children []*node // none in a leaf
}

// Len returns the number of keys.
func (t *BTree) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.len
}

// Has reports whether key is in the set.
func (t *BTree) Has(key int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := t.root; n != nil; {
		i, found := n.find(key)
		if found {
			return true
		}
		if len(n.children) == 0 {
			return false
		}
		n = n.children[i]
	}
	return false
}

// Insert adds key and reports whether it was new.
func (t *BTree) Insert(key int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.root == nil {
		t.root = &node{}
	}
	if len(t.root.keys) == 2*degree-1 {
		t.root = &node{children: []*node{t.root}}
		t.root.split(0)
	}
	if !t.root.insert(key) {
		return false
	}
	t.len++
	return true
}

func (n *node) find(key int) (int, bool) {
	i := sort.SearchInts(n.keys, key)
	return i, i < len(n.keys) && n.keys[i] == key
}

func (n *node) insert(key int) bool {
	i, found := n.find(key)
	if found {
		return false
	}
	if len(n.children) == 0 {
		n.keys = append(n.keys, 0)
		copy(n.keys[i+1:], n.keys[i:])
		n.keys[i] = key
		return true
	}
	if len(n.children[i].keys) == 2*degree-1 {
		n.split(i)
		switch {
		case key == n.keys[i]:
			return false
		case key > n.keys[i]:
			i++
		}
	}
	return n.children[i].insert(key)
}

// split halves the full child i and moves its middle key up.
func (n *node) split(i int) {
	left := n.children[i]
	right := &node{keys: append([]int(nil), left.keys[degree:]...)}
	middle := left.keys[degree-1]
	left.keys = left.keys[:degree-1]
	if len(left.children) > 0 {
		right.children = append([]*node(nil), left.children[degree:]...)
		left.children = left.children[:degree]
	}
	n.keys = append(n.keys, 0)
	copy(n.keys[i+1:], n.keys[i:])
	n.keys[i] = middle
	n.children = append(n.children, nil)
	copy(n.children[i+2:], n.children[i+1:])
	n.children[i+1] = right
}
