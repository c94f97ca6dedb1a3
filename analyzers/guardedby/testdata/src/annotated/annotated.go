package annotated

import "sync"

type Box struct {
	Mu sync.Mutex
	//interlock:guardedby Mu
	Val int
	// +checklocks:Mu
	Len int
}

func (b *Box) Set(v int) { b.Val = v } // want `Box.Val is written without Mu.*an annotation names it`

func (b *Box) Get() int {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Len++
	return b.Val // ok
}

func (b *Box) Write(v int) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Val = v
	b.grow()
}

// +checklocks:b.Mu
func (b *Box) grow() { b.Len++ } // ok

var mu sync.Mutex

//interlock:guardedby mu
var count int

func Inc() {
	mu.Lock()
	count++
	mu.Unlock()
}

func Peek() int { return count } // want `count is read without mu`
