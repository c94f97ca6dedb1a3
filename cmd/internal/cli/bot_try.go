package cli

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/find"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

var botTryCommand = command{
	name: "bot try", args: "[flags]", short: "try the patches of a request together, before they are pushed",
	long: botLong + `

Try applies the verified patches that the request brings in together, to a copy of its head in a temporary
folder, builds the module, and runs go vet and all tests. What fails without the patches too does not count. The
file gets the result, which "bot review -push" asks for. Like find, it runs the code of the request, and needs
no token. The exit code is 0 if the file was written, whether the patches pass or not.`,
	examples: [][2]string{
		{"interlock bot try -findings=findings.json", "between find and review -push"},
	},
	own:     []string{"o"},
	options: func() runner { return new(botTryOptions) },
}

type botTryOptions struct {
	findings string
	out      string
	only     string
}

func (o *botTryOptions) declare(fs *flag.FlagSet) {
	fs.StringVar(&o.findings, "findings", "interlock-findings.json", "try the patches of this `file` of bot find")
	fs.StringVar(&o.out, "o", "", "write the file with the result to this `file` (default: the same)")
	fs.StringVar(&o.only, "only", "", "try the patches of the findings with these `ids`, with commas between")
}

func (o *botTryOptions) run(c *call) int {
	data, err := os.ReadFile(o.findings)
	if err != nil {
		return c.usage("-findings: %v", err)
	}
	file, _, err := bot.ReadFile(bytes.NewReader(data))
	if err != nil {
		return c.usage("-findings: %s: %v", o.findings, err)
	}
	resume := c.stopCommands()
	defer resume()
	only := strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
	err = find.Try(c.ctx, ".", file, find.TryOptions{Only: only, Tags: c.tags, Note: func(s string) { c.warn(s) }})
	switch {
	case c.ctx.Err() != nil:
		return c.interrupted()
	case err != nil:
		return c.failed(err)
	}
	if err := bot.WriteTrial(cmp.Or(o.out, o.findings), data, file.Tried); err != nil {
		return c.unwritten(err)
	}
	n := report.Count(len(slices.Compact(file.Tried.Patches)), "patch")
	if file.Tried.Failed != "" {
		c.warn(fmt.Sprintf("%s together: %s", n, file.Tried.Failed))
	} else {
		c.warn(fmt.Sprintf("%s together: all checks pass", n))
	}
	return exitClean
}
