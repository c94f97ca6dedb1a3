// Package user accesses fields that an imported package annotates.
package user

import "annotated"

func Read(b *annotated.Box) int { return b.Val } // want `Box.Val is read without Mu`

func Write(b *annotated.Box) {
	b.Mu.Lock()
	b.Val = 1 // ok
	b.Mu.Unlock()
}
