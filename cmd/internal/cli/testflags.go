package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// testBinaryFlags are the flags of go test that its binaries take as -test.X;
// true for those that take a value.
var testBinaryFlags = map[string]bool{
	"bench": true, "benchmem": false, "benchtime": true, "blockprofile": true, "blockprofilerate": true,
	"count": true, "cpu": true, "cpuprofile": true, "failfast": false, "fullpath": false, "fuzz": true,
	"list": true, "memprofile": true, "memprofilerate": true, "mutexprofile": true, "mutexprofilefraction": true,
	"outputdir": true, "parallel": true, "run": true, "short": false, "shuffle": true, "skip": true,
	"timeout": true, "trace": true, "v": false,
}

// goBuildFlags are the flags that go to the go command; true for those that
// take a value.
var goBuildFlags = map[string]bool{
	"a": false, "asan": false, "asmflags": true, "buildmode": true, "buildvcs": false, "c": false, "C": true,
	"compiler": true, "exec": true,
	"gccgoflags": true, "gcflags": true, "installsuffix": true, "ldflags": true, "linkshared": false, "mod": true,
	"modcacherw": false, "modfile": true, "msan": false, "n": false, "o": true, "overlay": true, "p": true,
	"pgo": true, "pkgdir": true, "race": false, "tags": true, "toolexec": true, "trimpath": false, "work": false,
	"x": false,
}

// coverFlags ask for coverage; true for those that take a value.
var coverFlags = map[string]bool{"cover": false, "covermode": true, "coverpkg": true, "coverprofile": true}

// ignoredTestFlags mean something to go test alone.
var ignoredTestFlags = map[string]bool{"vet": true, "json": false}

// testFlags are the go test flags after --, sorted by who takes them.
type testFlags struct {
	build   []string      // for the go command
	binary  []string      // for the test binaries
	cover   []string      // for a run of its own
	timeout time.Duration // as campaign.Config.Timeout
	verbose bool
}

// splitTestFlags sorts go test flags as the go command does: what it does not
// know goes to the test binaries, and so does everything after -args.
func splitTestFlags(args []string) (testFlags, error) {
	var t testFlags
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if word == "-args" || word == "--args" {
			t.binary = append(t.binary, args...)
			return t, nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			return t, fmt.Errorf("%q after --: packages stand before it, and arguments of the tests after -args", word)
		}
		name, value, given := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-"), "=")
		name = strings.TrimPrefix(name, "test.")
		wants, known := lookupFlag(name)
		if !known { // a flag of the tests' own, perhaps with a value
			t.binary = append(t.binary, word)
			for len(args) > 0 && !strings.HasPrefix(args[0], "-") {
				t.binary, args = append(t.binary, args[0]), args[1:]
			}
			continue
		}
		if wants && !given {
			if len(args) == 0 {
				return t, fmt.Errorf("flag -%s after -- needs a value", name)
			}
			value, args, given = args[0], args[1:], true
		}
		if err := t.take(name, value, given); err != nil {
			return t, err
		}
	}
	return t, nil
}

// lookupFlag reports whether the flag takes a value, and whether go test
// knows it.
func lookupFlag(name string) (wants, known bool) {
	for _, table := range []map[string]bool{testBinaryFlags, goBuildFlags, coverFlags, ignoredTestFlags} {
		if wants, known = table[name]; known {
			return wants, true
		}
	}
	return false, false
}

func (t *testFlags) take(name, value string, given bool) error {
	flag := name
	if given {
		flag += "=" + value
	}
	_, binary := testBinaryFlags[name]
	_, build := goBuildFlags[name]
	_, cover := coverFlags[name]
	switch {
	case name == "timeout":
		d, err := time.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("-timeout %s after --: want a duration such as 90s", value)
		}
		if t.timeout = d; d == 0 { // 0 is no limit to go test
			t.timeout = -1
		}
	case binary:
		t.verbose = t.verbose || name == "v" && value != "false"
		t.binary = append(t.binary, "-test."+flag)
	case cover:
		t.cover = append(t.cover, "-"+flag)
	case build:
		t.build = append(t.build, "-"+flag)
	}
	return nil
}

// goTest gives all of the flags but those for coverage as go test takes them.
func (t *testFlags) goTest() []string {
	flags := slices.Clone(t.build)
	for _, f := range t.binary {
		flags = append(flags, strings.Replace(f, "-test.", "-", 1))
	}
	if t.timeout != 0 {
		flags = append(flags, "-timeout="+max(t.timeout, 0).String())
	}
	return flags
}
