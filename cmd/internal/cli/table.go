package cli

import (
	"fmt"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/suggest"
)

// find returns the command with the name, or nil.
func (t table) find(name string) *command {
	for _, c := range t {
		if c.name == name {
			return c
		}
	}
	return nil
}

// first returns the commands that are no subcommands.
func (t table) first() (commands []*command) {
	for _, c := range t {
		if !strings.Contains(c.name, " ") {
			commands = append(commands, c)
		}
	}
	return commands
}

// below returns the subcommands of a command, by their second word.
func (t table) below(name string) (words []string, commands []*command) {
	for _, c := range t {
		if word, ok := strings.CutPrefix(c.name, name+" "); ok {
			words, commands = append(words, word), append(commands, c)
		}
	}
	return words, commands
}

// subcommand returns the command that the first of args names, if it is one of name, and the other args.
func (t table) subcommand(name string, args []string) (string, []string) {
	if len(args) > 0 {
		if full := name + " " + args[0]; t.find(full) != nil {
			return full, args[1:]
		}
	}
	return name, args
}

// unknown returns the message about a command that does not exist, with the next step.
func (t table) unknown(name string) string {
	var names []string
	for _, c := range t.first() {
		names = append(names, c.name)
	}
	return fmt.Sprintf("unknown command %q%s; `interlock help` lists the commands", name, suggest.Hint(name, names))
}

// unknownSubcommand returns an error text if the first word behind a command with subcommands is neither one of them
// nor a package, which is named by a path such as ./cache. Otherwise it returns "".
func (t table) unknownSubcommand(name string, args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") || strings.ContainsAny(args[0], "./@\\") {
		return ""
	}
	words, _ := t.below(name)
	if len(words) == 0 {
		return ""
	}
	return fmt.Sprintf("%s has no subcommand %q%s; it has %s, and a package is named as ./%s", name, args[0],
		suggest.Hint(args[0], words), strings.Join(words, ", "), args[0])
}
