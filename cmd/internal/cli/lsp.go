package cli

import (
	"flag"
	"os"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/codetext"
	"github.com/interlock-go/interlock/cmd/internal/lsp"
	"github.com/interlock-go/interlock/cmd/internal/rebuild"
)

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
		Repository: c.table.checkSettings,
	}); err != nil {
		c.warn(err.Error())
		return exitIncomplete
	}
	return exitClean
}

// checkSettings returns the settings of check in the file of settings around a module.
func (t table) checkSettings(root string) (r lsp.Repository, err error) {
	file, err := t.readConfig(&common{dir: root})
	if err != nil {
		return r, err
	}
	set := flag.NewFlagSet("check", flag.ContinueOnError)
	set.StringVar(&r.Tags, "tags", "", "")
	set.BoolVar(&r.Possible, "possible", false, "")
	_, err = configure(set, t.find("check"), file)
	return r, err
}
