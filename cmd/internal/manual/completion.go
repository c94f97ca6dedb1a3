package manual

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Shells are those that [Completion] knows.
var Shells = []string{"bash", "zsh", "fish"}

// Completion writes the script by which the shell completes commands and flags.
func Completion(w io.Writer, shell string, commands []*Command) {
	if shell == "fish" {
		fish(w, commands)
		return
	}
	if shell == "zsh" { // it reads the script of bash
		fmt.Fprintln(w, "autoload -U +X bashcompinit && bashcompinit")
	}
	bash(w, commands)
}

// fish writes a line a command, and one a flag.
func fish(w io.Writer, commands []*Command) {
	for _, c := range commands {
		if c.parent() != c.Name {
			continue
		}
		fmt.Fprintf(w, "complete -c interlock -n __fish_use_subcommand -a %s -d '%s'\n", c.Name,
			strings.ReplaceAll(c.Short, "'", `\'`))
		for _, word := range words(c, commands) {
			if name, isFlag := strings.CutPrefix(word, "-"); isFlag {
				fmt.Fprintf(w, "complete -c interlock -n '__fish_seen_subcommand_from %s' -o %s\n", c.Name, name)
			} else {
				fmt.Fprintf(w, "complete -c interlock -n '__fish_seen_subcommand_from %s' -a %s\n", c.Name, word)
			}
		}
	}
}

// bash writes one function, with a case a command.
func bash(w io.Writer, commands []*Command) {
	var names []string
	for _, c := range commands {
		if c.parent() == c.Name {
			names = append(names, c.Name)
		}
	}
	fmt.Fprintf(w, "_interlock() {\n\tlocal words\n\tif [ \"$COMP_CWORD\" = 1 ]; then words='%s'; else\n"+
		"\tcase \"${COMP_WORDS[1]}\" in\n", strings.Join(names, " "))
	for _, c := range commands {
		if c.parent() == c.Name {
			fmt.Fprintf(w, "\t%s) words='%s' ;;\n", c.Name, strings.Join(words(c, commands), " "))
		}
	}
	fmt.Fprint(w, "\tesac; fi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"+
		"complete -o default -F _interlock interlock\n")
}

// words lists the words that may follow a command: its flags, and its subcommands with theirs.
func words(c *Command, commands []*Command) (words []string) {
	known := map[string]bool{}
	add := func(word string) {
		if !known[word] {
			known[word] = true
			words = append(words, word)
		}
	}
	c.Flags.VisitAll(func(f *flag.Flag) { add("-" + f.Name) })
	for _, below := range commands {
		if word, ok := strings.CutPrefix(below.Name, c.Name+" "); ok {
			add(word)
			below.Flags.VisitAll(func(f *flag.Flag) { add("-" + f.Name) })
		}
	}
	return words
}
