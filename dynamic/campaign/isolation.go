package campaign

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/recorded"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/userpath"
	"github.com/interlock-go/interlock/dynamic/campaign/judge"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
)

const (
	// orders is how many orders of the goroutines there are, by which of them begin late, see dynamic/rt. The search goes
	// through the places with each.
	orders = 4
	// fewFailures is in how many runs a test has to fail where it does so in the first one, and in each second one.
	fewFailures = 2
	// mostUnclear is how often a place is tried at which the test fails and nothing crosses.
	mostUnclear = 2
	// mostCrossings is how many are tried of one place.
	mostCrossings = 4
)

// isolation is the search for why the tests of a package fail.
type isolation struct {
	*campaign
	pkg     *run.Package
	binary  build.Binary
	test    string // as a pattern: "" is all
	end     time.Time
	cpu     cpuLimit
	uses    map[uint64]LockUse
	runs    int
	tried   int
	unclear map[arm.Visit]int         // how often the test has failed by a pause there, and nothing crosses
	seenAt  map[arm.Visit]*failuresAt // of each place with a failing run
	visits  map[arm.Place]int         // the latest visit that a goroutine has made, in an order of the goroutines
}

// isOver reports whether the search has used up its time.
func (s *isolation) isOver() bool { return time.Now().After(s.end) || s.cpu.isReached() }

func isTestFile(file string) bool { return strings.HasSuffix(file, "_test.go") }

// isOurs reports whether a file is one of the module, and not of its tests.
func (s *isolation) isOurs(file string) bool {
	return !isTestFile(file) && !filepath.IsAbs(userpath.File(s.cfg.Workspace, file))
}

// cpuLimit bounds searches by the processor time that the campaign's processes have used.
type cpuLimit struct {
	tests *recorded.Runner
	end   time.Duration // 0 is no limit
}

// isReached reports whether the processes have used that much.
func (l cpuLimit) isReached() bool { return l.end > 0 && l.tests.CPU >= l.end }

// choosesTest reports whether one test may run alone: the user has chosen none.
func (c *campaign) choosesTest() bool {
	return !strings.Contains(strings.Join(run.GoFlags(&c.cfg.Settings), " "), "-run=")
}

// failuresAt is how often a test has failed with a pause at one place.
type failuresAt struct {
	judge.Failures
	seed   uint64 // of the latest of them
	said   string
	stored string // see Unexplained
}
