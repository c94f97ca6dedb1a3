package production

import (
	"errors"
	"testing"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// A signal that means something to the runtime or to those who stop a program switches no watch.
func TestSignalOf(t *testing.T) {
	for named, want := range map[string]int{"": 0, "SIGUSR2": 12, "USR2": 12, "SIGUSR1": 10, "IO": 29, "SIGPWR": 30} {
		if got, err := SignalOf(named); got.Number != want || err != nil {
			t.Errorf("%s: %v, %v", named, got, err)
		}
	}
	for _, named := range []string{"SIGTERM", "SIGPROF", "SIGURG", "SIGTRAP", "SIGKILL", "usr2", "12", "SIG"} {
		if got, err := SignalOf(named); !errors.As(err, new(*gocmd.ConfigError)) {
			t.Errorf("%s: %v, %v", named, got, err)
		}
	}
}
