// Package promises: a comment that several goroutines may use a type counts if it says so plainly.
package promises

import "sync"

// Log is safe for concurrent use by multiple goroutines. A Log must not be copied.
type Log struct {
	mu    sync.Mutex
	lines []string
	size  int
	last  string
	used  int
}

// Add adds a line.
func (l *Log) Add(s string) {
	l.mu.Lock()
	l.lines, l.size, l.last, l.used = append(l.lines, s), l.size+len(s), s, l.used+1
	l.mu.Unlock()
}

// Drop forgets all.
func (l *Log) Drop() {
	l.mu.Lock()
	l.lines, l.size, l.last, l.used = nil, 0, "", 0
	l.mu.Unlock()
}

// Lines returns the lines, or nil if there are none.
func (l *Log) Lines() []string { return l.lines } // want `Log.lines is read without l.mu`

// Size returns the size. Call it when the writers have finished.
func (l *Log) Size() int { return l.size } // want `Log.size is read without l.mu`

// Last returns the last line, between two calls of Add.
//
// Unlike the others, it must not run in parallel with Add.
func (l *Log) Last() string { return l.last } // want `Log.last is read without l.mu`

// Used returns how many there were, for the caller that has the log to itself.
func (l *Log) Used() int { return l.count() }

func (l *Log) count() int { return l.used } // want `Log.used is read without l.mu`

// Sheet is safe for concurrent use until it is bound: only a Book of sheets is goroutine-safe.
type Sheet struct {
	mu   sync.Mutex
	rows int
}

// Grow adds rows.
func (s *Sheet) Grow(n int) {
	s.mu.Lock()
	s.rows += n
	s.mu.Unlock()
}

// Shrink takes rows away.
func (s *Sheet) Shrink(n int) {
	s.mu.Lock()
	s.rows -= n
	s.mu.Unlock()
}

// Rows returns how many there are.
func (s *Sheet) Rows() int { return s.rows } // want `Sheet.rows is read without s.mu`
