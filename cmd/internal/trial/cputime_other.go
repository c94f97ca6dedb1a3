//go:build !unix

package trial

import "time"

// cpuTime returns nothing: on this system the clock alone ends a budget.
func cpuTime() time.Duration { return 0 }
