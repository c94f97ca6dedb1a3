package strangers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// results are those of a run, as results.json keeps them.
type results struct {
	Machine string    `json:"machine"`
	Modules []*result `json:"modules"`
	// Since lists the changes against the run before.
	Since []string `json:"since"`
}

// result is that of one module.
type result struct {
	Module  string `json:"module"`
	Version string `json:"version"`
	Date    string `json:"date"`
	Lines   int    `json:"lines"` // of Go, with tests
	Plain   *step  `json:"plain"`
	Check   *step  `json:"check"`
	Test    *step  `json:"test"`
	Fix     *step  `json:"fix,omitempty"` // where something was confirmed
}

// loadResults reads the results of the last run; before the first there are none.
func loadResults(name string) (*results, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return &results{}, nil
	}
	if err != nil {
		return nil, err
	}
	r := new(results)
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return r, nil
}

func (r *results) saveResults(name string) error {
	data, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(data, '\n'), 0o644)
}

// resultOf returns the result of a module, or nil.
func (r *results) resultOf(module string) *result {
	i := slices.IndexFunc(r.Modules, func(m *result) bool { return m.Module == module })
	if i < 0 {
		return nil
	}
	return r.Modules[i]
}

// pinned returns the results of the modules that are still pinned at the same
// version, in their order.
func (r *results) pinned() *results {
	p := &results{}
	for _, m := range strangers {
		if old := r.resultOf(m.path); old != nil && old.Version == m.version {
			p.Modules = append(p.Modules, old)
		}
	}
	return p
}

// putResult replaces the result of a module, or adds one.
func (r *results) putResult(m *result) {
	m.Date = time.Now().UTC().Format(time.DateOnly)
	if i := slices.IndexFunc(r.Modules, func(old *result) bool { return old.Module == m.Module }); i >= 0 {
		r.Modules[i] = m
		return
	}
	r.Modules = append(r.Modules, m)
}

// listSteps returns the commands that were run on a module, by name.
func (r *result) listSteps() map[string]*step {
	all := map[string]*step{"check": r.Check, "test": r.Test}
	if r.Fix != nil {
		all["fix"] = r.Fix
	}
	return all
}

// changed lists the files of the tree that a command has changed. Some tests write
// there: a file that the plain ones leave or remove is theirs.
func (r *result) changed(s *step) []string {
	return slices.DeleteFunc(slices.Clone(s.Changed),
		func(name string) bool { return slices.Contains(r.Plain.Changed, name) })
}

// confirmed lists the findings that test or fix confirmed, each once.
func (r *result) confirmed() []confirmed {
	all := slices.Clone(r.Test.Confirmed)
	if r.Fix != nil {
		for _, c := range r.Fix.Confirmed {
			if !slices.ContainsFunc(all, c.isSame) {
				all = append(all, c)
			}
		}
	}
	slices.SortFunc(all, func(a, b confirmed) int { return strings.Compare(a.keyOf(), b.keyOf()) })
	return all
}

// keyOf names a finding within its module.
func (c confirmed) keyOf() string { return strings.Join(c.Places, ", ") }

func (c confirmed) isSame(d confirmed) bool { return c.keyOf() == d.keyOf() }

// compare returns the changes from one run to another, module by module.
func compare(last, now *results) []string {
	var all []string
	for _, m := range now.Modules {
		old := last.resultOf(m.Module)
		if old == nil || old == m || old.Version != m.Version {
			continue
		}
		for _, change := range m.against(old) {
			all = append(all, m.Module+": "+change)
		}
	}
	return all
}

// slower is the factor by which, beyond slack seconds, a command has to take more
// CPU time or less to be worth a line.
const (
	slower = 2
	slack  = 10
)

// against returns the changes of one module.
func (r *result) against(old *result) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	// The commands: their exit codes and their cost.
	before := old.listSteps()
	for _, name := range []string{"check", "test", "fix"} {
		was, is := before[name], r.listSteps()[name]
		if was == nil || is == nil {
			continue
		}
		if was.Exit != is.Exit {
			say("%s ends in %d, before in %d", name, is.Exit, was.Exit)
		}
		if is.CPU > slower*was.CPU+slack || was.CPU > slower*is.CPU+slack {
			say("%s takes %.1f CPU-s, before %.1f", name, is.CPU, was.CPU)
		}
	}
	// The findings: confirmed ones by place, the others by number.
	then, current := old.confirmed(), r.confirmed()
	for _, c := range current {
		if !slices.ContainsFunc(then, c.isSame) {
			say("%s at %s is confirmed, before it was not", c.Code, c.keyOf())
		}
	}
	for _, c := range then {
		if !slices.ContainsFunc(current, c.isSame) {
			say("%s at %s was confirmed, now it is not", c.Code, c.keyOf())
		}
	}
	if was, is := old.Check.countFindings("suspected"), r.Check.countFindings("suspected"); was != is {
		say("%d suspected, before %d", is, was)
	}
	return all
}

// promises lists the promises that are broken.
func promises(now *results, known verdicts) []string {
	var all []string
	for _, m := range now.Modules {
		say := func(format string, args ...any) {
			all = append(all, fmt.Sprintf("%s %s: ", m.Module, m.Version)+fmt.Sprintf(format, args...))
		}
		// No command hangs, crashes or writes into the tree.
		for _, name := range []string{"check", "test", "fix"} {
			s := m.listSteps()[name]
			if s == nil {
				continue
			}
			if s.Over {
				say("%s hangs", name)
			}
			if changed := m.changed(s); len(changed) > 0 {
				say("%s changes the tree: %s", name, strings.Join(changed, ", "))
			}
			for _, f := range known.blamed(m, s) {
				say("%s: %s", name, f)
			}
		}
		// No confirmed finding is false.
		for _, c := range m.confirmed() {
			switch v := known.verdictOf(m, c.keyOf()); {
			case v == nil:
				say("nobody has read %s at %s", c.Code, c.keyOf())
			case v.Verdict == falsely:
				say("%s at %s is confirmed falsely", c.Code, c.keyOf())
			}
		}
	}
	return all
}
