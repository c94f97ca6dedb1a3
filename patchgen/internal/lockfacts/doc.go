// Package lockfacts knows what a place in the source has to do with locks:
// which are held there, which a call may wait for, in which order they are
// taken, and whether code may wait or run unknown code.
//
// Cost: linear in the module, times the lock classes that calls may hold.
package lockfacts
