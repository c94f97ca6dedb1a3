package cli

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/registry"
)

// il1000 explains the one code that no static check makes.
//
//go:embed il1000.txt
var il1000 string

// il2003 explains the code of sections that no static check speaks of.
//
//go:embed il2003.txt
var il2003 string

// il5001 explains the code of goroutines that the runs find.
//
//go:embed il5001.txt
var il5001 string

var explainCommand = command{
	name: "explain", args: "[code]", short: "explain a class of findings, with an example of wrong and right",
	long: "Explain says what a code such as IL1001 stands for, with an example of what is wrong and of\n" +
		"what is right, and what the check may miss or report falsely. Without a code it lists all.",
	examples: [][2]string{
		{"interlock explain IL1001", "access without the lock that guards it"},
	},
	options: func() runner { return flagless(runExplain) },
}

func runExplain(c *call) int {
	switch len(c.packages) {
	case 0:
		for _, code := range finding.Codes() {
			fmt.Fprintf(c.stdout, "%s  %s\n", code, code.Title())
		}
		return exitClean
	case 1:
	default:
		return c.usage("explain takes one code, such as `interlock explain %s`", finding.Unguarded)
	}
	code := finding.Code(strings.ToUpper(c.packages[0]))
	if !code.Known() {
		var known []string
		for _, k := range finding.Codes() {
			known = append(known, string(k))
		}
		return c.usage("unknown code %q: known are %s", c.packages[0], strings.Join(known, ", "))
	}
	fmt.Fprintf(c.stdout, "%s: %s\n\n", code, code.Title())
	io.WriteString(c.stdout, strings.TrimRight(helpTexts()[code], "\n")+"\n")
	return exitClean
}

// unchecked explains the codes that no static check reports.
const unchecked = `No static check reports this yet: "interlock check" is silent about it. "interlock test" reports
it where it catches such accesses in the act.
`

// helpTexts returns the text of each code: that of its check, which is the
// check's package comment.
func helpTexts() map[finding.Code]string {
	texts := map[finding.Code]string{
		finding.CaughtInTheAct: il1000, finding.Interleaved: il2003, finding.BlockedForEver: il5001,
	}
	for _, c := range registry.Checks() {
		_, text, _ := strings.Cut(c.Analyzer.Doc, "\n") // the first line is the title
		texts[c.Code] = strings.TrimLeft(text, "\n")
	}
	for _, code := range finding.Codes() {
		if texts[code] == "" {
			texts[code] = unchecked
		}
	}
	return texts
}
