package hidden

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/testbin"
)

// measure is one measurement: a program with a schedule.
type measure struct {
	Test, Schedule string
	Runs, Depth    int
}

// shown counts the runs with one schedule that have shown a bug.
type shown struct {
	Shown  int     // runs that show it
	First  int     // of these, from 1; 0 is none
	Alarms int     // findings in a correct program
	Load   float64 // of the machine then
}

// kept holds the measurements of this command and of others with the same file.
type kept struct {
	of   map[measure]shown
	file *os.File // a line of JSON for each; nil keeps nothing
}

// entry is a line of the file.
type entry struct {
	measure
	shown
}

// openKept reads the file with the name and opens it for more. "" is no file.
func openKept(name string) (k *kept, err error) {
	k = &kept{of: map[measure]shown{}}
	if name == "" {
		return k, nil
	}
	if k.file, err = os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return nil, err
	}
	lines := json.NewDecoder(k.file)
	for {
		var e entry
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			return k, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading %s, which -keep is to continue: %w; remove it", name, err)
		}
		k.of[e.measure] = e.shown
	}
}

func (k *kept) addResult(m measure, s shown) error {
	k.of[m] = s
	if k.file == nil {
		return nil
	}
	line, err := json.Marshal(entry{m, s})
	if err != nil {
		return err
	}
	_, err = k.file.Write(append(line, '\n')) // at once, since others append as well
	return err
}

func (k *kept) close() {
	if k.file != nil {
		k.file.Close()
	}
}

// machineLoad returns how many processes have wanted a processor, on the average of the last minute, or 0 where
// the system does not say so.
func machineLoad() (n float64) {
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Sscan(string(text), &n)
	}
	return n
}

// compute starts processes that compute, and returns a function that ends them.
func compute(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var all []*exec.Cmd
	for range busyProcesses {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		cancel()
		for _, cmd := range all {
			cmd.Wait()
		}
	}
}

// builds are the test binaries with the programs, each built when it is needed.
type builds struct {
	dir, tmp, tool string
	packages       []string // with programs, as arguments of the go command
	tests          map[testbin.Detector]*testbin.Monitored
	race           map[string]*testbin.Race // by the folder of the package
}

// newBuilds returns builds of the packages with the programs.
func newBuilds(dir, tmp string, programs []*program) *builds {
	b := &builds{
		dir: dir, tmp: tmp, tests: map[testbin.Detector]*testbin.Monitored{}, race: map[string]*testbin.Race{},
	}
	for _, p := range programs {
		if at := "./" + p.folder; !slices.Contains(b.packages, at) {
			b.packages = append(b.packages, at)
		}
	}
	return b
}

// binaryWith returns the binaries with a detector.
func (b *builds) binaryWith(ctx context.Context, d testbin.Detector) (*testbin.Monitored, error) {
	if b.tests[d] != nil {
		return b.tests[d], nil
	}
	if b.tool == "" {
		tool := filepath.Join(b.tmp, "interlock")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/interlock").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building Interlock: %w\n%s", err, out)
		}
		b.tool = tool
	}
	m, err := testbin.BuildPlanned(ctx, b.dir, b.packages, b.tool, d)
	if err == nil {
		b.tests[d] = m
	}
	return m, err
}

// withRace returns the binary of a package with the race detector of the Go distribution.
func (b *builds) withRace(ctx context.Context, folder string) (*testbin.Race, error) {
	if b.race[folder] != nil {
		return b.race[folder], nil
	}
	r, err := testbin.BuildRace(ctx, filepath.Join(b.dir, folder), b.tmp)
	if err == nil {
		b.race[folder] = r
	}
	return r, err
}

func (b *builds) close() {
	for _, m := range b.tests {
		m.Close()
	}
}
