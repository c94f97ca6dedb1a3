package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/config"
	"github.com/interlock-go/interlock/cmd/internal/manual"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

var configCommand = command{
	name: "config", args: "verify|schema", short: "check the file of settings, or print its schema",
	long: "A file " + config.Name + ` in the folder where a command starts, or in one above within the repository, sets
flags for all: each key is the name of a flag, or of a command with flags below it. The command line
overrides the file. Flags that write, such as -w, cannot be set. "interlock init" writes a file to
begin with.`,
	examples: [][2]string{{"interlock config verify", "find faults, with their lines"}},
	options:  func() runner { return flagless(func(c *call) int { return c.needsWord("config") }) },
}

var configVerifyCommand = command{
	name: "config verify", short: "find faults in the file of settings",
	long: "Verify reads " + config.Name + " as every command does, and tries each value. It looks\n" +
		"whether the baseline and the revision are there, and whether the reports can be written.",
	examples: [][2]string{{"interlock config verify", "the file that applies here"}},
	options:  func() runner { return flagless(runConfigVerify) },
}

func runConfigVerify(c *call) int {
	file, err := c.table.readConfig(c.common)
	if err != nil {
		return c.usage("%v", err)
	}
	if file == nil {
		return c.usage("there is no %s here or above: `interlock init` writes one", config.Name)
	}
	for _, cmd := range c.table.first() {
		in, own, err := parseWith(cmd, nil, file)
		if o, ok := own.(interface{ check(*call) error }); err == nil && ok {
			err = o.check(c)
		}
		if o, ok := own.(interface{ probe() error }); err == nil && ok {
			err = o.probe()
		}
		if err != nil {
			return c.usage("%v", in.placed(err))
		}
	}
	fmt.Fprintf(c.stdout, "%s: no fault\n", file.File)
	return exitClean
}

var configSchemaCommand = command{
	name: "config schema", short: "print the JSON Schema of the file of settings",
	long:     "Schema prints a JSON Schema, by which editors complete and check " + config.Name + ".",
	examples: [][2]string{{"interlock config schema >interlock.schema.json", "for an editor"}},
	options:  func() runner { return flagless(runConfigSchema) },
}

func runConfigSchema(c *call) int {
	// A value is one scalar or a list of them, as the flag may be given several times.
	value := map[string]any{"anyOf": []any{
		map[string]any{"type": []string{"string", "number", "boolean"}},
		map[string]any{"type": "array", "items": map[string]any{"type": []string{"string", "number", "boolean"}}},
	}}
	all, commands := map[string]any{}, map[string]any{}
	for command, names := range c.table.knownFlags() {
		below := map[string]any{}
		for _, name := range names {
			below[name], all[name] = value, value
		}
		commands[command] = map[string]any{"type": []string{"object", "null"}, "additionalProperties": false,
			"properties": below}
	}
	for name, schema := range commands {
		if all[name] != nil { // a flag has the name as well
			schema = map[string]any{"anyOf": []any{value, schema}}
		}
		all[name] = schema
	}
	enc := json.NewEncoder(c.stdout)
	enc.SetIndent("", "  ")
	err := enc.Encode(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"additionalProperties": false, "properties": all})
	if err != nil {
		return c.unwritten(err)
	}
	return exitClean
}

var initCommand = command{
	name: "init", short: "write a file of settings to begin with",
	long: "Init writes " + config.Name + " into this folder, with every setting as a comment. It does not touch\n" +
		"a file that is there.",
	examples: [][2]string{{"interlock init", "in the root of the repository"}},
	options:  func() runner { return flagless(runInit) },
}

// samples are values for flags with a default that is empty, or that a file cannot have.
var samples = map[string]string{
	"agent": "mux", "baseline": ".interlock-baseline.json", "budget": "200", "code": "[IL1001, IL2001]",
	"deps":    "[golang.org/x/sync]",
	"depth":   strconv.Itoa(arm.DefaultFunctions),
	"fail-on": "confirmed", "format": "text", "hb-memory": "4096", "new-from-rev": "origin/main",
	"record": "campaign.db", "stop-when": "0.1",
	"o": "[sarif:interlock.sarif, html:interlock.html]", "oracle": "make check", "prob": "1000", "runs": "10",
	"sample": "burst", "sarif-root": ".", "signal": "SIGUSR2", "strength": "100", "tags": "integration", "verify": "full",
}

func runInit(c *call) int {
	f, err := os.OpenFile(config.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return c.usage("%s is there already", config.Name)
	}
	if err == nil {
		_, err = f.WriteString(manual.Settings(manualsOf(c.table), samples))
		err = errors.Join(err, f.Close())
		if err != nil { // half a file would pass for one that is there
			os.Remove(config.Name)
		}
	}
	if err != nil {
		return c.unwritten(err)
	}
	fmt.Fprintf(c.stdout, "wrote %s\n", config.Name)
	return exitClean
}

var completionCommand = command{
	name: "completion", args: "bash|zsh|fish", short: "print a script by which a shell completes commands and flags",
	long: "Completion prints a script for the shell. It knows the commands and their flags; packages and files\n" +
		"are completed as the shell does it.",
	examples: [][2]string{
		{`eval "$(interlock completion bash)"`, "in ~/.bashrc; zsh has the same"},
		{"interlock completion fish | source", "in ~/.config/fish/config.fish"},
	},
	options: func() runner { return flagless(runCompletion) },
}

func runCompletion(c *call) int {
	if len(c.packages) != 1 || !slices.Contains(manual.Shells, c.packages[0]) {
		return c.usage("name the shell: %s", strings.Join(manual.Shells, ", "))
	}
	manual.Completion(c.stdout, c.packages[0], manualsOf(c.table))
	return exitClean
}
