// Package lib uses the store of another package.
package lib

import "lib/store"

type User struct{ s *store.Store }

func (u *User) Ensure(k string) {
	if !u.s.Has(k) {
		u.s.Put(k, new(int)) // want `test and use of Store.items are not one step: .*by \(\*Store\).Has, store.go:\d+`
	}
}

func (u *User) EnsureRight(k string) { u.s.Ensure(k) }

func (u *User) Send(k string) {
	if u.s.Closed() {
		return
	}
	u.s.Put(k, new(int)) // ok: the store itself decides on what is closed
}
