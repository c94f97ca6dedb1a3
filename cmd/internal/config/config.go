// Package config reads .interlock.yml, by which a repository chooses the flags of all its users and machines. Each
// key is the name of a flag, or of a command with flags below it. A key that nobody knows is an error with its place.
package config

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/interlock-go/interlock/cmd/internal/suggest"
)

// Name is that of the file, in the folder where a command starts or one above, within the repository.
const Name = ".interlock.yml"

// Setting is one flag and its values.
type Setting struct {
	Flag   string
	Values []string // several for a list
	Line   int
	Column int
}

// Config is a file that was read.
type Config struct {
	File     string
	Common   []Setting            // for all commands that have the flag
	Commands map[string][]Setting // for one command, after Common
}

// Flags lists, by command, the flags that a file may set.
type Flags map[string][]string

// all lists every flag once.
func (k Flags) all() (names []string) {
	for _, flags := range k {
		names = append(names, flags...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Read reads the file. Its errors name file, line and column.
func Read(file string, known Flags) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := parse(data, known)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", file, err)
	}
	c.File = file
	return c, nil
}

func parse(data []byte, known Flags) (*Config, error) {
	c := &Config{Commands: map[string][]Setting{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, syntax(data, err)
	}
	if doc.Kind == 0 { // empty, or comments alone
		return c, nil
	}
	// Keys at the top are flags, or commands with flags below them.
	commands := make([]string, 0, len(known))
	for name := range known {
		commands = append(commands, name)
	}
	slices.Sort(commands)
	err := eachKey(doc.Content[0], func(key, value *yaml.Node) error {
		_, isCommand := known[key.Value]
		// Some words are both, such as baseline: with a value they are the flag.
		isFlag := slices.Contains(known.all(), key.Value) && value.Kind != yaml.MappingNode && value.Tag != "!!null"
		if !isCommand || isFlag {
			s, err := setting(key, value, slices.Concat(known.all(), commands), known.all(), "")
			c.Common = append(c.Common, s)
			return err
		}
		return eachKey(value, func(below, value *yaml.Node) error {
			flags := known[key.Value]
			s, err := setting(below, value, flags, flags, " of "+key.Value)
			c.Commands[key.Value] = append(c.Commands[key.Value], s)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// syntaxLine matches the line in an error of the YAML library.
var syntaxLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): `)

// syntax words an error of the YAML library, with its place. A tab is what people trip over most, and the library calls
// it a character that cannot start a token.
func syntax(data []byte, err error) error {
	n, text := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := syntaxLine.FindStringSubmatch(err.Error()); m != nil {
		n, _ = strconv.Atoi(m[1])
		text = strings.TrimPrefix(err.Error(), m[0])
	}
	lines := strings.Split(string(data), "\n")
	n = min(max(n, 1), len(lines))
	for i := max(n-2, 0); i < min(n+1, len(lines)); i++ { // the library may be off by a line
		line := lines[i]
		if tab := strings.IndexByte(line[:len(line)-len(strings.TrimLeft(line, " \t"))], '\t'); tab >= 0 {
			return fmt.Errorf("%d:%d: a tab, where YAML indents with spaces alone", i+1, tab+1)
		}
	}
	column := len(lines[n-1]) - len(strings.TrimLeft(lines[n-1], " ")) + 1
	return fmt.Errorf("%d:%d: this is not YAML (%s)", n, column, text)
}

// eachKey calls do for each key of a mapping, none of which may stand there twice.
func eachKey(n *yaml.Node, do func(key, value *yaml.Node) error) error {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return at(n, errors.New("want keys with values, such as `fail-on: confirmed`"))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if seen[key.Value] {
			return at(key, fmt.Errorf("%q stands there twice", key.Value))
		}
		seen[key.Value] = true
		if err := do(key, value); err != nil {
			return err
		}
	}
	return nil
}

// setting reads a flag: known are the flags, words what else the key may have been meant to be.
func setting(key, value *yaml.Node, words, known []string, of string) (Setting, error) {
	s := Setting{Flag: key.Value, Line: key.Line, Column: key.Column}
	if !slices.Contains(known, key.Value) {
		return s, at(key, fmt.Errorf("unknown key %q%s%s", key.Value, of, suggest.Hint(key.Value, words)))
	}
	items := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		items = value.Content
	}
	for _, item := range items {
		if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
			return s, at(item, fmt.Errorf("%s: want one value, or a list of values", key.Value))
		}
		s.Values = append(s.Values, item.Value)
	}
	return s, nil
}

// at returns an error behind its place.
func at(n *yaml.Node, err error) error { return fmt.Errorf("%d:%d: %w", n.Line, n.Column, err) }

// For returns the settings for a command, those for all commands first, as far as it has the flags.
func (c *Config) For(command string, has []string) (all []Setting) {
	for _, s := range c.Common {
		if slices.Contains(has, s.Flag) {
			all = append(all, s)
		}
	}
	return append(all, c.Commands[command]...)
}
