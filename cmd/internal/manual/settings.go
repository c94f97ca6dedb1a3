package manual

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// settingsWidth is how wide the comments of a file of settings are, at most.
const settingsWidth = 100

// settingsHead begins a file of settings.
const settingsHead = `# Settings of Interlock for everybody who works in this repository. Every line is a comment:
# remove the "#" before a setting to make it hold, and check the file with "interlock config verify".
# A setting at the margin holds for all commands that have the flag; one below a command for that
# command. What the command line has comes last, and wins.

`

// Settings returns a file of settings in which each flag is a comment, with its help above it and a value: the one in
// samples, or else the default. A setting stands right behind its "#", the text of a comment behind a space.
func Settings(commands []*Command, samples map[string]string) string {
	// Which commands have each flag: the help is that of the first of them.
	var names []string
	owners := map[string][]*Command{}
	for _, c := range commands {
		for _, name := range c.Settings {
			if owners[name] == nil {
				names = append(names, name)
			}
			owners[name] = append(owners[name], c)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	b.WriteString(settingsHead)
	for _, name := range names {
		var has []string
		for _, c := range owners[name] {
			has = append(has, c.Name)
		}
		f := owners[name][0].Flags.Lookup(name)
		_, text := flag.UnquoteUsage(f)
		for _, line := range wrap(text, settingsWidth) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		value := samples[name]
		if value == "" {
			value = f.DefValue
		}
		for _, line := range wrap("("+strings.Join(has, ", ")+")", settingsWidth) {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		fmt.Fprintf(&b, "#%s: %s\n\n", name, value)
	}
	b.WriteString("# For one command alone:\n#test:\n#  runs: 20\n")
	return b.String()
}

// wrap breaks text into lines of at most width bytes, where words allow it.
func wrap(text string, width int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
