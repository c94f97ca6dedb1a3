// Package outlives: Begin returns with the lock held, so that what runs until
// Commit runs under it and does not show it.
package outlives

import "sync"

type DB struct {
	rw   sync.Mutex
	mmap sync.Mutex
	file *int
}

func (db *DB) Begin() *Tx {
	db.rw.Lock()
	if db.file == nil {
		db.rw.Unlock()
		return nil
	}
	return &Tx{db}
}

type Tx struct{ db *DB }

func (tx *Tx) Commit() { tx.db.rw.Unlock() }

func (tx *Tx) Write() { *tx.db.file = 1 } // ok

func (db *DB) Map() int {
	db.mmap.Lock()
	defer db.mmap.Unlock()
	return *db.file
}

func (db *DB) Remap() int {
	db.mmap.Lock()
	defer db.mmap.Unlock()
	return *db.file + 1
}

func (db *DB) Close() {
	db.rw.Lock()
	defer db.rw.Unlock()
	db.mmap.Lock()
	defer db.mmap.Unlock()
	db.file = nil
}
