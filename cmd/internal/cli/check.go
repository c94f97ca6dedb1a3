package cli

import (
	"flag"

	"github.com/interlock-go/interlock/cmd/internal/report"
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
	flags: func(fs *flag.FlagSet, o *options) {
		reportFlags(fs, o)
		fs.BoolVar(&o.hints, "hints", false, "report hints as well: what is worth a look, but likely meant; they do not count for the exit code")
		wholeFlag(fs, o, "findings are withdrawn that it refutes")
	},
	run: runCheck,
}

// reportFlags are those of the commands that report findings.
func reportFlags(fs *flag.FlagSet, o *options) {
	o.format = "text"
	fs.Func("format", "`format` of standard output: text, jsonl, json or sarif (default text)", func(s string) error {
		_, err := report.For(s)
		o.format = s
		return err
	})
	fs.Var(&o.out, "o", "write a report to a file as well, as `format:path`; may be given several times")
}

func runCheck(c *call) int {
	if err := c.out.probe(); err != nil {
		return c.usage("%v", err)
	}
	p := newProgress(c.stderr)
	st, err := c.vet(p, "", c.buildFlags())
	if err == nil {
		c.prune(p, st, "", c.buildFlags(), true)
		err = c.ctx.Err()
	}
	p.clear()
	if err != nil {
		return c.failed(err)
	}
	r := c.newReport("check", st.root)
	r.Findings, r.Problems, r.GaveUp = st.findings, st.problems, st.gaveUp
	return c.uncompiled(st.uncompiled, c.finish(r, false))
}
