package bench

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/instrument"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// pruning is the share of the accesses that the static side leaves out, package
// by package and with the whole program.
type pruning struct {
	modular, whole tally
	benchtime      string
}

// tally counts sites and the accesses that the programs make at them, by the
// reason to skip them; plan.Reason("") stands for those that stay.
type tally struct{ sites, executed map[plan.Reason]int }

//go:embed count.go.txt
var counter []byte

// newPruning counts how often each site is reached, in a copy of the programs
// that has counters for a monitor, and adds up by the plans' decisions.
func newPruning(ctx context.Context, m *build.Module, p *plans, dir, tmp string) (*pruning, error) {
	copied := filepath.Join(tmp, "counted")
	if err := copyRewritten(ctx, m, p.every, dir, copied, m.Path+"/count"); err != nil {
		return nil, err
	}
	if err := writeCounter(m, copied); err != nil {
		return nil, err
	}
	const benchtime = "2000x"
	counts := filepath.Join(tmp, "counts")
	cmd := exec.CommandContext(ctx, "go", "test", "-vet=off", "-run=^$", "-bench=.", "-benchtime="+benchtime, ".")
	cmd.Dir, cmd.Env = copied, append(os.Environ(), "COUNTS="+counts)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("counting accesses: %w\n%s", err, out)
	}
	pr := &pruning{newTally(), newTally(), benchtime}
	return pr, errors.Join(pr.modular.addLines(counts, p.modular), pr.whole.addLines(counts, p.whole))
}

// writeCounter puts the counting monitor into the copy.
func writeCounter(m *build.Module, copied string) error {
	// The last file's benchmark is the last to run.
	last := fmt.Sprintf(
		"package %s\n\nimport (\n\t\"testing\"\n\n\t%q\n)\n\nfunc BenchmarkCount(*testing.B) { count.Write() }\n",
		m.Packages[0].Types.Name(), m.Path+"/count")
	return errors.Join(
		os.Mkdir(filepath.Join(copied, "count"), 0o755),
		os.WriteFile(filepath.Join(copied, "count", "count.go"), counter, 0o644),
		os.WriteFile(filepath.Join(copied, "zz_count_test.go"), []byte(last), 0o644))
}

// copyRewritten copies the programs, with the rewritten files. Their monitor has
// the import path rt.
func copyRewritten(ctx context.Context, m *build.Module, p *plan.Plan, dir, copied, rt string) error {
	if err := tree.Copy(ctx, copied, dir, nil); err != nil {
		return err
	}
	sites := map[plan.Key]*plan.Site{}
	for i := range p.Sites {
		sites[p.Sites[i].Key()] = &p.Sites[i]
	}
	for _, pkg := range m.Packages {
		res, err := instrument.Rewrite(pkg, func(k plan.Key) *plan.Site { return sites[k] }, instrument.Options{RT: rt})
		if err != nil {
			return err
		}
		for _, f := range res.Files {
			name, err := filepath.Rel(dir, f.Name)
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(copied, name), f.Content, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

func newTally() tally { return tally{map[plan.Reason]int{}, map[plan.Reason]int{}} }

// addLines reads lines of a site's id and its count.
func (t *tally) addLines(counts string, p *plan.Plan) error {
	for i := range p.Sites {
		t.sites[p.Sites[i].Reason]++
	}
	f, err := os.Open(counts)
	if err != nil {
		return err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var id uint32
		var n int
		if _, err := fmt.Sscan(lines.Text(), &id, &n); err != nil {
			return fmt.Errorf("reading the count %q: %w", lines.Text(), err)
		}
		s := p.Site(id)
		if s == nil {
			return fmt.Errorf("a count of site %d, which the plan does not have", id)
		}
		t.executed[s.Reason] += n
	}
	return nil
}

// formatShares returns the share of reason why, of the sites and of the executed accesses.
func (t *tally) formatShares(why plan.Reason) string {
	share := func(m map[plan.Reason]int) float64 {
		total := 0
		for n := range maps.Values(m) {
			total += n
		}
		return 100 * float64(m[why]) / float64(max(total, 1))
	}
	return fmt.Sprintf(" %d (%.0f %%) | %.0f %% |", t.sites[why], share(t.sites), share(t.executed))
}

// formatRows returns a row for each reason.
func (pr *pruning) formatRows() []string {
	reasons := maps.Clone(pr.whole.sites)
	maps.Copy(reasons, pr.modular.sites)
	var rows []string
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		name := string(why)
		if why == "" {
			name = "monitored"
		}
		rows = append(rows, "| "+name+" |"+pr.modular.formatShares(why)+pr.whole.formatShares(why))
	}
	return rows
}
