// Lab measures the repository itself, and the cost and the findings of Interlock.
//
//	go run ./cmd/internal/lab <tool> [flags] [arguments]
//
// Without a tool it lists them. `make` has a target for each.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/interlock-go/interlock/cmd/internal/lab/bench"
	"github.com/interlock-go/interlock/cmd/internal/lab/conformance"
	"github.com/interlock-go/interlock/cmd/internal/lab/cost"
	"github.com/interlock-go/interlock/cmd/internal/lab/exam"
	"github.com/interlock-go/interlock/cmd/internal/lab/excuses"
	"github.com/interlock-go/interlock/cmd/internal/lab/hbcost"
	"github.com/interlock-go/interlock/cmd/internal/lab/hidden"
	"github.com/interlock-go/interlock/cmd/internal/lab/labels"
	"github.com/interlock-go/interlock/cmd/internal/lab/patches"
	"github.com/interlock-go/interlock/cmd/internal/lab/racesuite"
	"github.com/interlock-go/interlock/cmd/internal/lab/saves"
	"github.com/interlock-go/interlock/cmd/internal/lab/strangers"
	"github.com/interlock-go/interlock/cmd/internal/lab/torture"
)

// tool is one subcommand.
type tool struct {
	name, does string
	run        func(ctx context.Context, args []string) (held bool, err error)
}

var tools = []tool{
	{"bench", "what the monitor costs", bench.Run},
	{"conformance", "the Go distribution's test programs behave as plain when they are instrumented", conformance.Run},
	{"cost", "what the static checks cost", cost.Run},
	{"exam", "which patches `fix` makes for drawn bugs of released modules", exam.Run},
	{"excuses", "which findings each excuse of the checks removes, and which bugs it loses", excuses.Run},
	{"hbcost", "what the happens-before engine costs beside the race detector", hbcost.Run},
	{"hidden", "how soon campaigns find the bugs of small programs, beside -race", hidden.Run},
	{"house", "the size and the shape of the repository's own code", runHouse},
	{"labels", "how readers judged the static findings that are labelled, by code", labels.Run},
	{"patches", "what patches of real bugs do to drivers, tests, campaigns and benchmarks", patches.Run},
	{"racesuite", "what the watch engine catches of the race detector's own suite", racesuite.Run},
	{"replays", "whether replay commands show findings again", hidden.RunReplays},
	{"saves", "how long an editor waits after a save", saves.Run},
	{"strangers", "what check, test and fix do to released modules", strangers.Run},
	{"torture", "generated programs, correct and racy, through the whole pipeline", torture.Run},
}

// The exit codes, beside 0.
const (
	exitMissed = 1 // the tool ran, and a bar that it knows is missed
	exitUsage  = 2
	exitFailed = 3 // the tool could not measure
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(runTool(ctx, os.Args[1:]))
}

// runTool runs the tool that args name and returns the exit code.
func runTool(ctx context.Context, args []string) int {
	if len(args) == 0 {
		printUsage()
		return exitUsage
	}
	i := slices.IndexFunc(tools, func(t tool) bool { return t.name == args[0] })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "lab: no tool %q\n", args[0])
		printUsage()
		return exitUsage
	}
	held, err := tools[i].run(ctx, args[1:])
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "lab %s: %v\n", args[0], err)
		return exitFailed
	case !held:
		fmt.Fprintf(os.Stderr, "lab %s: a bar is missed; the report says which\n", args[0])
		return exitMissed
	}
	return 0
}

func printUsage() {
	fmt.Fprintln(os.Stderr, "usage: lab <tool> [flags] [arguments]; lab <tool> -h lists the flags\n\ntools:")
	for _, t := range tools {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", t.name, t.does)
	}
}
