// Package table has a function for each line of the table of tests and uses,
// and beside it what the line excuses.
package table

import (
	"runtime"
	"sync"
	"sync/atomic"
)

type item struct{ n int }

func (i *item) stop() { i.n = 0 }

type T struct {
	mu     sync.Mutex
	closed bool
	n, max int
	list   []*item
	byKey  map[string]*item
	marked map[string]bool
	ready  bool
	item   *item
	ch     chan int
	names  map[string]string
	name   string
	first  *item
	plain  int

	next, serving atomic.Uint64
	bytes         int
	stopped       bool
	left          map[string]int
	current       atomic.Pointer[item]
}

func (t *T) raise() {
	t.mu.Lock()
	n := t.n
	t.mu.Unlock()
	if n < t.max {
		t.mu.Lock()
		t.n++
		t.mu.Unlock()
	}
}

func (t *T) take() {
	t.mu.Lock()
	n := t.n
	t.mu.Unlock()
	if n > 0 {
		t.mu.Lock()
		t.n--
		t.mu.Unlock()
	}
}

func (t *T) okAccountedFor() {
	t.mu.Lock()
	n := t.n
	t.mu.Unlock()
	if n > 0 {
		t.mu.Lock()
		t.n -= n
		t.mu.Unlock()
	}
}

func (t *T) okSoft(n int) {
	t.mu.Lock()
	full := t.n >= t.max
	t.mu.Unlock()
	if !full {
		t.mu.Lock()
		t.n += n
		t.mu.Unlock()
	}
}

func (t *T) addEntry(key string, i *item) {
	t.mu.Lock()
	full := len(t.byKey) >= t.max
	t.mu.Unlock()
	if !full {
		t.mu.Lock()
		t.byKey[key] = i
		t.mu.Unlock()
	}
}

func (t *T) makeEntry(key string) {
	t.mu.Lock()
	_, ok := t.byKey[key]
	t.mu.Unlock()
	if !ok {
		t.mu.Lock()
		t.byKey[key] = &item{}
		t.mu.Unlock()
	}
}

func (t *T) putEntry(key, name string) {
	t.mu.Lock()
	_, ok := t.names[key]
	t.mu.Unlock()
	if !ok {
		t.mu.Lock()
		t.names[key] = name
		t.mu.Unlock()
	}
}

func (t *T) countEntry(key string) {
	t.mu.Lock()
	_, ok := t.names[key]
	t.mu.Unlock()
	if !ok {
		name := key + key
		t.mu.Lock()
		t.names[key] = name
		t.bytes += len(name)
		t.mu.Unlock()
	}
}

func (t *T) exchangeMark() bool {
	t.mu.Lock()
	was := t.stopped
	t.mu.Unlock()
	t.mu.Lock()
	t.stopped = true
	t.mu.Unlock()
	return !was
}

func (t *T) okExchangedAtOnce() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	was := t.stopped
	t.stopped = true
	return !was
}

func (t *T) exchangeReset() []*item {
	t.mu.Lock()
	list := t.list
	t.mu.Unlock()
	t.mu.Lock()
	t.list = nil
	t.mu.Unlock()
	return list
}

func (t *T) exchangeValue(n int) int {
	t.mu.Lock()
	old := t.max
	t.mu.Unlock()
	t.mu.Lock()
	t.max = n
	t.mu.Unlock()
	return old
}

// Drop is what others do meanwhile.
func (t *T) Drop() { t.current.Store(nil) }

func (t *T) followAtomic() int {
	if t.current.Load() != nil {
		return t.current.Load().n
	}
	return 0
}

func (t *T) okLoadedOnce() int {
	if i := t.current.Load(); i != nil {
		return i.n
	}
	return 0
}

func (t *T) takeIfLeft(key string) bool {
	t.mu.Lock()
	n := t.left[key]
	t.mu.Unlock()
	if n == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left[key] > 0 {
		t.left[key]--
	}
	return true
}

func (t *T) okTakenIfLeft(key string) bool {
	t.mu.Lock()
	n := t.left[key]
	t.mu.Unlock()
	if n == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left[key] > 0 {
		t.left[key]--
		return true
	}
	return false
}

func (t *T) putValue(name string) {
	t.mu.Lock()
	absent := t.name == ""
	t.mu.Unlock()
	if absent {
		t.mu.Lock()
		t.name = name
		t.mu.Unlock()
	}
}

func (t *T) okOtherEntry(key, other string) {
	t.mu.Lock()
	_, ok := t.byKey[key]
	t.mu.Unlock()
	if !ok {
		t.mu.Lock()
		t.byKey[other] = &item{}
		t.mu.Unlock()
	}
}

func (t *T) setGreater(n int) {
	t.mu.Lock()
	small := t.max < n
	t.mu.Unlock()
	if small {
		t.mu.Lock()
		t.max = n
		t.mu.Unlock()
	}
}

func (t *T) makeValue() {
	t.mu.Lock()
	absent := t.item == nil
	t.mu.Unlock()
	if absent {
		t.mu.Lock()
		t.item = &item{}
		t.mu.Unlock()
	}
}

func (t *T) addMark(key string) {
	t.mu.Lock()
	full := len(t.marked) >= t.max
	t.mu.Unlock()
	if !full {
		t.mu.Lock()
		t.marked[key] = true
		t.mu.Unlock()
	}
}

func (t *T) markEntry(key string) {
	t.mu.Lock()
	marked := t.marked[key]
	t.mu.Unlock()
	if !marked {
		go println(key)
		t.mu.Lock()
		t.marked[key] = true
		t.mu.Unlock()
	}
}

func (t *T) okMarkedTwice(key string) {
	t.mu.Lock()
	marked := t.marked[key]
	t.mu.Unlock()
	if !marked {
		t.mu.Lock()
		t.marked[key] = true // and nothing else
		t.mu.Unlock()
	}
}

func (t *T) markValue() {
	t.mu.Lock()
	ready := t.ready
	t.mu.Unlock()
	if !ready {
		go println()
		t.mu.Lock()
		t.ready = true
		t.mu.Unlock()
	}
}

func (t *T) clear() {
	t.mu.Lock()
	i := t.item
	t.mu.Unlock()
	if i != nil {
		i.stop()
		t.mu.Lock()
		t.item = nil
		t.mu.Unlock()
	}
}

func (t *T) okClearedOnly() {
	t.mu.Lock()
	i := t.item
	t.mu.Unlock()
	if i != nil {
		t.mu.Lock()
		t.item = nil
		t.mu.Unlock()
	}
}

func (t *T) removeExpired(key string) {
	t.mu.Lock()
	i := t.byKey[key]
	expired := i != nil && i.n > 9
	t.mu.Unlock()
	if expired {
		t.mu.Lock()
		delete(t.byKey, key)
		t.mu.Unlock()
	}
}

func (t *T) removeEntry(key string) {
	t.mu.Lock()
	_, ok := t.marked[key]
	t.mu.Unlock()
	if ok {
		go println(key)
		t.mu.Lock()
		delete(t.marked, key)
		t.mu.Unlock()
	}
}

func (t *T) okRemovedTwice(key string) {
	t.mu.Lock()
	_, ok := t.marked[key]
	t.mu.Unlock()
	if ok {
		t.mu.Lock()
		delete(t.marked, key) // of what is gone already, too
		t.mu.Unlock()
	}
}

func (t *T) followEntry(key string) int {
	t.mu.Lock()
	_, ok := t.byKey[key]
	t.mu.Unlock()
	if !ok {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byKey[key].n
}

func (t *T) index() *item {
	t.mu.Lock()
	some := len(t.list) > 0
	t.mu.Unlock()
	if !some {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[0]
}

func (t *T) follow() int {
	t.mu.Lock()
	some := t.item != nil
	t.mu.Unlock()
	if !some {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.item.n
}

// Close sets the flag and clears what goes with it.
func (t *T) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.list, t.first = nil, nil
	clear(t.byKey)
	close(t.ch)
}

func (t *T) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

func (t *T) raiseAfterClose(i *item) {
	if t.isClosed() {
		return
	}
	t.mu.Lock()
	t.list = append(t.list, i)
	t.mu.Unlock()
}

func (t *T) okAskedUnder(i *item) {
	if t.isClosed() {
		return
	}
	t.mu.Lock()
	if !t.closed {
		t.list = append(t.list, i)
	}
	t.mu.Unlock()
}

func (t *T) insertAfterClose(key string, i *item) {
	if t.isClosed() {
		return
	}
	t.mu.Lock()
	t.byKey[key] = i
	t.mu.Unlock()
}

func (t *T) sendAfterClose(n int) {
	if t.isClosed() {
		return
	}
	t.ch <- n
}

func (t *T) indexAfterClose(i int) *item {
	if t.isClosed() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[i]
}

func (t *T) okRanged() (n int) {
	if t.isClosed() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, i := range t.list {
		n += i.n
	}
	return n
}

func (t *T) okIndexedWithin(i int) *item {
	if t.isClosed() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i >= len(t.list) {
		return nil
	}
	return t.list[i]
}

func (t *T) followAfterClose() int {
	if t.isClosed() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.first.n
}

func (t *T) okFollowedIfThere() int {
	if t.isClosed() {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.first == nil {
		return 0
	}
	return t.first.n
}

func (t *T) okTurn() {
	n := t.next.Add(1) - 1
	for t.serving.Load() != n {
		runtime.Gosched()
	}
	t.plain++
	t.serving.Add(1)
}

func (t *T) length() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

func (t *T) upTo(n int) []*item {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.list[:n]
}

func (t *T) sliceByLength() []*item {
	n := t.length()
	return t.upTo(n)
}

// All is exported, so that any two goroutines may run all of these.
func (t *T) All(key string, i *item) {
	t.raise()
	t.take()
	t.okAccountedFor()
	t.okSoft(t.max)
	t.addEntry(key, i)
	t.makeEntry(key)
	t.okOtherEntry(key, "")
	t.setGreater(3)
	t.makeValue()
	t.addMark(key)
	t.markEntry(key)
	t.okMarkedTwice(key)
	t.markValue()
	t.clear()
	t.okClearedOnly()
	t.removeExpired(key)
	t.removeEntry(key)
	t.okRemovedTwice(key)
	t.followEntry(key)
	t.index()
	t.follow()
	t.raiseAfterClose(i)
	t.okAskedUnder(i)
	t.insertAfterClose(key, i)
	t.sendAfterClose(1)
	t.indexAfterClose(1)
	t.okRanged()
	t.okIndexedWithin(1)
	t.followAfterClose()
	t.okFollowedIfThere()
	t.okTurn()
	t.sliceByLength()
	t.countEntry(key)
	t.exchangeMark()
	t.okExchangedAtOnce()
	t.exchangeReset()
	t.exchangeValue(1)
	t.takeIfLeft(key)
	t.okTakenIfLeft(key)
	t.followAtomic()
	t.okLoadedOnce()
}
