package child

import "time"

const (
	// NoiseBudget is the time of the monitor's noise by default, in percent of the time
	// that the process takes without it: the monitor's own default.
	NoiseBudget = 200
	// monitorCost is in percent too: instrumented accesses cost more even without noise.
	monitorCost = 50
	// Floor is the time that a monitored process may take in any case.
	Floor = 10 * time.Second
)

// Stretch returns the time that a monitored process may take that takes so long
// without the monitor: noise and monitor cost time that the program is not to
// blame for. budget is in percent; 0 is the monitor's own.
func Stretch(plain time.Duration, budget int) time.Duration {
	if budget <= 0 {
		budget = NoiseBudget
	}
	return plain / 100 * time.Duration(100+budget+monitorCost)
}
