package cli

import (
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/codetext"
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
folder, and none means the package in it. The first thing to try in a module:

    interlock check ./...
    interlock test ./...

Exit codes:

`

const outroEnd = `
"interlock help <command>" shows the flags of a command, with examples,
"interlock explain <code>" explains a class of findings such as IL1001;
"interlock explain" lists all codes.
`

func helpCommand() *command {
	return &command{
		name: "help", args: "[command]", short: "show how to use interlock or one of its commands",
		long:     "Help prints the list of commands, or what one of them does, with its flags and examples.",
		examples: [][2]string{{"interlock help test", "what test does"}},
		options:  func() runner { return flagless(runHelp) },
	}
}

func runHelp(c *call) int {
	switch len(c.packages) {
	case 0:
		io.WriteString(c.stdout, intro)
		for _, cmd := range commands() {
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
		cmd := find(name)
		if cmd == nil {
			return c.usage("%s", unknownCommand(name))
		}
		cmd.help(c.stdout)
		return exitClean
	}
	return c.usage("help takes one command: `interlock help`")
}

// help writes all there is to know about a command.
func (c *command) help(w io.Writer) {
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", strings.TrimSpace("interlock "+c.name+" "+c.args), c.long)
	fs := newFlagSet(c, new(common), c.options())
	first := true
	fs.VisitAll(func(f *flag.Flag) {
		if first {
			fmt.Fprint(w, "\nFlags:\n\n")
		}
		first = false
		value, text := flag.UnquoteUsage(f)
		if value != "" {
			value = " " + value
		}
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		fmt.Fprintf(w, "    -%s%s\n        %s\n", f.Name, value, strings.ReplaceAll(text, "\n", "\n        "))
	})
	if len(c.examples) > 0 {
		fmt.Fprint(w, "\nExamples:\n\n")
	}
	for _, e := range c.examples {
		fmt.Fprintf(w, "    %s\n        %s\n", e[0], e[1])
	}
}

var versionCommand = command{
	name: "version", short: "print the version of interlock",
	long: "Version prints the version of interlock, the revision that it was built from if that is known,\n" +
		"and the Go version that built it.",
	options: func() runner { return flagless(runVersion) },
}

func runVersion(c *call) int {
	if len(c.packages) > 0 {
		return c.usage("version takes no arguments")
	}
	fmt.Fprintf(c.stdout, "interlock %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitClean
}

// version returns the module's version where the binary has one (go install
// ...@v1.2.3), else 0.0.0-devel, with the revision where it is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "0.0.0-devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := "0.0.0-devel"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
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
		return c.usage("unknown code %q%s: known are %s", c.packages[0],
			strings.TrimSuffix(suggest.Hint(c.packages[0], known), "?"), strings.Join(known, ", "))
	}
	fmt.Fprintf(c.stdout, "%s: %s\n\n", code, code.Title())
	io.WriteString(c.stdout, strings.TrimRight(codetext.All()[code], "\n")+"\n")
	return exitClean
}
