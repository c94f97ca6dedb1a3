package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/machine"
	"github.com/interlock-go/interlock/cmd/internal/released"
)

// subject is a module, and the packages of it that are looked at.
type subject struct{ module, version, packages string }

var subjects = []subject{
	{"go.etcd.io/bbolt", "v1.3.7", "./..."},
	{"github.com/hashicorp/raft", "v1.7.1", "."},
	{"github.com/gorilla/websocket", "v1.5.3", "."},
	{"github.com/nats-io/nats-server/v2", "v2.10.22", "./server"},
	{"github.com/prometheus/prometheus", "v0.301.0", "./cmd/prometheus"},
}

// row is what was measured of a subject, package by package and with the
// whole program.
type row struct {
	subject
	lines          int // of the whole program
	modular, whole figures
}

type figures struct {
	stats    atomicsets.Stats
	findings int
	took     time.Duration // to make the plan
	cpu      time.Duration
	peak     float64 // megabytes of the largest process
}

// fetch downloads the module and returns the folder of a copy.
func (s subject) fetch(ctx context.Context, tmp string) (dir string, err error) {
	fmt.Fprintln(os.Stderr, "pruning: fetching", s.module, s.version)
	dir = filepath.Join(tmp, filepath.Base(s.module))
	return dir, released.Fetch(ctx, s.module, s.version, dir)
}

// measure makes the plans and the findings. What the packages import is
// compiled first, so that it counts on no side.
func (s subject) measure(ctx context.Context, tool, dir string) (*row, error) {
	fmt.Fprintln(os.Stderr, "pruning: looking at", s.module, s.packages)
	r := &row{subject: s}
	if _, err := command(ctx, dir, tool, "check", s.packages); err != nil {
		return nil, err
	}
	for f, flags := range map[*figures][]string{&r.modular: nil, &r.whole: {"-whole"}} {
		if err := f.plan(ctx, tool, dir, s.packages, flags, &r.lines); err != nil {
			return nil, err
		}
		done, err := command(ctx, dir, tool, append(append([]string{"check", "-format=jsonl"}, flags...), s.packages)...)
		if err != nil {
			return nil, err
		}
		f.findings = bytes.Count(done.stdout, []byte("\n"))
	}
	return r, nil
}

// size is what -v tells of the whole program.
var size = regexp.MustCompile(`whole program: (\d+) lines`)

func (f *figures) plan(ctx context.Context, tool, dir, packages string, flags []string, lines *int) error {
	args := append([]string{"plan", "-v", "-format=json"}, flags...)
	began := time.Now()
	done, err := command(ctx, dir, tool, append(args, packages)...)
	if err != nil {
		return err
	}
	f.took, f.cpu, f.peak = time.Since(began), done.state.UserTime()+done.state.SystemTime(), machine.Largest(done.state)
	p := new(plan.Plan)
	if err := json.Unmarshal(done.stdout, p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	f.stats = atomicsets.Count(p)
	if m := size.FindSubmatch(done.stderr); m != nil {
		*lines, err = strconv.Atoi(string(m[1]))
	}
	return err
}

type done struct {
	stdout, stderr []byte
	state          *os.ProcessState
}

// command runs the tool, for which findings are no failure.
func command(ctx context.Context, dir, tool string, args ...string) (*done, error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		return nil, fmt.Errorf("%s %s: %w\n%s", filepath.Base(tool), strings.Join(args, " "), err, stderr.Bytes())
	}
	return &done{stdout.Bytes(), stderr.Bytes(), cmd.ProcessState}, nil
}
