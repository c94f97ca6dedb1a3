// Package facts shows what importing packages learn of annotations.
package facts

import "sync"

type Box struct {
	Mu sync.Mutex
	//interlock:guardedby Mu
	Val int // want Val:"guarded by Mu"
	// +checklocks:Mu
	Len int // want Len:"guarded by Mu"
}

var mu sync.Mutex

//interlock:guardedby mu
var count int // want count:"guarded by mu"

var free int
