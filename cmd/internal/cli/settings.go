package cli

import (
	"fmt"
	"slices"

	"github.com/interlock-go/interlock/cmd/internal/config"
	"github.com/interlock-go/interlock/cmd/internal/upward"
)

// noConfig is the value of -config by which no file is read.
const noConfig = "off"

// unconfigured are flags that a file cannot set: they are for one call.
var unconfigured = []string{"C", "config", "w", "v", "from", "dir", "only", "confirm", "hold", "seed", "base"}

// knownFlags lists, by command, the flags that a file of settings may have.
func (t table) knownFlags() config.Flags {
	known := config.Flags{}
	for _, c := range t {
		if c.takesPackages() {
			known[c.name] = c.settable()
		}
	}
	return known
}

// settable lists the flags of a command that a file of settings may have.
func (c *command) settable() []string {
	if !c.takesPackages() {
		return nil
	}
	return slices.DeleteFunc(flagNames(newFlagSet(c, new(common), c.options())), func(name string) bool {
		return slices.Contains(unconfigured, name)
	})
}

// readConfig returns the file of settings, or nil if there is none.
func (t table) readConfig(in *common) (*config.Config, error) {
	file, dir := in.config, in.dir
	if dir == "" {
		dir = "."
	}
	if file == "" {
		var err error
		if file, err = upward.Find(dir, config.Name); err != nil {
			return nil, fmt.Errorf("looking for %s: %w", config.Name, err)
		}
	}
	if file == "" || file == noConfig {
		return nil, nil
	}
	c, err := config.Read(file, t.knownFlags())
	if err != nil {
		return nil, err
	}
	return c, t.tryValues(c)
}

// tryValues sets the flags of all commands: a file with a fault is refused by each command, also where the fault
// lies in the settings of another one, which nobody may call for months.
func (t table) tryValues(file *config.Config) error {
	for _, cmd := range t {
		if !cmd.takesPackages() {
			continue
		}
		if _, _, err := parseWith(cmd, nil, file); err != nil {
			return err
		}
	}
	return nil
}

// parse reads the arguments of c, and the flags that the repository's file of settings has for it, which those
// on the command line override.
func (t table) parse(c *command, args []string) (*common, runner, error) {
	in, own, err := parseWith(c, args, nil)
	if err != nil || !c.takesPackages() {
		return in, own, err
	}
	file, err := t.readConfig(in) // which folder that is looked for in, the arguments say
	if err != nil || file == nil {
		return in, own, err
	}
	return parseWith(c, args, file)
}
