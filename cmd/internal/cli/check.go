package cli

import (
	"cmp"
	"flag"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

var checkCommand = command{
	name: "check", args: "[flags] [packages]", short: "report suspected bugs, by reading the code alone",
	long: `Check reads the packages and their tests, runs nothing, and reports suspected findings, each with
the accesses or locks that conflict. A suspected finding may be false; "interlock test" tries to prove it by running
the tests. Packages and tests that do not compile are left out: the compiler's errors are printed,
and the exit code is 3 even if other packages have findings. Tests that import a package which no
required module provides are left out too: a line names them, and the exit code does not change.

The same binary is a vet tool: go vet -vettool=$(which interlock) ./...`,
	examples: [][2]string{
		{"interlock check ./...", "the whole module"},
		{"interlock check -o sarif:interlock.sarif ./...", "text on standard output, and a SARIF file for code scanning"},
		{"interlock check -format jsonl ./... | jq -r 'select(.id).id'", "one finding a line; the last line marks the end"},
	},
	fails:   suspectedFails,
	options: func() runner { return new(checkOptions) },
}

type checkOptions struct {
	reportFlags
	acceptFlags
	planFlags
	possible bool
	leads    bool
	tests    bool
	from     string
}

func (o *checkOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	fs.BoolVar(&o.possible, "possible", false, "report findings of classes of which at least half were true as well;\n"+
		"they do not affect the exit code")
	fs.BoolVar(&o.leads, "leads", false, "report leads as well, which are false more often than true;\n"+
		"runs under the monitor try them first, and they do not affect the exit code")
	fs.BoolVar(&o.tests, "tests", true, "report findings in test files as well; -tests=false leaves them out")
	fs.StringVar(&o.from, "from", "", "raise findings that the runs of this `file` have shown or come near to, as\n"+
		"\"interlock test -suspected -o jsonl:file\" writes it")
	o.acceptFlags.declare(fs, finding.Suspected)
	o.declareWhole(fs, "findings that it refutes are withdrawn")
}

func (o *checkOptions) run(c *call) int {
	if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
		return c.usageOf(err)
	}
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.Leads, p.Programs, p.Sources = o.leads || o.from != "", true, atomicsets.Sources{}
	res, err := planner.Check(c.ctx, p)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	if !o.tests {
		res.Findings = slices.DeleteFunc(res.Findings, inTests)
	}
	if err := o.raise(c, res.Findings); err != nil {
		return c.failed(err)
	}
	r := c.newReport("check", res.Root, res.Path)
	r.Findings, r.Problems, r.GaveUp, r.LeftOut = res.Findings, res.Problems, res.GaveUp, res.LeftOut
	if o.newFrom == "" { // else nobody has asked about the rest
		r.Unused = res.Unused
	}
	if err := o.apply(c, r, res); err != nil {
		return c.failed(err)
	}
	o.hide(r)
	r.Accepted.Comments = obeyed(res.Ignores)
	return c.uncompiled(res.Uncompiled, c.finish(r, o.reportFlags, &o.acceptFlags, false))
}

// hide leaves out the findings of levels that are not asked for, and counts the possible ones among them.
func (o *checkOptions) hide(r *report.Report) {
	if !o.leads {
		r.Findings = slices.DeleteFunc(r.Findings, (*finding.Finding).IsLead)
	}
	if !o.possible {
		all := len(r.Findings)
		r.Findings = slices.DeleteFunc(r.Findings, func(f *finding.Finding) bool { return f.Level == finding.Possible })
		r.Hidden = all - len(r.Findings)
	}
}

// raise sets the levels of findings by those that -from names.
func (o *checkOptions) raise(c *call, findings []*finding.Finding) error {
	if o.from == "" {
		return nil
	}
	seen, interrupted, err := report.ReadFindings(o.from)
	if err != nil {
		return gocmd.Refuse("-from: "+err.Error(), "name a file that `interlock test -suspected -o jsonl:file` has written")
	}
	if interrupted {
		c.warn("-from: " + interruptedFindings(o.from))
	}
	byID := map[string]*finding.Finding{}
	for _, s := range seen {
		for _, id := range slices.Concat(s.SameAs, []string{s.ID}) {
			byID[id] = s
		}
	}
	for _, f := range findings {
		if s := byID[f.ID]; s != nil {
			levels.Raise(f, s)
		}
	}
	return nil
}

// inTests reports whether all places of f stand in tests.
func inTests(f *finding.Finding) bool {
	isTest := func(p finding.Position) bool { return strings.HasSuffix(p.File, "_test.go") }
	return !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return !isTest(a.Position) }) &&
		!slices.ContainsFunc(f.Cycle, func(e finding.Edge) bool { return !isTest(e.Position) })
}
