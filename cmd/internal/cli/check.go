package cli

import (
	"cmp"
	"flag"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/cmd/internal/codetext"
	"github.com/interlock-go/interlock/cmd/internal/lsp"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/rebuild"
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
	hints bool
	leads bool
	tests bool
}

func (o *checkOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	fs.BoolVar(&o.hints, "hints", false, "report hints as well, which are worth a look but probably intended; "+
		"they do not\naffect the exit code")
	fs.BoolVar(&o.leads, "leads", false, "report leads as well, which come from rules that are too often wrong;\n"+
		"runs under the monitor try them first, and they do not affect the exit code")
	fs.BoolVar(&o.tests, "tests", true, "report findings in test files as well; -tests=false leaves them out")
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
	p.Hints, p.Leads, p.Programs, p.Sources = o.hints, o.leads, true, atomicsets.Sources{}
	res, err := planner.Check(c.ctx, p)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	if !o.tests {
		res.Findings = slices.DeleteFunc(res.Findings, inTests)
	}
	r := c.newReport("check", res.Root, res.Path)
	r.Findings, r.Problems, r.GaveUp, r.LeftOut = res.Findings, res.Problems, res.GaveUp, res.LeftOut
	if o.newFrom == "" { // else nobody has asked about the rest
		r.Unused = res.Unused
	}
	if err := o.apply(c, r, res); err != nil {
		return c.failed(err)
	}
	r.Accepted.Comments = obeyed(res.Ignores)
	return c.uncompiled(res.Uncompiled, c.finish(r, o.reportFlags, &o.acceptFlags, false))
}

var lspCommand = command{
	name: "lsp", args: "[flags]", short: "serve an editor: findings while you work, beside gopls",
	long: `Lsp is a language server over standard input and output (LSP 3.18). An editor starts it beside gopls;
docs/editors.md has the settings for VS Code, Neovim, Helix and Emacs. It analyses the package of a file
when the file is opened or saved, and keeps the module in memory, so that a later save costs only that package.
It ends in 0 after the client's shutdown and exit, and in 3 if the session ends in another way.`,
	examples: [][2]string{
		{"interlock lsp", "the command that an editor starts"},
		{"interlock lsp -from findings.jsonl", "show the findings of `interlock test -o jsonl:findings.jsonl` too"},
	},
	options: func() runner { return new(lspOptions) },
}

type lspOptions struct{ from []string }

func (o *lspOptions) declare(fs *flag.FlagSet) {
	fs.Func("from", "show the findings in this `file` too, JSON or JSON Lines of another command, as long as their\n"+
		"lines are still there; may be given several times", func(s string) error {
		o.from = append(o.from, s)
		return nil
	})
	fs.Bool("stdio", true, "no effect: lsp always serves standard input and output, and some clients pass this flag")
}

func (o *lspOptions) run(c *call) int {
	if len(c.packages) > 0 {
		return c.usage("lsp takes no arguments: the editor names the files")
	}
	// The go command that the editor's folder asks for may be newer than this program.
	if err := rebuild.Match(c.ctx, "", c.stderr); err != nil {
		c.warn(err.Error())
		return exitIncomplete
	}
	tool, err := os.Executable()
	if err != nil {
		c.warn("tests cannot be run from the editor: " + err.Error())
	}
	texts := codetext.All()
	if err := lsp.Serve(c.ctx, os.Stdin, c.stdout, lsp.Options{
		Version: version(), Tool: tool, From: o.from, Explain: func(code finding.Code) string { return texts[code] },
		Repository: repositorySettings,
	}); err != nil {
		c.warn(err.Error())
		return exitIncomplete
	}
	return exitClean
}

// repositorySettings returns the settings of check in the file of settings around a module.
func repositorySettings(root string) (r lsp.Repository, err error) {
	file, err := (&common{dir: root}).readConfig()
	if err != nil {
		return r, err
	}
	set := flag.NewFlagSet("check", flag.ContinueOnError)
	set.StringVar(&r.Tags, "tags", "", "")
	set.BoolVar(&r.Hints, "hints", false, "")
	_, err = configure(set, &checkCommand, file)
	return r, err
}

// inTests reports whether all places of f stand in tests.
func inTests(f *finding.Finding) bool {
	isTest := func(p finding.Position) bool { return strings.HasSuffix(p.File, "_test.go") }
	return !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return !isTest(a.Position) }) &&
		!slices.ContainsFunc(f.Cycle, func(e finding.Edge) bool { return !isTest(e.Position) })
}
