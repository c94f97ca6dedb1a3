// Lab measures: the repository itself, and what Interlock costs and finds.
//
//	go run ./cmd/internal/lab <tool> [flags] [arguments]
//
// Without a tool it lists them. `make` has a target for each.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

// tool is one subcommand.
type tool struct {
	name, does string
	run        func(ctx context.Context, args []string) error
}

var tools = []tool{
	{"house", "print the size and the shape of the repository's own code", runHouse},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 {
		usage()
		os.Exit(2)
	}
	for _, t := range tools {
		if t.name != os.Args[1] {
			continue
		}
		switch err := t.run(ctx, os.Args[2:]); {
		case err == nil || errors.Is(err, flag.ErrHelp):
			return
		default:
			fmt.Fprintf(os.Stderr, "lab %s: %v\n", t.name, err)
			os.Exit(1)
		}
	}
	fmt.Fprintf(os.Stderr, "lab: no tool %q\n", os.Args[1])
	usage()
	os.Exit(2)
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: lab <tool> [flags] [arguments]; lab <tool> -h lists the flags\n\ntools:")
	for _, t := range tools {
		fmt.Fprintf(os.Stderr, "  %-12s %s\n", t.name, t.does)
	}
}
