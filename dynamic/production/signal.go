package production

import (
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// Switches are the means to switch the watch of a program that runs.
type Switches struct {
	Agent  string // where the agent has its pages, by [Where]; "" without
	Signal Signal // which turns the watch on and off; zero without
}

// Signal is a signal by its name and its number on linux/amd64.
type Signal struct {
	Name   string
	Number int
}

// signals are those that mean nothing to the runtime, nor to most programs.
var signals = []Signal{{"SIGUSR1", 10}, {"SIGUSR2", 12}, {"SIGIO", 29}, {"SIGPWR", 30}}

// SignalOf returns the signal that the user has named, with SIG in front or without; "" is none. One that cannot switch
// a watch is a *[gocmd.ConfigError].
func SignalOf(named string) (Signal, error) {
	if named == "" {
		return Signal{}, nil
	}
	var names []string
	for _, s := range signals {
		if s.Name == named || s.Name == "SIG"+named {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Signal{}, gocmd.Refuse("-signal="+named+" is no signal that can switch a watch",
		"name one that the program does not use, of "+strings.Join(names, ", "))
}
