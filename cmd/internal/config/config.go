// Package config reads .interlock.yml, by which a repository chooses the flags of all its users and machines. Each
// key is the name of a flag, or of a command with flags below it. A key that nobody knows is an error with its place.
package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

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
	file, err := parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, syntax(err)
	}
	docs := slices.DeleteFunc(file.Docs, func(d *ast.DocumentNode) bool { return d.Body == nil }) // comments alone
	if len(docs) == 0 {
		return c, nil
	}
	if len(docs) > 1 {
		return nil, at(docs[1].Body, errors.New("a second document begins here: put all settings into the first"))
	}
	// Keys at the top are flags, or commands with flags below them.
	commands := make([]string, 0, len(known))
	for name := range known {
		commands = append(commands, name)
	}
	err = eachKey(docs[0].Body, func(key *token.Token, value ast.Node) error {
		_, isCommand := known[key.Value]
		// Some words are both, such as baseline: with a value they are the flag.
		isFlag := slices.Contains(known.all(), key.Value) && value.Type() != ast.MappingType && value.Type() != ast.NullType
		if !isCommand || isFlag {
			s, err := setting(key, value, slices.Concat(known.all(), commands), known.all(), "")
			c.Common = append(c.Common, s)
			return err
		}
		return eachKey(value, func(below *token.Token, value ast.Node) error {
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

// syntax words an error of the YAML library, with its place. A tab is the most common fault, and the library calls it
// a character that cannot start a token.
func syntax(err error) error {
	var fault *yaml.SyntaxError
	if !errors.As(err, &fault) {
		return fmt.Errorf("1:1: this is not YAML (%w)", err)
	}
	text := "this is not YAML (" + fault.Message + ")"
	if strings.Contains(fault.Message, "'\t'") {
		text = "a tab, where YAML indents with spaces alone"
	}
	return atToken(fault.Token, errors.New(text))
}

// eachKey calls do for each key of a mapping, none of which may stand there twice.
func eachKey(n ast.Node, do func(key *token.Token, value ast.Node) error) error {
	if n.Type() == ast.NullType {
		return nil
	}
	mapping, ok := n.(*ast.MappingNode)
	if !ok {
		return at(n, errors.New("want keys with values, such as `fail-on: confirmed`"))
	}
	seen := map[string]bool{}
	for _, pair := range mapping.Values {
		key := pair.Key.GetToken()
		switch _, isScalar := pair.Key.(ast.ScalarNode); {
		case !isScalar:
			return at(pair.Key, errors.New("want the name of a flag or a command"))
		case seen[key.Value]:
			return atToken(key, fmt.Errorf("%q stands there twice", key.Value))
		}
		seen[key.Value] = true
		if err := do(key, pair.Value); err != nil {
			return err
		}
	}
	return nil
}

// setting reads a flag: known are the flags, words are other keys that may have been meant.
func setting(key *token.Token, value ast.Node, words, known []string, of string) (Setting, error) {
	s := Setting{Flag: key.Value, Line: key.Position.Line, Column: key.Position.Column}
	if !slices.Contains(known, key.Value) {
		hint := suggest.Hint(key.Value, words)
		if hint == "" {
			all := slices.Clone(words)
			slices.Sort(all)
			hint = "; known are " + strings.Join(slices.Compact(all), ", ")
		}
		return s, atToken(key, fmt.Errorf("unknown key %q%s%s", key.Value, of, hint))
	}
	items := []ast.Node{value}
	if list, isList := value.(*ast.SequenceNode); isList {
		items = list.Values
	}
	for _, item := range items {
		text, ok := scalar(item)
		if !ok {
			return s, at(item, fmt.Errorf("%s: want one value, or a list of values", key.Value))
		}
		s.Values = append(s.Values, text)
	}
	return s, nil
}

// scalar returns the text of a scalar as it stands in the file, so that 0.10 stays 0.10; false for any other value.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.LiteralNode: // a text of several lines
		return n.Value.Value, true
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// at returns an error behind the place of a node. The token of a mapping is the colon behind its first key.
func at(n ast.Node, err error) error {
	if m, isMapping := n.(*ast.MappingNode); isMapping && len(m.Values) > 0 && !m.IsFlowStyle {
		n = m.Values[0].Key
	}
	return atToken(n.GetToken(), err)
}

func atToken(t *token.Token, err error) error {
	return fmt.Errorf("%d:%d: %w", t.Position.Line, t.Position.Column, err)
}

// For returns the settings for a command, those for all commands first, as far as it has the flags.
func (c *Config) For(command string, has []string) (all []Setting) {
	for _, s := range c.Common {
		if slices.Contains(has, s.Flag) {
			all = append(all, s)
		}
	}
	return append(all, c.Commands[command]...)
}
