package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/codetext"
	"github.com/interlock-go/interlock/cmd/internal/manual"
	"github.com/interlock-go/interlock/cmd/internal/suggest"
)

const intro = `Interlock finds concurrency bugs in Go programs, proves them by catching them
in the act, and proposes patches that it has checked and run again.

Usage:

    interlock <command> [flags] [packages]

Commands:

`

const outro = `
Packages are named as for the go command: "./..." is everything below this
folder, and none means the package in it. A Go file stands for its package.

The first thing to try in a module:

    interlock check ./...
    interlock test ./...

Exit codes:

`

const outroEnd = `
"interlock help <command>" shows the flags of a command, with examples,
"interlock explain <code>" explains a class of findings such as IL1001;
"interlock explain" lists all codes.
`

var helpCommand = command{
	name: "help", args: "[command]", short: "show how to use interlock or one of its commands",
	long:     "Help prints the list of commands, or what one of them does, with its flags and examples.",
	examples: [][2]string{{"interlock help test", "what test does"}},
	options:  func() runner { return flagless(runHelp) },
}

func runHelp(c *call) int {
	switch len(c.packages) {
	case 0:
		io.WriteString(c.stdout, intro)
		for _, cmd := range c.table.first() {
			fmt.Fprintf(c.stdout, "    %-10s  %s\n", cmd.name, cmd.short)
		}
		io.WriteString(c.stdout, outro)
		for _, e := range exitCodes {
			fmt.Fprintf(c.stdout, "    %-4d %s\n", e.code, e.short)
		}
		io.WriteString(c.stdout, outroEnd)
		return exitClean
	case 1, 2: // such as sections refresh
		name := strings.Join(c.packages, " ")
		cmd := c.table.find(name)
		if cmd == nil {
			return c.usage("%s", c.table.unknown(name))
		}
		cmd.help(c.stdout)
		return exitClean
	}
	return c.usage("help takes one command: `interlock help`")
}

// help writes all there is to know about a command.
func (c *command) help(w io.Writer) { manual.Help(w, manualOf(c)) }

// manualOf returns the manual of a command.
func manualOf(c *command) *manual.Command {
	shared := slices.DeleteFunc(c.settable(), func(name string) bool { return slices.Contains(c.own, name) })
	return &manual.Command{
		Name: c.name, Args: c.args, Short: c.short, Long: c.long, Examples: c.examples,
		Fails: c.fails, Flags: newFlagSet(c, new(common), c.options()), Settings: shared,
	}
}

// manPages returns the man pages, by their file: the one of the program and the one of the codes.
func manPages(t table) map[string]string {
	page := manual.Page{
		Intro: "Interlock finds concurrency bugs in Go programs, proves them by catching them in the act, and proposes\n" +
			"patches that it has checked and run again. Packages are named as for the go command.",
		SeeAlso: "interlock-codes(7), go(1), https://github.com/interlock-go/interlock",
	}
	for _, e := range exitCodes {
		page.ExitCodes = append(page.ExitCodes, [2]string{strconv.Itoa(e.code), e.text()})
	}
	var codes [][3]string
	for _, code := range finding.Codes() {
		codes = append(codes, [3]string{string(code), code.Title(), codetext.All()[code]})
	}
	var program, classes strings.Builder
	manual.Man(&program, page, manualsOf(t))
	manual.CodesPage(&classes, codes)
	return map[string]string{"interlock.1": program.String(), "interlock-codes.7": classes.String()}
}

// manualsOf returns the manuals of the commands.
func manualsOf(t table) (all []*manual.Command) {
	for _, c := range t {
		all = append(all, manualOf(c))
	}
	return all
}

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
		return c.usage("unknown code %q%s; known are %s", c.packages[0], suggest.Hint(c.packages[0], known),
			strings.Join(known, ", "))
	}
	fmt.Fprintf(c.stdout, "%s: %s\n\n", code, code.Title())
	io.WriteString(c.stdout, strings.TrimRight(codetext.All()[code], "\n")+"\n")
	return exitClean
}
