// Package syncfix holds the strategies for findings on how locks, WaitGroups
// and channels are used, one a file. Where package strategy protects a variable
// at every access, these correct the places that the findings name:
//
//	unlock   a return that leaves a lock held releases it
//	relock   what runs under a lock does not take it again
//	swap     two locks that are taken one after the other change places
//	exchange an atomic Load and the Store that it decides about become one operation
//	recheck  a test is made again under the second lock
//	join     two critical sections become one
//	extend   a lock is kept until what was found under it has been used
//	count    who starts a goroutine counts it in the WaitGroup
//	buffer   a channel has room for the values that nobody may receive
//	stop     a sender stops when the function that receives has returned
//	signal   a channel is closed however its function returns
//	cancel   who waits at a channel leaves when its context is done
//	sign off a goroutine calls Done however it ends
//	broadcast all who wait for a condition are woken
//	close once a channel is closed in a sync.Once
//
// Buffer, stop and signal are those of GFix (Liu et al., ASPLOS 2021). They treat
// channels that never leave the function that makes them, so that all of their
// operations are known.
//
// A strategy corrects all findings of its group or refuses with a reason. What
// it promises is checked by package validate on the patched source.
package syncfix
