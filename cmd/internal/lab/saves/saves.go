// Package saves measures how long an editor waits for the diagnostics of a package after
// a save, and how much time and memory the language server needs for it.
package saves

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/generated"
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
	saves      []time.Duration          // in order of size
	spent      map[string]time.Duration // of one save on average, as the server says: by pass, types, passes, and all
	resident   int64                    // bytes, after the last save
	early      int64                    // bytes, after the tenth
	loading    int64                    // bytes, at most until the first diagnostics
	most       int64                    // bytes, at most within the saves
	processor  time.Duration            // of the server and its go commands, for one save on average
}

// Run implements the tool.
func Run(ctx context.Context, args []string) (bool, error) {
	fs := flag.NewFlagSet("saves", flag.ContinueOnError)
	n := fs.Int("n", 50, "saves of each package")
	out := fs.String("o", "", "write the figures to this `file` too, as JSON")
	tool := fs.String("tool", "bin/interlock", "the program to measure")
	match := fs.String("match", "", "measure modules with this in their path only")
	if err := fs.Parse(args); err != nil {
		return false, err
	}
	program, err := filepath.Abs(*tool)
	if err != nil {
		return false, err
	}
	dir, err := os.MkdirTemp("", "saves")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	// One module after the other, each in a copy.
	var results []*result
	for i, s := range subjects {
		if !strings.Contains(s.module, *match) {
			continue
		}
		at := filepath.Join(dir, fmt.Sprint(i))
		if err := s.fetchModule(ctx, at); err != nil {
			return false, err
		}
		r, err := measure(ctx, program, at, s, *n)
		if err != nil {
			return false, fmt.Errorf("%s: %w", s.module, err)
		}
		results = append(results, r)
	}
	return barsHeld(results), page.Write(*out, document(results, *n))
}

func barsHeld(results []*result) bool {
	return !slices.ContainsFunc(results, func(r *result) bool { return r.bar > 0 && r.percentile(95) > r.bar })
}

// percentile returns the time that p of a hundred saves did not exceed.
func (r *result) percentile(p int) time.Duration {
	return r.saves[min(len(r.saves)*p/100, len(r.saves)-1)]
}

// measure opens the file in a server and saves it n times, each time with another text.
func measure(ctx context.Context, program, dir string, s subject, n int) (*result, error) {
	r := &result{subject: s}
	var err error
	// How much there is to analyse.
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
	if r.loading, err = c.peakMemory(); err != nil {
		return nil, err
	}
	c.takeSpent()
	before := c.processor()
	for i := range n {
		took, err := c.saveEdited(name, fmt.Sprintf("%s\nfunc saved() int { return %d }\n", text, i))
		if err != nil {
			return nil, err
		}
		r.saves = append(r.saves, took)
		if i == min(9, n-1) {
			r.early = c.idleMemory()
		}
		// Hundreds of saves take a while: the figures so far are printed on the way.
		if (i+1)%25 == 0 || i == n-1 {
			most, err := c.peakMemory()
			if err != nil {
				return nil, err
			}
			r.most, r.resident = max(r.most, most), c.idleMemory()
			fmt.Fprintf(os.Stderr, "%s: %d of %d saves, at most %s MB, idle %s MB, the last in %s s\n", s.module, i+1, n,
				megabytes(most), megabytes(r.resident), seconds(took))
		}
	}
	r.processor = (c.processor() - before) / time.Duration(n)
	r.spent = c.takeSpent()
	for name := range r.spent {
		r.spent[name] /= time.Duration(n)
	}
	slices.Sort(r.saves)
	return r, nil
}

// document returns the page.
func document(results []*result, n int) string {
	var b strings.Builder
	about := fmt.Sprintf(": %d saves of a file with another text each time, from the save to the diagnostics, by "+
		"`interlock lsp` as editors start it.", n)
	b.WriteString(page.Head("Saves in the editor", "saves", about))
	var times, sizes, shares [][]string
	for _, r := range results {
		name := strings.TrimSpace(r.module + " " + r.version)
		times = append(times, []string{name, filepath.Dir(r.file), fmt.Sprint(r.lines), fmt.Sprint(r.all), seconds(r.first),
			seconds(r.percentile(50)), seconds(r.percentile(95)), seconds(r.processor), seconds(r.bar)})
		sizes = append(sizes, []string{name, megabytes(r.loading), megabytes(r.most), megabytes(r.early),
			megabytes(r.resident)})
		shares = append(shares, r.shares(name)...)
	}
	page.Table(&b, "Seconds", []string{"module", "package", "lines", "of the module", "first", "p50", "p95",
		"CPU of a save", "bar"}, times)
	page.Table(&b, "Resident memory (MB)", []string{"module", "at most until the first diagnostics",
		"at most within a save", "idle after ten saves", "idle after all"}, sizes)
	page.Table(&b, "Where the time of a save goes", []string{"module", "step", "seconds", "share of all"}, shares)
	b.WriteString("\nMeans of all saves, by the server's clock. Passes run side by side, so that their sum is more than " +
		"all of them take.\n")
	return b.String()
}

// shares returns the rows of a module in the table of steps, the longest pass first.
func (r *result) shares(module string) (rows [][]string) {
	add := func(step string, took time.Duration) {
		share := fmt.Sprintf("%.0f %%", 100*took.Seconds()/r.spent["all"].Seconds())
		rows = append(rows, []string{module, step, fmt.Sprintf("%.3f", took.Seconds()), share})
	}
	add("all", r.spent["all"])
	add("types", r.spent["types"])
	add("passes", r.spent["passes"])
	add("the rest: joining, reading files, diagnostics", r.spent["all"]-r.spent["types"]-r.spent["passes"])
	passes := slices.DeleteFunc(slices.Collect(maps.Keys(r.spent)), func(name string) bool {
		return name == "all" || name == "types" || name == "passes"
	})
	slices.SortFunc(passes, func(a, b string) int { return cmp.Compare(r.spent[b], r.spent[a]) })
	for _, name := range passes {
		add("pass `"+name+"`", r.spent[name])
	}
	return rows
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func megabytes(n int64) string { return fmt.Sprint(n >> 20) }
