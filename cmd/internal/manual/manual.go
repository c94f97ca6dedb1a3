// Package manual presents the commands: as help on a terminal, as a man page, as completion for shells, and
// as a file of settings to begin with. All forms are made from the same texts, those of the commands themselves.
package manual

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Command describes one command.
type Command struct {
	Name     string // several words for a command below another
	Args     string // the part of the usage line behind the name
	Short    string // one line
	Long     string // the description, for a stranger: lines of text, of which indented ones are code
	Fails    string // the reasons for exit code 1, as Markdown; empty if there are none
	Examples [][2]string
	Flags    *flag.FlagSet
	// Settings are the flags that a file of settings may have for all commands alike; nil if there are none.
	Settings []string
}

// usage returns the usage line.
func (c *Command) usage() string { return strings.TrimSpace("interlock " + c.Name + " " + c.Args) }

// fails returns the reasons for exit code 1, as text.
func (c *Command) fails() string { return strings.ReplaceAll(c.Fails, "`", "") }

// wrapped returns the words of text in lines of at most 100 characters, where no word is longer.
func wrapped(text string) string {
	const most = 100
	var b strings.Builder
	length := 0
	for _, word := range strings.Fields(text) {
		switch {
		case length == 0:
		case length+1+len(word) > most:
			b.WriteByte('\n')
			length = 0
		default:
			b.WriteByte(' ')
			length++
		}
		b.WriteString(word)
		length += len(word)
	}
	return b.String()
}

// parent returns the command that c stands below, or itself.
func (c *Command) parent() string {
	first, _, _ := strings.Cut(c.Name, " ")
	return first
}

// eachFlag calls do with the parts of each flag's help: its name, the name of its value, and its text with the default.
func (c *Command) eachFlag(do func(name, value, text string)) {
	c.Flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		if f.DefValue != "" && f.DefValue != "0" && f.DefValue != "false" {
			text += " (default " + f.DefValue + ")"
		}
		do(f.Name, value, text)
	})
}

// Help writes the help of a command as text.
func Help(w io.Writer, c *Command) {
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", c.usage(), c.Long)
	if c.Fails != "" {
		fmt.Fprintf(w, "\n%s\n", wrapped("Exit code 1: "+c.fails()+"."))
	}
	first := true
	c.eachFlag(func(name, value, text string) {
		if first {
			fmt.Fprint(w, "\nFlags:\n\n")
		}
		first = false
		if value != "" {
			value = " " + value
		}
		fmt.Fprintf(w, "    -%s%s\n        %s\n", name, value, strings.ReplaceAll(text, "\n", "\n        "))
	})
	if len(c.Examples) > 0 {
		fmt.Fprint(w, "\nExamples:\n\n")
	}
	for _, e := range c.Examples {
		fmt.Fprintf(w, "    %s\n        %s\n", e[0], e[1])
	}
}
