package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// triesOfOriginal is how often the tests of the original are run to see whether what fails with a patch fails without
// it too, if only now and then.
const triesOfOriginal = 3

// suites rejects a patch with which a test of its packages, or of those in the module that import them, fails, and
// none without it. The user may have asked for one test alone: a patch can break all others.
func (t *trial) suites(files map[string][]byte) error {
	t.alsoFail = nil
	flags := slices.DeleteFunc(t.flags.GoTest(), func(f string) bool { return strings.HasPrefix(f, "-run=") })
	rest := slices.DeleteFunc(slices.Clone(t.near), func(path string) bool {
		return len(flags) == len(t.flags.GoTest()) && slices.Contains(t.plan.Patterns, path)
	})
	if len(rest) == 0 {
		return nil // all have been run
	}
	t.plan.Progress.Say("trying a patch: running all tests of the package and of those that import it")
	args := slices.Concat([]string{"test", "-json"}, t.plan.BuildFlags, flags, rest)
	// With the patch.
	var failed map[string]bool
	err := t.copy.with(files, func() (err error) {
		failed, err = t.failing(args)
		return err
	})
	if err != nil {
		return err
	}
	// What fails without the patch too says nothing of it.
	known := map[string]bool{}
	for range triesOfOriginal {
		if news(failed, known) == "" {
			break
		}
		before, err := t.failing(slices.Insert(slices.Clone(args), 2, "-count=1")) // not what the go command remembers
		if err != nil {
			return err
		}
		maps.Copy(known, before)
	}
	if name := news(failed, known); name != "" {
		return fmt.Errorf("%s fails, and did not in %d runs without the patch", name, triesOfOriginal)
	}
	t.alsoFail = slices.Sorted(maps.Keys(failed))
	return nil
}

// news returns the first test that has failed and is not known to, "" for none.
func news(failed, known map[string]bool) string {
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if !known[name] {
			return name
		}
	}
	return ""
}

// failing runs go test and returns what failed, as "TestX of package p", or "package p" where no test of it did: it
// does not build, or its process ended early.
func (t *trial) failing(args []string) (map[string]bool, error) {
	out, err := t.run(args...)
	failed := failuresIn(out)
	if err != nil && len(failed) == 0 {
		return nil, fmt.Errorf("running all tests: %w: %s", err, out)
	}
	return failed, nil
}

// failuresIn reads the events of go test -json.
func failuresIn(out string) map[string]bool {
	tests, whole := map[string]bool{}, map[string]bool{}
	hasTest := map[string]bool{}
	for line := range strings.Lines(out) {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal([]byte(line), &e) != nil || e.Action != "fail" {
			continue
		}
		if e.Test == "" {
			whole["package "+e.Package] = true
			continue
		}
		tests[e.Test+" of package "+e.Package] = true
		hasTest["package "+e.Package] = true
	}
	for name := range whole {
		if !hasTest[name] {
			tests[name] = true
		}
	}
	return tests
}

// nearby lists the packages whose tests a patch may change, those that do not compile left out: near are those that the
// findings are about, and those that import them.
func nearby(sound []*packages.Package, near map[string]bool) []string {
	paths := map[string]bool{}
	for _, p := range sound {
		if near[p.PkgPath] {
			paths[strings.TrimSuffix(strings.TrimSuffix(p.PkgPath, ".test"), "_test")] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}
