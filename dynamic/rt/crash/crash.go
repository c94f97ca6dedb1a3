// Package crash keeps the output of the runtime when this process crashes apart from the rest of standard error: a
// process that a test starts may crash on purpose, and the test may print its output.
//
// The campaign makes an empty file, INTERLOCK_CRASH. The process that INTERLOCK_PARENT has started, alone, writes
// "kept" into it when it begins, where the runtime can copy its last words, which follow then. With Go 1.22 and
// older it cannot, and the file stays empty. The message of a fatal error is not among them, only
// its goroutines: the runtime prints the message before it counts as dying.
//
// A program that sets a crash output of its own replaces this one, which is its right: its last words are then
// mixed with the output of others, so that its crash counts as a failure and proves nothing. The same holds
// for a program that closes descriptors which are not its own; the next file that it opens may get the number of
// this one, and a crash's text.
package crash

import (
	"os"
	"strconv"
)

// file is the file, "" where there is none. It is set at start.
var file string

func init() {
	if strconv.Itoa(os.Getppid()) != os.Getenv("INTERLOCK_PARENT") {
		return
	}
	if file = os.Getenv("INTERLOCK_CRASH"); file == "" {
		return
	}
	f, err := open()
	if err != nil {
		return // the output on standard error remains
	}
	defer f.Close()
	if copyTo(f) {
		f.WriteString("kept\n")
	}
}

// Print prints the last words of a process that is about to end itself as a crash does.
func Print(text string) {
	os.Stderr.WriteString(text)
	if file == "" {
		return
	}
	if f, err := open(); err == nil {
		f.WriteString(text)
		f.Close()
	}
}

func open() (*os.File, error) { return os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0) }
