package summary

import (
	"fmt"

	"github.com/interlock-go/interlock/analyzers/pass/ir"
)

// sought names the findings of a pass as its users call them.
var sought = map[string]string{
	"interlockownership":  "objects that no other goroutine reaches",
	"interlockinvariants": "atomic sections",
	"interlockparallel":   "accesses that nothing orders (IL1008)",
	"interlocktestuses":   "tests that are out of date when they are relied on (IL2002)",
	"loadstore":           "lost updates (IL2001)",
	"lostunlock":          "ways that keep a lock (IL3004)",
	"aliasescape":         "parts of guarded data that leave the lock (IL1005)",
	"interlockwaits":      "deadlocks and waits that never end (IL3002 to IL4003)",
}

// notSearched returns the findings that may be missing because a function, or the package, is too large for a
// pass.
func notSearched(a ir.Abandoned, function string) string {
	what := sought[a.Pass]
	if what == "" {
		what = "what " + a.Pass + " finds"
	}
	if a.More > 0 {
		functions := "functions"
		if a.More == 1 {
			functions = "function"
		}
		return fmt.Sprintf("%s and %d other %s were not searched for %s: the work for the package has reached its limit",
			function, a.More, functions, what)
	}
	return fmt.Sprintf("%s is not searched to its end for %s: it is too large", function, what)
}
