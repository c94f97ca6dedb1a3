package pruning

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

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

// subject is a module, and the packages of it that are analysed.
type subject struct{ module, version, packages string }

var subjects = []subject{
	{"go.etcd.io/bbolt", "v1.3.7", "./..."},
	{"github.com/hashicorp/raft", "v1.7.1", "."},
	{"github.com/gorilla/websocket", "v1.5.3", "."},
	{"github.com/nats-io/nats-server/v2", "v2.10.22", "./server"},
	{"github.com/prometheus/prometheus", "v0.301.0", "./cmd/prometheus"},
}

// row has the figures of a subject, package by package and with the
// whole program.
type row struct {
	subject
	lines          int // of the whole program
	modular, whole figures
}

// figures are those of one of the two ways.
type figures struct {
	stats    atomicsets.Stats
	findings int
	used     command.Usage // to make the plan
}

// fetchModule downloads the module and returns the folder of a copy.
func (s subject) fetchModule(ctx context.Context, tmp string) (dir string, err error) {
	fmt.Fprintln(os.Stderr, "pruning: fetching", s.module, s.version)
	dir = filepath.Join(tmp, filepath.Base(s.module))
	return dir, released.Fetch(ctx, s.module, s.version, dir)
}

// measure makes the plans and the findings. The imports of the packages are
// compiled first, so that they count on no side.
func (s subject) measure(ctx context.Context, tool, dir string) (*row, error) {
	fmt.Fprintln(os.Stderr, "pruning: analysing", s.module, s.packages)
	r := &row{subject: s}
	if _, _, _, err := runTool(ctx, dir, tool, "check", s.packages); err != nil {
		return nil, err
	}
	for f, flags := range map[*figures][]string{&r.modular: nil, &r.whole: {"-whole"}} {
		if err := f.makePlan(ctx, tool, dir, s.packages, flags, &r.lines); err != nil {
			return nil, err
		}
		args := append(append([]string{"check", "-format=jsonl"}, flags...), s.packages)
		stdout, _, _, err := runTool(ctx, dir, tool, args...)
		if err != nil {
			return nil, err
		}
		f.findings = bytes.Count(stdout, []byte("\n")) - 1 // the end
	}
	return r, nil
}

// size matches the line that -v prints about the whole program.
var size = regexp.MustCompile(`whole program: (\d+) lines`)

// makePlan makes the plan and keeps its cost.
func (f *figures) makePlan(ctx context.Context, tool, dir, packages string, flags []string, lines *int) error {
	args := append([]string{"plan", "-v", "-format=json"}, flags...)
	stdout, stderr, used, err := runTool(ctx, dir, tool, append(args, packages)...)
	if err != nil {
		return err
	}
	f.used = used
	p := new(plan.Plan)
	if err := json.Unmarshal(stdout, p); err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	f.stats = atomicsets.Count(p)
	if m := size.FindSubmatch(stderr); m != nil {
		*lines, err = strconv.Atoi(string(m[1]))
	}
	return err
}

// runTool runs the tool, for which findings are no failure.
func runTool(ctx context.Context, dir, tool string, args ...string) (
	stdout, stderr []byte, u command.Usage, err error) {
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	u, err = command.Run(cmd)
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		return nil, nil, u, fmt.Errorf("%s %s: %w\n%s", filepath.Base(tool), strings.Join(args, " "), err, words.Bytes())
	}
	return out.Bytes(), words.Bytes(), u, nil
}
