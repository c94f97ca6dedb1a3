// Package saves measures how long an editor waits for the diagnostics of a package after
// a save, and how much memory the language server needs for it.
package saves

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/generated"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
)

// subject is one package of a released module, or of one that is generated.
type subject struct {
	module, version string        // no version: it is generated
	file            string        // that is edited and saved
	bar             time.Duration // for the 95th percentile; 0 is none
}

var subjects = []subject{
	{"github.com/cockroachdb/pebble", "v1.1.5", "vfs/disk_health.go", 2 * time.Second},
	{"github.com/nats-io/nats-server/v2", "v2.10.22", "server/client.go", 6 * time.Second},
	{generated.Path, "", generated.Package(smallPackages) + "/p.go", 2 * time.Second},
}

// The generated module has about 150,000 lines, its last package 5,000.
const (
	smallPackages = 337
	typesOfLast   = 96
)

// fetchModule puts the module into dir.
func (s subject) fetchModule(ctx context.Context, dir string) error {
	if s.version == "" {
		return generated.Write(dir, smallPackages+1, typesOfLast)
	}
	return released.Fetch(ctx, s.module, s.version, dir)
}

// result has the figures of one subject.
type result struct {
	subject
	lines, all int // of the package and of the module, without tests
	first      time.Duration
	saves      []time.Duration // in order of size
	most       int64           // bytes, at most within the saves
	resident   int64           // bytes, after the last save
}

// Run runs the tool. It reports whether the bars are held.
func Run(ctx context.Context, args []string) (bool, error) {
	t := matrix.New("saves")
	n := t.Flags.Int("n", 50, "saves of each package")
	tool := t.Flags.String("tool", filepath.Join("bin", "interlock"), "the program to measure")
	match := t.Flags.String("match", "", "measure modules with this in their path only")
	return t.Run(args, func(tmp string) (string, bool, error) {
		program, err := command.Interlock(*tool)
		if err != nil {
			return "", false, err
		}
		// One module after the other, each in a copy.
		var results []*result
		for i, s := range subjects {
			if !strings.Contains(s.module, *match) {
				continue
			}
			at := filepath.Join(tmp, fmt.Sprint(i))
			if err := s.fetchModule(ctx, at); err != nil {
				return "", false, err
			}
			r, err := s.measure(ctx, t, program, at, *n)
			if err != nil {
				return "", false, fmt.Errorf("%s: %w", s.module, err)
			}
			results = append(results, r)
		}
		return document(results, *n), barsHeld(results), nil
	})
}

func barsHeld(results []*result) bool {
	return !slices.ContainsFunc(results, func(r *result) bool { return r.bar > 0 && r.percentile(95) > r.bar })
}

// percentile returns the time that p of a hundred saves did not exceed.
func (r *result) percentile(p int) time.Duration {
	return r.saves[min(len(r.saves)*p/100, len(r.saves)-1)]
}

// measure opens the file in a server and saves it n times, each time with another text.
func (s subject) measure(ctx context.Context, t *matrix.Tool, program, dir string, n int) (*result, error) {
	r := &result{subject: s}
	var err error
	// The amount of code to analyse.
	if r.lines, err = released.Lines(filepath.Join(dir, filepath.Dir(s.file)), false); err != nil {
		return nil, err
	}
	if r.all, err = released.Lines(dir, false); err != nil {
		return nil, err
	}
	c, err := connect(ctx, program, dir)
	if err != nil {
		return nil, err
	}
	defer c.close()
	// The first analysis, which reads everything, and then the saves.
	name := filepath.Join(dir, filepath.FromSlash(s.file))
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if r.first, err = c.openFile(name, string(text)); err != nil {
		return nil, err
	}
	c.forgetPeak()
	for i := range n {
		took, err := c.saveEdited(name, fmt.Sprintf("%s\nfunc saved() int { return %d }\n", text, i))
		if err != nil {
			return nil, err
		}
		r.saves = append(r.saves, took)
		// Hundreds of saves take a while.
		if (i+1)%25 == 0 {
			t.Say("%s: %d of %d saves, the last in %s s", s.module, i+1, n, seconds(took))
		}
	}
	r.most, r.resident = c.memory("VmHWM"), c.memory("VmRSS")
	slices.Sort(r.saves)
	return r, nil
}

// document returns the page.
func document(results []*result, n int) string {
	var b strings.Builder
	about := fmt.Sprintf(": %d saves of a file with another text each time, from the save to the diagnostics, by "+
		"`interlock lsp` as editors start it.", n)
	b.WriteString(page.Head("Saves in the editor", "saves", about))
	var rows [][]string
	for _, r := range results {
		rows = append(rows, []string{strings.TrimSpace(r.module + " " + r.version), filepath.Dir(r.file),
			fmt.Sprint(r.lines), fmt.Sprint(r.all), seconds(r.first), seconds(r.percentile(50)), seconds(r.percentile(95)),
			seconds(r.bar), megabytes(r.most), megabytes(r.resident)})
	}
	page.Table(&b, "Seconds and resident memory", []string{"module", "package", "lines", "of the module", "first", "p50",
		"p95", "bar", "MB at most", "MB after all"}, rows)
	return b.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func megabytes(n int64) string { return fmt.Sprint(n >> 20) }
