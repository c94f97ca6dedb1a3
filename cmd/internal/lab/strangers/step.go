package strangers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// step is one command run on a module.
type step struct {
	Exit int     `json:"exit"`
	Wall float64 `json:"wall"` // seconds
	CPU  float64 `json:"cpu"`  // seconds, of all processes
	MB   float64 `json:"mb"`   // of the largest process
	// Over is set if the command was ended because it took longer than -limit.
	Over bool `json:"over,omitempty"`
	// Changed are the files that were not the same afterwards.
	Changed []string `json:"changed,omitempty"`
	// Counts are the numbers of findings, by status and code.
	Counts map[string]int `json:"counts,omitempty"`
	// Confirmed are those that promise to be true.
	Confirmed []confirmed `json:"confirmed,omitempty"`
	// Failures are the lines in which Interlock names tests that fail, or the names of those that fail plainly.
	Failures []string `json:"failures,omitempty"`
	// Patches are how many findings have one; Withheld how many have a reason.
	Patches  int `json:"patches,omitempty"`
	Withheld int `json:"withheld,omitempty"`
	// Faults are lines that sound like faults of Interlock.
	Faults []string `json:"faults,omitempty"`

	output []byte
}

// confirmed is a confirmed finding, as far as it is kept.
type confirmed struct {
	ID       string       `json:"id"`
	Code     finding.Code `json:"code"`
	Variable string       `json:"variable"`
	// Places are those of its accesses, file:line, sorted. They name the
	// finding in verdicts.json: versions are pinned, so lines stay.
	Places []string `json:"places"`
	Hits   int      `json:"hits"` // runs that showed it
}

// countFindings returns how many findings have a status.
func (s *step) countFindings(status finding.Status) int {
	n := 0
	for key, of := range s.Counts {
		if strings.HasPrefix(key, string(status)+" ") {
			n += of
		}
	}
	return n
}

// failedTest matches go test's line on a test that is no subtest, failedPackage that on
// a package, even if its tests were not built.
var (
	failedTest    = regexp.MustCompile(`(?m)^--- FAIL: (\S+) \(`)
	failedPackage = regexp.MustCompile(`(?m)^FAIL\t(.+)$`)
)

// runPlainTests runs the module's tests without Interlock.
func (l *lab) runPlainTests(m stranger, dir string) (*step, error) {
	s, err := l.measureCommand(dir, "go", slices.Concat([]string{"test", "-count=1"}, m.flags, m.patterns()))
	if err != nil {
		return nil, err
	}
	for _, re := range []*regexp.Regexp{failedTest, failedPackage} {
		for _, line := range re.FindAllSubmatch(s.output, -1) {
			s.Failures = append(s.Failures, string(line[1]))
		}
		if s.Failures != nil {
			break
		}
	}
	return s, nil
}

// interlock runs one of Interlock's commands.
func (l *lab) interlock(m stranger, dir, name string, args []string) (*step, error) {
	document := filepath.Join(l.tmp, "report.json")
	defer os.Remove(document)
	s, err := l.measureCommand(dir, l.options.interlock, append([]string{name, "-o=json:" + document}, args...))
	if err != nil {
		return nil, err
	}
	if l.keep != "" {
		kept := filepath.Join(l.keep, strings.ReplaceAll(m.path, "/", "_"))
		report, _ := os.ReadFile(document) // a command that hangs leaves none
		err = errors.Join(os.MkdirAll(kept, 0o755), os.WriteFile(filepath.Join(kept, name+".txt"), s.output, 0o644),
			os.WriteFile(filepath.Join(kept, name+".json"), report, 0o644))
	}
	return s, errors.Join(err, s.readNumbers(document))
}

// measureCommand measures a command, and compares the tree's checksums before and after.
// One that takes too long is ended in the way that shows its goroutines.
func (l *lab) measureCommand(dir, name string, args []string) (*step, error) {
	before, err := checksums(dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), l.env...), "PWD="+dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
	cmd.WaitDelay = 20 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	used, err := command.Run(cmd)
	if cmd.ProcessState == nil {
		return nil, fmt.Errorf("running %s: %w", name, err)
	}
	after, err := checksums(dir)
	if err != nil {
		return nil, err
	}
	return &step{
		Exit: cmd.ProcessState.ExitCode(), Over: ctx.Err() != nil, Changed: differing(before, after),
		Wall: tenths(used.Wall), CPU: tenths(used.CPU), MB: math.Round(used.Megabytes), output: out.Bytes(),
	}, nil
}

func tenths(d time.Duration) float64 { return math.Round(d.Seconds()*10) / 10 }

// checksums are those of modes and contents of all that is below dir, by name.
func checksums(dir string) (map[string]string, error) {
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var content []byte
		switch {
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			content = []byte(target)
		case d.Type().IsRegular():
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		rel, err := filepath.Rel(dir, path)
		sums[filepath.ToSlash(rel)] = fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(content))
		return err
	})
	return sums, err
}

// differing lists the names that have come, gone or changed.
func differing(before, after map[string]string) []string {
	var all []string
	for name, sum := range after {
		if before[name] != sum {
			all = append(all, name)
		}
	}
	for name := range before {
		if after[name] == "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// readNumbers takes the numbers from the document that a command has written. One
// that ended before has written none.
func (s *step) readNumbers(document string) error {
	data, err := os.ReadFile(document)
	if err != nil || len(data) == 0 {
		return nil
	}
	var r struct {
		Findings []*finding.Finding `json:"findings"`
		Failures []string           `json:"failures"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return fmt.Errorf("reading the report: %w", err)
	}
	// Hints are not findings.
	s.Failures, s.Counts = r.Failures, map[string]int{}
	for _, f := range r.Findings {
		if f.Minor() {
			continue
		}
		s.Counts[fmt.Sprintf("%s %s", f.Status, f.Code)]++
		if f.Status == finding.Confirmed {
			s.Confirmed = append(s.Confirmed, confirmed{f.ID, f.Code, variable(f), places(f), f.Evidence.Hits})
		}
		switch {
		case f.Fix == nil:
		case f.Fix.Withheld != "":
			s.Withheld++
		default:
			s.Patches++
		}
	}
	return nil
}

// variable returns the variable of a finding, or the locks of a cycle.
func variable(f *finding.Finding) string {
	if len(f.Cycle) == 0 {
		return f.Variable.String()
	}
	var locks []string
	for _, e := range f.Cycle {
		locks = append(locks, e.From)
	}
	return strings.Join(locks, " -> ")
}

// places lists the places of a finding's accesses, or of a cycle's edges.
func places(f *finding.Finding) []string {
	var all []string
	for _, a := range f.Accesses {
		all = append(all, fmt.Sprintf("%s:%d", a.File, a.Line))
	}
	for _, e := range f.Cycle {
		all = append(all, fmt.Sprintf("%s:%d", e.Position.File, e.Position.Line))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

var (
	ownFault = regexp.MustCompile(`(?m)^interlock: .*(internal error|please tell us|\bpanic\b|went wrong).*$`)
	crash    = regexp.MustCompile(`(?m)^(panic: |fatal error: |SIGSEGV|runtime: goroutine stack exceeds).*$`)
)

// findFaults looks for faults in the output of the commands. Tests may panic by
// themselves: a line that they print plainly too is none.
func (r *result) findFaults() {
	for _, s := range []*step{r.Check, r.Test, r.Fix} {
		if s == nil {
			continue
		}
		lines := ownFault.FindAllString(string(s.output), -1)
		for _, c := range crash.FindAllString(string(s.output), -1) {
			if !bytes.Contains(r.Plain.output, []byte(c)) {
				lines = append(lines, c)
			}
		}
		slices.Sort(lines)
		s.Faults = slices.Compact(lines)
	}
}
