package manual

import (
	"fmt"
	"io"
	"strings"
)

// Page is the man page of the program, without its commands.
type Page struct {
	Intro     string      // the purpose of the program
	ExitCodes [][2]string // a number and its meaning
	SeeAlso   string
}

// Man writes the man page interlock(1), with a subsection a command.
func Man(w io.Writer, p Page, commands []*Command) {
	fmt.Fprint(w, ".\\\" Generated from the help texts: go test ./cmd/internal/cli -update\n"+
		".TH INTERLOCK 1\n.SH NAME\ninterlock \\- find, prove and patch concurrency bugs in Go programs\n.SH SYNOPSIS\n"+
		".B interlock\n.I command\n[flags] [packages]\n.SH DESCRIPTION\n")
	prose(w, p.Intro)
	fmt.Fprint(w, ".SH COMMANDS\n")
	for _, c := range commands {
		fmt.Fprintf(w, ".SS %s\n", roff(c.usage()))
		prose(w, c.Long)
		if c.Fails != "" {
			fmt.Fprintf(w, ".PP\nExit status 1: %s.\n", roff(c.fails()))
		}
		c.eachFlag(func(name, value, text string) {
			fmt.Fprintf(w, ".TP\n.B %s\n", strings.TrimSpace(roff("-"+name)+" "+roff(value)))
			prose(w, strings.ReplaceAll(text, "\n", " "))
		})
		for _, e := range c.Examples {
			fmt.Fprintf(w, ".PP\n.nf\n.RS 4\n%s\n.RE\n.fi\n%s\n", roff(e[0]), roff(e[1]))
		}
	}
	fmt.Fprint(w, ".SH EXIT STATUS\n")
	for _, e := range p.ExitCodes {
		fmt.Fprintf(w, ".TP\n.B %s\n%s\n", e[0], roff(e[1]))
	}
	fmt.Fprintf(w, ".SH SEE ALSO\n%s\n", roff(p.SeeAlso))
}

// CodesPage writes the man page interlock-codes(7): each code with its title and text.
func CodesPage(w io.Writer, codes [][3]string) {
	fmt.Fprint(w, ".\\\" Generated from the texts of the checks: go test ./cmd/internal/cli -update\n"+
		".TH INTERLOCK-CODES 7\n.SH NAME\ninterlock-codes \\- the classes of findings of interlock(1)\n.SH DESCRIPTION\n"+
		"What each code stands for, with wrong and right code, as\n.B interlock explain\nprints it.\n")
	for _, c := range codes {
		fmt.Fprintf(w, ".SH %s %s\n", roff(c[0]), roff(c[1]))
		prose(w, c[2])
	}
}

// prose writes text: paragraphs are filled, indented lines stay as they are.
func prose(w io.Writer, text string) {
	isCode := false
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		if indented != isCode && strings.TrimSpace(line) != "" {
			isCode = indented
			fmt.Fprint(w, map[bool]string{true: ".nf\n", false: ".fi\n"}[isCode])
		}
		switch {
		case strings.TrimSpace(line) == "" && !isCode:
			fmt.Fprint(w, ".PP\n")
		default:
			fmt.Fprintln(w, roff(line))
		}
	}
	if isCode {
		fmt.Fprint(w, ".fi\n")
	}
}

// escape replaces the characters that roff would interpret.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\t", "    ")

// roff returns a line that roff prints as s: neither a request nor an escape.
func roff(s string) string {
	s = escape.Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
