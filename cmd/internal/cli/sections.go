package cli

import (
	"bufio"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

const sectionsLong = `An atomic section is code that other goroutines must not split: from an entry, an access to shared
memory, to its ends; each end lists the kinds of access that other goroutines may make in between. The checks infer
load-and-store and test-and-use sections; //interlock:atomic on a function or block, and user
sections of the file interlock.sections at the module's root, declare others; -sections=ai adds all
pairs of consecutive accesses to one variable (access-interleaving invariants), a long list to
begin with: "interlock sections refine" removes those that correct runs split.`

var sectionsCommand = command{
	name: "sections", args: "[list|check|refresh|refine] [flags] [packages]",
	short: "list, check and keep the atomic sections of the module",
	long: sectionsLong + `

List, the default, shows the sections that test would watch. Check reads interlock.sections and says
which of its entries are wrong or stale. Refresh brings the file up to date with the code. Each has
its own help: "interlock help sections refresh".`,
	examples: listExamples,
	options:  func() runner { return new(sectionsListOptions) },
}

var listExamples = [][2]string{
	{"interlock sections ./...", "those that test watches"},
	{"interlock sections list -sections=ai ./cache", "candidates of one package"},
}

var sectionsListCommand = command{
	name: "sections list", args: "[flags] [packages]", short: "show the atomic sections that test would watch",
	long:     sectionsLong,
	examples: listExamples,
	options:  func() runner { return new(sectionsListOptions) },
}

var sectionsCheckCommand = command{
	name: "sections check", args: "[flags] [packages]", short: "report what is wrong in interlock.sections",
	long: `Check reads interlock.sections at the module's root and reports, by line, sections whose accesses
are missing or not monitored. Only sections of packages that are named on the command line, or used by
them, are checked.`,
	examples: [][2]string{{"interlock sections check ./...", "the whole file"}},
	fails:    "entries of the file that are wrong or stale",
	options:  func() runner { return flagless(runSectionsCheck) },
}

var sectionsRefreshCommand = command{
	name: "sections refresh", args: "[flags] [packages]", short: "bring interlock.sections up to date with the code",
	long: `Refresh adds the inferred sections that interlock.sections lacks and removes those whose accesses are
gone; user sections, pinned ones, and all other sections stay as they are. It prints the new file, or with
-w writes it. Review what is new: drop ends, with a reason, or pin sections.
Packages that are not named on the command line, or used by them, keep what they have.`,
	examples: [][2]string{
		{"interlock sections refresh ./... | diff interlock.sections -", "what would change"},
		{"interlock sections refresh -w -sections=all ./...", "candidates for refine too"},
	},
	options: func() runner { return new(sectionsRefreshOptions) },
}

type sectionsListOptions struct{ planFlags }

func (o *sectionsListOptions) declare(fs *flag.FlagSet) {
	o.declareSections(fs, defaultSections)
	o.declareDeps(fs)
}

func (o *sectionsListOptions) run(c *call) int {
	pl, code := o.decided(c)
	if pl == nil {
		return code
	}
	c.warnStale(pl.Stale)
	b := bufio.NewWriter(c.stdout)
	fmt.Fprintf(b, "%s: %s\n", pl.Module.Path, progress.Count(len(pl.Plan.Sections), "atomic section"))
	for i := range pl.Plan.Sections {
		writeSection(b, pl.Plan, &pl.Plan.Sections[i])
	}
	if err := b.Flush(); err != nil {
		return c.failed(fmt.Errorf("writing the sections: %w", err))
	}
	return code
}

func writeSection(b *bufio.Writer, p *plan.Plan, s *plan.Section) {
	fmt.Fprintf(b, "\n%s\n    entry %s\n", report.Clean(s.Name), placed(p, s.Entry, s.EntryCall, s.File))
	for _, e := range s.Ends {
		allows := "nothing"
		if len(e.Allows) > 0 {
			var words []string
			for _, m := range e.Allows {
				words = append(words, string(m))
			}
			allows = strings.Join(words, ", ")
		}
		fmt.Fprintf(b, "    end   %s; allows %s\n", placed(p, e.Site, e.EndCall, s.File), allows)
	}
	if s.Left != "" {
		fmt.Fprintf(b, "    not watched: %s\n", s.Left)
	}
}

// placed returns where an access of a section is, and the call that leads there.
func placed(p *plan.Plan, id uint32, call *plan.Place, file string) string {
	s := p.Site(id)
	at := siteText(s)
	if call != nil {
		at += fmt.Sprintf(", by the call at %s:%d:%d", report.Clean(file), call.Line, call.Column)
	}
	return at
}

func runSectionsCheck(c *call) int {
	o := planFlags{sections: "all"}
	pl, code := o.decided(c)
	if pl == nil {
		return code
	}
	for _, s := range pl.Stale {
		fmt.Fprintln(c.stdout, report.Clean(s.String()))
	}
	if len(pl.Stale) > 0 {
		return exitFindings
	}
	return code
}

type sectionsRefreshOptions struct {
	planFlags
	write bool
}

func (o *sectionsRefreshOptions) declare(fs *flag.FlagSet) {
	o.declareSections(fs, fromInference)
	o.declareDeps(fs)
	fs.BoolVar(&o.write, "w", false, "write the file")
}

func (o *sectionsRefreshOptions) run(c *call) int {
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.Unreviewed = true
	pl, err := c.makePlan(p)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	c.warn(pl.Vet.Problems...)
	f, err := planner.LoadSections(pl.Module.Root)
	if err != nil {
		return c.failed(err)
	}
	n := refresh(pl, p.Sources, f)
	if len(f.Sections) == 0 && n == (atomicsets.Changes{}) {
		c.warn("the code shows no atomic section of these kinds, so that there is nothing to put into " + repository.Name)
		return c.incomplete(pl)
	}
	fmt.Fprintf(c.stderr, "interlock: %s added, %d removed, %d kept in %s\n",
		progress.Count(n.Added, "end"), n.Removed, n.Kept, repository.Name)
	if err := c.hand(f, pl.Module.Root, o.write); err != nil {
		return c.failed(err)
	}
	return c.incomplete(pl)
}

// hand writes the repository file, or prints it.
func (c *call) hand(f *repository.File, root string, write bool) error {
	if write {
		return f.Save(root)
	}
	_, err := c.stdout.Write(f.Format())
	return err
}

// refresh brings the entries of f for the packages of the plan up to date.
func refresh(pl *planner.Planned, from atomicsets.Sources, f *repository.File) atomicsets.Changes {
	var kinds []string
	for _, k := range []string{plan.LoadAndStore, plan.TestAndUse, plan.Invariant} {
		if from.Has(k) {
			kinds = append(kinds, k)
		}
	}
	pl.Plan.Sections = slices.DeleteFunc(pl.Plan.Sections, func(s plan.Section) bool { return s.Kind == plan.UserSection })
	return atomicsets.Refresh(f, pl.Plan, kinds, pl.Covers)
}

// warnStale reports entries of the repository file that stand for nothing.
func (c *call) warnStale(stale []atomicsets.Stale) {
	for _, s := range stale {
		c.warn(s.String())
	}
}
