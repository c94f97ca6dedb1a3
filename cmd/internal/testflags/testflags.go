// Package testflags sorts the flags of go test that stand after -- on the command
// line: the test binaries take a flag, the go command builds with it, or it is
// refused with the next step. No flag is dropped silently.
package testflags

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// goTestFlag is a flag of go test, and its treatment after --.
type goTestFlag struct {
	value bool // it takes one
	fate  fate
	next  string // of a refused one: why, and the next step
}

type fate int

const (
	toBinary fate = iota // the test binaries take it as -test.X
	toBuild              // the go command builds with it, unless package build refuses it
	toCover              // for the run that measures coverage
	toTimeout
	toVet // for the run of go vet on the user's own files
	isRefused
)

const (
	fuzzing = "fuzzing looks for inputs, and writes those that fail into the package: fuzz with go test, and run " +
		"the seeds under the monitor with -run instead"
	profiling = "the profile of a monitored run shows the monitor: profile with go test, and leave it out here"
	listing   = "it runs no test: list with go test, and leave it out here"
	asJSON    = "the tests' output is that of plain go test: use -format jsonl before -- for findings, and go test " +
		"for test events"
	artifacts = "many runs would write the same files: make one with go test, and leave it out here"
)

// Advise returns the advice to add to an error about a flag that the command does
// not know, if go test knows it; otherwise "".
func Advise(command string, err error) string {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if _, known := goTestFlags[name]; !unknown || !known {
		return ""
	}
	return fmt.Sprintf("; flags of go test stand after --: `interlock %s ./... -- -%s`", command, name)
}

// goTestFlags are all that `go help build`, `go help test` and `go help
// testflag` name: none is dropped without a word.
var goTestFlags = map[string]goTestFlag{
	"bench": {value: true}, "benchmem": {}, "benchtime": {value: true}, "count": {value: true}, "cpu": {value: true},
	"failfast": {}, "fullpath": {}, "parallel": {value: true}, "run": {value: true}, "short": {}, "shuffle": {value: true},
	"skip": {value: true}, "v": {},

	"timeout": {value: true, fate: toTimeout},
	"vet":     {value: true, fate: toVet},

	"cover": {fate: toCover}, "covermode": {value: true, fate: toCover}, "coverpkg": {value: true, fate: toCover},
	"coverprofile": {value: true, fate: toCover},

	"fuzz": {true, isRefused, fuzzing}, "fuzztime": {true, isRefused, fuzzing},
	"fuzzminimizetime": {true, isRefused, fuzzing},
	"list":             {true, isRefused, listing}, "json": {false, isRefused, asJSON},
	"artifacts": {false, isRefused, artifacts}, "outputdir": {true, isRefused, artifacts},
	"blockprofile": {true, isRefused, profiling}, "blockprofilerate": {true, isRefused, profiling},
	"cpuprofile": {true, isRefused, profiling}, "memprofile": {true, isRefused, profiling},
	"memprofilerate": {true, isRefused, profiling}, "mutexprofile": {true, isRefused, profiling},
	"mutexprofilefraction": {true, isRefused, profiling}, "trace": {true, isRefused, profiling},

	"a": {fate: toBuild}, "asan": {fate: toBuild}, "asmflags": {value: true, fate: toBuild},
	"buildmode": {value: true, fate: toBuild}, "buildvcs": {fate: toBuild}, "c": {fate: toBuild},
	"C":        {value: true, fate: toBuild},
	"compiler": {value: true, fate: toBuild}, "exec": {value: true, fate: toBuild},
	"gccgoflags": {value: true, fate: toBuild},
	"gcflags":    {value: true, fate: toBuild}, "installsuffix": {value: true, fate: toBuild},
	"ldflags":    {value: true, fate: toBuild},
	"linkshared": {fate: toBuild}, "mod": {value: true, fate: toBuild}, "modcacherw": {fate: toBuild},
	"modfile": {value: true, fate: toBuild}, "msan": {fate: toBuild}, "n": {fate: toBuild},
	"o":       {value: true, fate: toBuild},
	"overlay": {value: true, fate: toBuild}, "p": {value: true, fate: toBuild}, "pgo": {value: true, fate: toBuild},
	"pkgdir": {value: true, fate: toBuild}, "race": {fate: toBuild}, "tags": {value: true, fate: toBuild},
	"toolexec": {value: true, fate: toBuild}, "trimpath": {fate: toBuild}, "work": {fate: toBuild}, "x": {fate: toBuild},
}

// Flags are the go test flags after --, sorted by the program that takes them.
type Flags struct {
	Build   []string      // for the go command
	Binary  []string      // for the test binaries
	Cover   []string      // for a run of its own
	Vet     string        // value of -vet; "" is the default
	Timeout time.Duration // as campaign.Config.Timeout
	Verbose bool
}

// Split sorts the words of GOFLAGS that are for tests, which the go
// command does not pass on to binaries that it only builds, and the go test
// flags after --, as the go command does: unknown flags go to the test binaries,
// and so does everything after -args. The error about a flag that cannot be obeyed
// names the next step.
func Split(goFlags, args []string) (Flags, error) {
	var t Flags
	for _, word := range goFlags {
		name, value, given := cutFlag(word)
		flag, known := goTestFlags[name]
		if !known || flag.fate == toBuild || flag.fate == toCover {
			continue // the go command reads it, or package build refuses it
		}
		if err := t.take(flag, name, value, given); err != nil {
			return t, fmt.Errorf("GOFLAGS holds %s: %w", word, err)
		}
	}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "-args" || word == "--args" {
			t.Binary = append(t.Binary, args...)
			return t, nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			return t, fmt.Errorf("%q after --: packages stand before it, and arguments of the tests after -args", word)
		}
		name, value, given := cutFlag(word)
		flag, known := goTestFlags[name]
		if !known { // a flag of the tests' own, perhaps with a value
			t.Binary = append(t.Binary, word)
			for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
				t.Binary, args = append(t.Binary, args[0]), args[1:]
			}
			continue
		}
		if flag.value && !given {
			if len(args) == 0 {
				return t, fmt.Errorf("flag -%s after -- needs a value", name)
			}
			value, args, given = args[0], args[1:], true
		}
		if err := t.take(flag, name, value, given); err != nil {
			return t, fmt.Errorf("-%s after --: %w", name, err)
		}
	}
	return t, nil
}

// cutFlag takes a flag apart: "run", "X" and true for -test.run=X.
func cutFlag(word string) (name, value string, given bool) {
	name, value, given = strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
	return strings.TrimPrefix(name, "test."), value, given
}

func (t *Flags) take(f goTestFlag, name, value string, given bool) error {
	flag := name
	if given {
		flag += "=" + value
	}
	switch f.fate {
	case isRefused:
		return errors.New(f.next)
	case toVet:
		t.Vet = value
	case toTimeout:
		d, err := time.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%q: want a duration such as 90s", value)
		}
		if t.Timeout = d; d == 0 { // 0 is no limit to go test
			t.Timeout = -1
		}
	case toBinary:
		t.Verbose = t.Verbose || name == "v" && value != "false"
		t.Binary = append(t.Binary, "-test."+flag)
	case toCover:
		t.Cover = append(t.Cover, "-"+flag)
	case toBuild:
		if err := gocmd.CheckFlags([]string{"-" + flag}); err != nil {
			return err
		}
		t.Build = append(t.Build, "-"+flag)
	}
	return nil
}

// GoTest returns the flags for the test binaries, vet and the timeout as go test
// takes them.
func (t *Flags) GoTest() []string {
	var flags []string
	if t.Vet != "" {
		flags = append(flags, "-vet="+t.Vet)
	}
	for _, f := range t.Binary {
		flags = append(flags, strings.Replace(f, "-test.", "-", 1))
	}
	if t.Timeout != 0 {
		flags = append(flags, "-timeout="+max(t.Timeout, 0).String())
	}
	return flags
}
