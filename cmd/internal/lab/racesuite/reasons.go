package racesuite

import (
	"regexp"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// reason is why racy functions are not caught in the act.
type reason struct {
	title string
	about string
	names *regexp.Regexp // nil: see classify
}

// known are reasons found by reading the functions. They hold for functions
// that were not caught only.
var known = []*reason{
	{
		"operations of a channel on the channel itself",
		"Close against send, close or len. They race with each other, or leave unordered by the rules what they order in " +
			"every run: the panic of a\n" +
			"blocked send comes after the close, a loop that polls len ends after the receive.",
		regexp.MustCompile(`^TestRaceChan(Sync|Async)?(Close(Send|Close)|Send(Select)?(Close|Len)|RecvLen)$`),
	},
	{
		"accesses made inside of the standard library",
		"By reflect, sync, os or bytes, which are not rewritten, on one side or on both.",
		regexp.MustCompile(`^TestRace(Reflect.*|WaitGroupWrongAdd|MutexOverwrite|Issue5567|Issue51618|Issue5654)$`),
	},
	{
		"never at the same moment, whatever the noise",
		"Finalizers and cleanups run on one goroutine, one after the other; the clock of a synctest bubble moves only " +
			"while all its goroutines wait;\n" +
			"an access in the default case of a select comes only after the send that fills the channel has been made, and " +
			"with it the other access.",
		regexp.MustCompile(`^TestRace(Fin|BetweenCleanups|SynctestGoroutinesSleep|SynctestTimers|ChanSendSend)$`),
	},
	{
		"the function skips itself", "It calls t.Skip.",
		regexp.MustCompile(`^TestRaceRangeFuncIterator$`),
	},
	{
		"accesses that the language makes without saying so",
		"The length of a map, assignment by a range clause, a return that reads named results, the receiver of a " +
			"promoted method. The rewriter leaves them alone.",
		regexp.MustCompile(`^TestRace(.*MapLen.*|Range|HeapParam|MethodThunk.*)$`),
	},
}

// Reasons for functions that nobody has read, as far as the sites tell.
var (
	notReached = &reason{
		title: "no monitored access ran",
		about: "What races is done by code that is not rewritten, or by a kind of access that the rewriter does not " +
			"announce.",
	}
	oneSide = &reason{
		title: "one side is not monitored",
		about: "Of each variable at most one side ran under the monitor; the other is done by code that is not " +
			"rewritten, or is a kind of access that the rewriter does not announce.",
	}
	apart = &reason{
		title: "both sides ran, never at the same moment",
		about: "Something orders the accesses in all runs that were made, or one side comes so much later that no window " +
			"lasts as long.",
	}
)

// reasons is the order of the report.
var reasons = append(known, notReached, oneSide, apart)

// explain returns the reason why the function was not caught.
func explain(f function, p *plan.Plan, c campaign.Coverage) *reason {
	for _, r := range known {
		if r.names.MatchString(f.name) {
			return r
		}
	}
	return classify(p, c)
}

// classify looks at the monitored accesses that ran in a function's processes.
func classify(p *plan.Plan, c campaign.Coverage) *reason {
	var reached []*plan.Site
	for _, id := range c.Reached {
		reached = append(reached, p.Site(id))
	}
	if len(reached) == 0 {
		return notReached
	}
	for i, a := range reached {
		for _, b := range reached[i:] {
			// One site may race with itself in two goroutines.
			if a.Variable == b.Variable && (a.Mode == plan.Write || b.Mode == plan.Write) && (a != b || inClosure(a)) {
				return apart
			}
		}
	}
	return oneSide
}

func inClosure(s *plan.Site) bool { return strings.Contains(s.Function, ".func") }
