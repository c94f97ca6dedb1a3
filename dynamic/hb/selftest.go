package hb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// selfTest is a program with two variables that two goroutines write: one before and after a channel
// operation, the other without any order.
const selfTest = `package main

var ordered, racy int

func main() {
	done, other := make(chan bool), make(chan bool, 1)
	ordered = 1
	go func() {
		ordered = 2
		racy = 1
		other <- true
		ordered = 3
		done <- true
	}()
	racy = 2
	<-done
	ordered = 4
	<-other
}
`

// SelfTest returns the files of a module with a program that shows that a build is instrumented: see [Try].
func SelfTest() map[string][]byte {
	return map[string][]byte{
		"go.mod":  []byte("module interlock.invalid/selftest\n\ngo 1.21\n"),
		"main.go": []byte(selfTest),
	}
}

// Try runs the program of [SelfTest], built under the engine, and returns an error unless it
// reports the one race that it has.
func Try(ctx context.Context, program string) error {
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(append(os.Environ(), "INTERLOCK_OUT="), Sampling{}.Env()...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && !errors.As(err, &exit):
		return fmt.Errorf("starting the happens-before engine's self-test: %w", err)
	case strings.Count(string(out), "WARNING: DATA RACE") != 1:
		return fmt.Errorf("the happens-before engine does not find the race of its self-test here, "+
			"so that silence would mean nothing; use -engine=watch: %s", strings.TrimSpace(string(out)))
	}
	return nil
}
