package cli

import (
	"bufio"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/pass/invariants"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/repository"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic/build"
)

const sectionsLong = `An atomic section is code that other goroutines must not split: from an entry, an access to shared
memory, to its ends, with the kinds of remote access that may come between. The checks infer
load-and-store and test-and-use sections; //interlock:atomic on a function or block, and user
sections of the file interlock.sections at the module's root, declare others; -sections=ai adds all
pairs of consecutive accesses to one variable (access-interleaving invariants), which is a lot to
begin with: "interlock sections refine" sorts out those that correct runs split.`

var sectionsCommand = command{
	name: "sections", args: "[list|check|refresh|refine] [flags] [packages]", short: "list, check and keep the atomic sections of the module",
	long: sectionsLong + `

List, the default, shows the sections that test would watch. Check reads interlock.sections and says
what in it is wrong or stands for nothing. Refresh brings the file up to date with the code. Each has
its own help: "interlock help sections refresh".`,
	examples: listExamples,
	flags:    listFlags,
	run:      runSectionsList,
}

var listExamples = [][2]string{
	{"interlock sections ./...", "those that test watches"},
	{"interlock sections list -sections=ai ./cache", "candidates of one package"},
}

// subcommands of sections. A function, as commands is.
func subcommands() []*command {
	return []*command{&sectionsListCommand, &sectionsCheckCommand, &sectionsRefreshCommand, &sectionsRefineCommand}
}

// subcommand returns the command that the first of args names, if it is one of name.
func subcommand(name string, args []string) (string, []string) {
	if len(args) > 0 {
		if full := name + " " + args[0]; find(full) != nil {
			return full, args[1:]
		}
	}
	return name, args
}

var sectionsListCommand = command{
	name: "sections list", args: "[flags] [packages]", short: "show the atomic sections that test would watch",
	long:     sectionsLong,
	examples: listExamples,
	flags:    listFlags,
	run:      runSectionsList,
}

var sectionsCheckCommand = command{
	name: "sections check", args: "[flags] [packages]", short: "say what is wrong in interlock.sections",
	long: `Check reads interlock.sections at the module's root and reports, with their lines, what it says of
accesses that are not there or not monitored. It ends in 1 if it reports anything, and in 2 if the file cannot be
read. Sections of packages that are not named on the command line, or used by them, are passed by.`,
	examples: [][2]string{{"interlock sections check ./...", "the whole file"}},
	run:      runSectionsCheck,
}

var sectionsRefreshCommand = command{
	name: "sections refresh", args: "[flags] [packages]", short: "bring interlock.sections up to date with the code",
	long: `Refresh adds the inferred sections that interlock.sections lacks and removes those whose accesses are
gone; what it says of the others, user sections and pinned ones stay. It prints the new file, or with
-w writes it. A person reviews what is new: ends may be dropped, with a reason, sections pinned.
Packages that are not named on the command line, or used by them, keep what they have.`,
	examples: [][2]string{
		{"interlock sections refresh ./... | diff interlock.sections -", "what would change"},
		{"interlock sections refresh -w -sections=all ./...", "candidates for refine too"},
	},
	flags: func(fs *flag.FlagSet, o *options) {
		sectionsFlag(fs, o, "inferred")
		depsFlag(fs, o)
		fs.BoolVar(&o.write, "w", false, "write the file")
	},
	run: runSectionsRefresh,
}

func listFlags(fs *flag.FlagSet, o *options) {
	sectionsFlag(fs, o, defaultSections)
	depsFlag(fs, o)
}

// Sources of sections, as -sections names them.
const (
	fromInference   = "inferred" // load-and-store and test-and-use
	fromUser        = "user"
	fromInvariants  = "ai"
	defaultSections = fromInference + "," + fromUser
)

// sectionsFlag lets people choose which sections are watched. A command
// without it watches the default ones.
func sectionsFlag(fs *flag.FlagSet, o *options, value string) {
	o.sections = value
	fs.Func("sections", "which atomic `sections`: inferred, user, ai, all or none, with commas between (default "+value+")", func(s string) error {
		for word := range strings.SplitSeq(s, ",") {
			if !slices.Contains([]string{fromInference, fromUser, fromInvariants, "all", "none"}, word) {
				return fmt.Errorf("unknown kind of section %q: use some of inferred, user, ai, or all or none", word)
			}
		}
		o.sections = s
		return nil
	})
}

// wants reports whether sections of a source are asked for.
func (o *options) wants(source string) bool {
	chosen := strings.Split(o.sections, ",")
	if o.sections == "" {
		chosen = strings.Split(defaultSections, ",")
	}
	return slices.Contains(chosen, source) || slices.Contains(chosen, "all")
}

// inferSections adds the sections that the code itself shows or declares.
func (c *call) inferSections(pl *planned) error {
	if c.wants(fromInference) {
		if err := atomicsets.AddSections(pl.plan, pl.static.findings); err != nil {
			return err
		}
	}
	return atomicsets.AddInvariants(pl.plan, slices.DeleteFunc(pl.static.sections, func(s invariants.Section) bool {
		return s.Declared && !c.wants(fromUser)
	}))
}

// reviewSections has the repository file decide on the plan's sections. What
// it says in vain is told.
func (c *call) reviewSections(pl *planned) ([]atomicsets.Stale, error) {
	f, err := loadSections(pl.module.Root)
	if err != nil {
		return nil, err
	}
	f.Sections = slices.DeleteFunc(f.Sections, func(s *repository.Section) bool {
		return !c.wantsKind(s.Kind) || !pl.loads(s.Package)
	})
	return atomicsets.Apply(pl.plan, f)
}

func (c *call) wantsKind(kind string) bool {
	switch kind {
	case plan.Invariant:
		return c.wants(fromInvariants)
	case plan.UserSection:
		return c.wants(fromUser)
	}
	return c.wants(fromInference)
}

// loads reports whether the plan covers the package.
func (p *planned) loads(path string) bool {
	return slices.ContainsFunc(p.module.Packages, func(pkg *sites.Package) bool { return pkg.Path == path })
}

// loadSections reads the repository file of the module at root.
func loadSections(root string) (*repository.File, error) {
	f, err := repository.Load(root)
	if err != nil {
		return nil, &build.ConfigError{Problem: err.Error(), Next: "mend the file; `go doc github.com/interlock-go/interlock/atomicsets/repository` describes it"}
	}
	return f, nil
}

func runSectionsList(c *call) int {
	pl, stale, code := c.plannedSections()
	if pl == nil {
		return code
	}
	c.tellStale(stale)
	b := bufio.NewWriter(c.stdout)
	fmt.Fprintf(b, "%s: %s\n", pl.module.Path, plural(len(pl.plan.Sections), "atomic section"))
	for i := range pl.plan.Sections {
		writeSection(b, pl.plan, &pl.plan.Sections[i])
	}
	if err := b.Flush(); err != nil {
		return c.failed(fmt.Errorf("writing the sections: %w", err))
	}
	return code
}

// plannedSections makes the plan. Without one, the exit code says why.
func (c *call) plannedSections() (*planned, []atomicsets.Stale, int) {
	p := newProgress(c.stderr)
	pl, err := c.makePlan(p, "", c.buildFlags())
	if err == nil {
		err = build.Decide(c.ctx, pl.module, pl.plan)
	}
	p.clear()
	if err != nil {
		return nil, nil, c.failed(err)
	}
	c.tell(pl.static.problems...)
	code := exitClean
	if len(pl.static.problems) > 0 {
		code = exitIncomplete
	}
	return pl, pl.stale, c.uncompiled(pl.uncompiled(), code)
}

func writeSection(b *bufio.Writer, p *plan.Plan, s *plan.Section) {
	fmt.Fprintf(b, "\n%s\n    entry %s\n", s.Name, placed(p, s.Entry, s.EntryCall, s.File))
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
	at := fmt.Sprintf("%s:%d:%d: %s of %s: %s", s.File, s.Line, s.Column, s.Mode, name(s), s.Expr)
	if call != nil {
		at += fmt.Sprintf(", by the call at %s:%d:%d", file, call.Line, call.Column)
	}
	return at
}

func runSectionsCheck(c *call) int {
	c.sections = "all"
	pl, stale, code := c.plannedSections()
	if pl == nil {
		return code
	}
	for _, s := range stale {
		fmt.Fprintln(c.stdout, s)
	}
	if len(stale) > 0 {
		return exitFindings
	}
	return code
}

func runSectionsRefresh(c *call) int {
	p := newProgress(c.stderr)
	pl, err := c.makeInferred(p, "", c.buildFlags())
	p.clear()
	if err != nil {
		return c.failed(err)
	}
	c.tell(pl.static.problems...)
	f, err := loadSections(pl.module.Root)
	if err != nil {
		return c.failed(err)
	}
	n := pl.refresh(c, f)
	fmt.Fprintf(c.stderr, "interlock: %s added, %d removed, %d kept in %s\n", plural(n.Added, "end"), n.Removed, n.Kept, repository.Name)
	if c.write {
		err = f.Save(pl.module.Root)
	} else {
		_, err = c.stdout.Write(f.Format())
	}
	if err != nil {
		return c.failed(err)
	}
	if len(pl.static.problems) > 0 {
		return c.uncompiled(pl.uncompiled(), exitIncomplete)
	}
	return c.uncompiled(pl.uncompiled(), exitClean)
}

// refresh brings what f says of the packages of the plan up to date.
func (p *planned) refresh(c *call, f *repository.File) atomicsets.Changes {
	var kinds []string
	for _, k := range []string{plan.LoadAndStore, plan.TestAndUse, plan.Invariant} {
		if c.wantsKind(k) {
			kinds = append(kinds, k)
		}
	}
	p.plan.Sections = slices.DeleteFunc(p.plan.Sections, func(s plan.Section) bool { return s.Kind == plan.UserSection })
	return atomicsets.Refresh(f, p.plan, kinds, p.loads)
}

// tellStale reports what the file says in vain, on standard error.
func (c *call) tellStale(stale []atomicsets.Stale) {
	for _, s := range stale {
		c.tell(s.String())
	}
}
