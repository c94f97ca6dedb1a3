package main

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
)

// pruning says what share of the accesses the static side leaves out, of the
// sites and of the accesses that the programs make.
type pruning struct {
	sites, executed map[plan.Reason]int // plan.Reason("") stands for those that stay
	benchtime       string
}

//go:embed count.go.txt
var counter []byte

// newPruning counts how often each site of whole is come by, in a copy of the
// programs that has counters for a monitor, and adds up by pruned's decisions.
func newPruning(ctx context.Context, m *build.Module, whole, pruned *plan.Plan, dir, tmp string) (*pruning, error) {
	copied := filepath.Join(tmp, "counted")
	if err := copyRewritten(m, whole, dir, copied, m.Path+"/count"); err != nil {
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
	pr := &pruning{sites: map[plan.Reason]int{}, executed: map[plan.Reason]int{}, benchtime: benchtime}
	return pr, pr.add(counts, pruned)
}

// writeCounter puts the counting monitor into the copy.
func writeCounter(m *build.Module, copied string) error {
	// The last file's benchmark is the last to run.
	last := fmt.Sprintf("package %s\n\nimport (\n\t\"testing\"\n\n\t%q\n)\n\nfunc BenchmarkCount(*testing.B) { count.Write() }\n", m.Packages[0].Types.Name(), m.Path+"/count")
	return errors.Join(
		os.Mkdir(filepath.Join(copied, "count"), 0o755),
		os.WriteFile(filepath.Join(copied, "count", "count.go"), counter, 0o644),
		os.WriteFile(filepath.Join(copied, "zz_count_test.go"), []byte(last), 0o644))
}

// copyRewritten copies the programs, with the rewritten files, whose monitor has
// the import path rt.
func copyRewritten(m *build.Module, p *plan.Plan, dir, copied, rt string) error {
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
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

// add reads lines of a site's id and its count.
func (pr *pruning) add(counts string, pruned *plan.Plan) error {
	for i := range pruned.Sites {
		pr.sites[pruned.Sites[i].Reason]++
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
		s := pruned.Site(id)
		if s == nil {
			return fmt.Errorf("a count of site %d, which the plan does not have", id)
		}
		pr.executed[s.Reason] += n
	}
	return nil
}

// rows gives for each reason its share of sites and of executed accesses, in percent.
func (pr *pruning) rows() []string {
	total := func(m map[plan.Reason]int) (n int) {
		for v := range maps.Values(m) {
			n += v
		}
		return max(n, 1)
	}
	sites, executed := total(pr.sites), total(pr.executed)
	var rows []string
	for _, why := range slices.Sorted(maps.Keys(pr.sites)) {
		name := string(why)
		if why == "" {
			name = "monitored"
		}
		rows = append(rows, fmt.Sprintf("| %s | %d (%.0f %%) | %.0f %% |", name, pr.sites[why], 100*float64(pr.sites[why])/float64(sites), 100*float64(pr.executed[why])/float64(executed)))
	}
	return rows
}
