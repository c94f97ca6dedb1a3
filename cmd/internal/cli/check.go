package cli

import (
	"errors"
	"flag"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/planner"
)

var checkCommand = command{
	name: "check", args: "[flags] [packages]", short: "report suspected bugs, by reading the code alone",
	long: `Check reads the packages and their tests, runs nothing, and reports suspected findings: each with
both its sides. A suspected finding may be false; "interlock test" tries to prove it by running
the tests. Packages that do not compile are left out, and so are tests that do not, with what the compiler
says; the exit code is 3 then, whatever the others showed.

The same binary is a vet tool: go vet -vettool=$(which interlock) ./...`,
	examples: [][2]string{
		{"interlock check ./...", "the whole module"},
		{"interlock check -o sarif:interlock.sarif ./...", "text on standard output, and a SARIF file for code scanning"},
		{"interlock check -format jsonl ./... | jq -r .id", "one finding a line, for programs"},
	},
	options: func() runner { return new(checkOptions) },
}

type checkOptions struct {
	reportFlags
	acceptFlags
	planFlags
	hints bool
}

func (o *checkOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	fs.BoolVar(&o.hints, "hints", false, "report hints as well: worth a look, but probably intended; they do not "+
		"affect the exit code")
	o.acceptFlags.declare(fs, finding.Suspected)
	o.declareWhole(fs, "findings are withdrawn that it refutes")
}

func (o *checkOptions) run(c *call) int {
	if err := errors.Join(o.out.Probe(), o.acceptFlags.check(c)); err != nil {
		return c.usage("%v", err)
	}
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	p.Hints, p.Programs, p.Sources = o.hints, true, atomicsets.Sources{}
	res, err := planner.Check(c.ctx, p)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("check", res.Root)
	r.Findings, r.Problems, r.GaveUp = res.Findings, res.Problems, res.GaveUp
	if o.newFrom == "" { // else nobody has asked about the rest
		r.Unused = res.Unused
	}
	if err := o.apply(c, r, res); err != nil {
		return c.failed(err)
	}
	return c.uncompiled(res.Uncompiled, c.finish(r, o.reportFlags, &o.acceptFlags, false))
}
