// Hbcost runs one of the programs that the happens-before engine's cost is measured with, and prints the processor time
// that it took, in nanoseconds, and its peak of memory, in kB. Without an argument it lists the programs.
package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// program does the same work each time that it is run.
type program struct {
	name, about string
	run         func()
}

var programs = []program{
	{"tree", "insertions into a tree under a mutex", insertIntoTree},
	{"json", "JSON, there and back", encodeAndDecode},
	{"sort", "sorting", sortNumbers},
	{"channel", "a channel between two goroutines", sendAndReceive},
	{"share", "starting 2,000 goroutines that share a mutex and a WaitGroup", shareMutex},
	{"few", "starting 10 goroutines that share a WaitGroup", func() { startMany(4000, 10) }},
	{"many", "starting 10,000 goroutines that share a WaitGroup", func() { startMany(8, 10_000) }},
	{"mutex", "a mutex alone", lockAndUnlock},
	{"alloc", "allocation", allocate},
	{"buffer", "writing to a buffer", writeToBuffer},
	{"map", "a map", countWords},
	{"http", "HTTP requests to a server in the same process", request},
}

func main() {
	if len(os.Args) != 2 {
		for _, p := range programs {
			fmt.Printf("%s\t%s\n", p.name, p.about)
		}
		return
	}
	for _, p := range programs {
		if p.name == os.Args[1] {
			before := processorTime()
			p.run()
			fmt.Println(processorTime()-before, peak())
			return
		}
	}
	fmt.Fprintf(os.Stderr, "hbcost: no program %q\n", os.Args[1])
	os.Exit(2)
}

// processorTime returns the nanoseconds that all threads have run.
func processorTime() int64 {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return use.Utime.Nano() + use.Stime.Nano()
}

// peak returns the peak of the resident memory in kB.
func peak() (kB int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "VmHWM: %d kB", &kB)
	}
	return kB
}
