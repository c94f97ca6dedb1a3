// Command watch holds small programs with the monitor's calls written in by
// hand, as the rewriter would put them. The first argument names the program;
// names that begin with "race" have a data race between site 1 and site 1 or
// 2, names that begin with "clean" have none.
package main

import (
	"os"
	"sort"

	"interlock.invalid/rt"
)

var programs = map[string]func(){}

// keep holds what must be shared memory and not stay on a stack.
var keep any

func main() {
	if len(os.Args) < 2 {
		var names []string
		for name := range programs {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			os.Stdout.WriteString(name + "\n")
		}
		return
	}
	programs[os.Args[1]]()
	rt.Flush()
}
