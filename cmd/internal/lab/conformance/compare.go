package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// verdict is the outcome for one program.
type verdict struct {
	*built
	same    bool
	why     string // the difference, or the reason that there is no comparison
	plain   result
	watched result
	races   int // records of collisions that the monitor left
}

// result is one run of a program.
type result struct {
	output   []byte // stdout and stderr, as they came
	exit     int
	timedOut bool
	took     time.Duration
}

// compareAll compares all programs, two at a time.
func (b *builds) compareAll(ctx context.Context, o options) []verdict {
	verdicts := make([]verdict, len(b.programs))
	command.Parallel(2, len(b.programs), func(i int) {
		if i%100 == 0 {
			fmt.Fprintf(os.Stderr, "conformance: compared %d of %d\n", i, len(b.programs))
		}
		verdicts[i] = b.compare(ctx, &b.programs[i], o)
	})
	return verdicts
}

// compare runs one program both ways.
func (b *builds) compare(ctx context.Context, p *built, o options) verdict {
	v := verdict{built: p, why: p.problem}
	if v.why != "" {
		return v
	}
	if !exists(p.instrumented) {
		v.why = "does not build instrumented"
		return v
	}
	evidence := p.instrumented + ".jsonl"
	awake := []string{"INTERLOCK_OUT=" + evidence, "INTERLOCK_SITES=" + b.table, "INTERLOCK_RUN=1", "INTERLOCK_SEED=1"}
	v.plain = execute(ctx, p.plain, p.program, o.tests, nil, o.timeout)
	v.watched = execute(ctx, p.instrumented, p.program, o.tests, awake, o.timeout)
	if data, err := os.ReadFile(evidence); err == nil {
		v.races = bytes.Count(data, []byte(`"kind":"race"`))
	}
	if v.why = difference(v.plain, v.watched); v.why != "" {
		// A program that differs from itself says nothing about the rewriting.
		again := execute(ctx, p.plain, p.program, o.tests, nil, o.timeout)
		if self := difference(v.plain, again); self != "" {
			v.why = "differs between two plain runs: " + self
		}
		o.keepOutputs(p, v)
	}
	v.same = v.why == ""
	return v
}

// execute runs a binary of a program from the folder that its arguments mean.
func execute(ctx context.Context, binary string, p program, dir string, env []string, timeout time.Duration) result {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, p.Args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = append(append(os.Environ(), "PWD="+dir), append(p.Env, env...)...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	r := result{output: out, took: time.Since(start), timedOut: ctx.Err() != nil}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.exit = exit.ExitCode()
	} else if err != nil {
		r.exit, r.output = -2, append(r.output, err.Error()...)
	}
	return r
}

// volatile matches text that no two runs share: addresses, goroutine numbers, offsets in
// functions and the line with the exit status of a crash.
var volatile = regexp.MustCompile(`0x[0-9a-f]+|goroutine [0-9]+|\+0x[0-9a-f]+`)

// difference returns the first difference, or "".
func difference(a, b result) string {
	switch {
	case a.timedOut || b.timedOut:
		return fmt.Sprintf("time out: plain %v, instrumented %v", a.timedOut, b.timedOut)
	case a.exit != b.exit:
		return fmt.Sprintf("exit code %d, instrumented %d", a.exit, b.exit)
	}
	clean := func(r result) string { return volatile.ReplaceAllString(string(r.output), "?") }
	if x, y := clean(a), clean(b); x != y {
		return fmt.Sprintf("output %s, instrumented %s", firstDifference(x, y), firstDifference(y, x))
	}
	return ""
}

// firstDifference returns the first line of a that b has not, quoted.
func firstDifference(a, b string) string {
	other := strings.Split(b, "\n")
	for i, line := range strings.Split(a, "\n") {
		if i >= len(other) || other[i] != line {
			return fmt.Sprintf("%.120q", line)
		}
	}
	return "is shorter"
}

// keepOutputs writes both outputs where -keep asks for it.
func (o options) keepOutputs(p *built, v verdict) {
	if o.keep == "" {
		return
	}
	name := filepath.Join(o.keep, strings.ReplaceAll(p.Name, "/", "_"))
	if err := os.MkdirAll(o.keep, 0o755); err == nil {
		os.WriteFile(name+".plain", v.plain.output, 0o644)
		os.WriteFile(name+".instrumented", v.watched.output, 0o644)
	}
}
