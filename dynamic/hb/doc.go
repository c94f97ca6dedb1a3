// Package hb is the happens-before engine: FastTrack (Flanagan and Freund, PLDI 2009)
// behind the hooks that the compiler puts into code for the race detector, in pure Go.
//
// A build with -gcflags=all=-race and the build tag race, but without the go command's
// -race, is instrumented as for the race detector and links nothing of it. An overlay
// fills the gap ([Prepare]): it replaces runtime/race.go, which binds the detector's C++
// runtime, by the part of it that does not, and adds the files of the folder inject to
// package runtime. The distribution's own source is read from the Go installation at
// hand. So the engine sees all packages, the standard library included, needs neither
// cgo nor a C compiler, and test binaries name the failing test as under -race.
//
// # Findings
//
// A data race of the execution at hand: two accesses, one of them a write, not both by
// sync/atomic, that nothing orders. It is found whenever both accesses are made, however
// far apart in time. Order is that of the Go memory model, as the runtime and package
// sync tell it to the race detector.
//
// # Missed
//
// Missed by -race too: code that is not instrumented (assembly, cgo, functions with the
// directive norace), accesses of single words that overlap without beginning at the same
// byte, and edges that -race draws beyond the memory model (a failed TryLock, finalizers).
//
// Beside that: of atomic writes that are not ordered among themselves only the last is compared
// with later plain accesses; an access that starts at byte 0 of a word takes the place of one of
// the whole word, so that a later access of bytes 1 to 7 alone is not compared with that one; a
// goroutine that takes over the slot of an ended one that nothing orders before it, which happens
// from 4096 slots on; accesses that memory bounds drop. The last two are counted.
//
// # Reported falsely
//
// Nothing: an access is reported where the clock of its goroutine does not cover the
// earlier one, and no shortcut lowers a clock. Synchronisation in code that is not
// instrumented is not seen, as under -race.
//
// The additions to package runtime are in the folder inject; its doc.go is a map of it.
package hb
