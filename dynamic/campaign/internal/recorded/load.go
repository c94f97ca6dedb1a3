package recorded

import (
	"os"
	"regexp"
	"strconv"
	"time"
)

// Beside other work of the machine, processes take longer than their tests need. Their time is counted as on a machine
// without other work, so that a campaign which is bounded by time makes the same runs there.

// mostSlowed bounds how many times as long as it counts a process may have taken: tests that sleep use no processor,
// and take as long as on any machine.
const mostSlowed = 3

// pressureFile is where Linux keeps for how long some thread has waited for a processor so far, in microseconds.
const pressureFile = "/proc/pressure/cpu"

var someTotal = regexp.MustCompile(`(?m)^some .*\btotal=(\d+)$`)

// waitedSoFar returns for how long some thread of the machine has waited for a processor so far; 0 where the system
// keeps no such figure.
func waitedSoFar() time.Duration {
	text, err := os.ReadFile(pressureFile)
	if err != nil {
		return 0
	}
	m := someTotal.FindSubmatch(text)
	if m == nil {
		return 0
	}
	us, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return time.Duration(us) * time.Microsecond
}

// withoutLoad returns how long a process counts which took elapsed and the processor time cpu, while some thread of the
// machine waited for a processor for so long: of that time, the part in which the process had one. Its own threads may
// have waited for each other; then it had all of it.
func withoutLoad(elapsed, cpu, waited time.Duration) time.Duration {
	if elapsed <= 0 {
		return elapsed
	}
	waited = min(waited, elapsed)
	had := time.Duration(float64(waited) * float64(min(cpu, elapsed)) / float64(elapsed))
	return max(elapsed-waited+had, elapsed/mostSlowed)
}
