package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
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
	flags := t.suiteFlags()
	rest := slices.DeleteFunc(slices.Clone(t.near), func(path string) bool {
		return len(flags) == len(t.flags.GoTest()) && slices.Contains(t.plan.Patterns, path)
	})
	if len(rest) == 0 {
		return nil // all have been run
	}
	t.plan.Progress.Say("trying a patch: running all tests of the package and of those that import it")
	args := slices.Concat([]string{"test", "-json"}, t.plan.BuildFlags, flags, rest)
	// With the patch.
	var failed map[string]int
	err := t.copy.with(files, func() (err error) {
		failed, err = t.failing(args)
		return err
	})
	if err != nil {
		return err
	}
	// What fails without the patch too says nothing of it.
	known, runs := map[string]int{}, 0
	for ; runs < triesOfOriginal && len(failed) > 0; runs++ {
		before, err := t.failing(slices.Insert(slices.Clone(args), 2, "-count=1")) // not what the go command remembers
		if err != nil {
			return err
		}
		for name := range before {
			known[name]++
		}
	}
	// Nor does what fails without it now and then, and with it not much more often.
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		if known[name] == runs || known[name] > 0 && !strings.Contains(name, ofPackage) {
			continue
		}
		unsteady, err := t.isUnsteady(files, name)
		switch {
		case err != nil:
			return err
		case !unsteady && known[name] == 0:
			return fmt.Errorf("%s fails, and did not in %d runs without the patch", name, runs)
		case !unsteady:
			return fmt.Errorf("%s fails more often than without the patch", name)
		}
	}
	t.alsoFail = slices.Sorted(maps.Keys(failed))
	return nil
}

// rounds is how often a test that may be unsteady runs alone, without the patch and with it.
const rounds = 20

// isUnsteady reports whether a test fails in some of its rounds without the patch, and in no more than chance may add
// with it. A package that fails as a whole, or a test whose rounds take longer than go test waits, is not tried.
func (t *trial) isUnsteady(files map[string][]byte, name string) (bool, error) {
	test, pkg, ok := strings.Cut(name, ofPackage)
	if !ok {
		return false, nil
	}
	test, _, _ = strings.Cut(test, "/")
	t.plan.Progress.Say("trying a patch: running " + test + " alone, as it may fail without the patch too")
	args := slices.Concat([]string{"test", "-json"}, t.plan.BuildFlags, t.suiteFlags(),
		[]string{"-run=^" + regexp.QuoteMeta(test) + "$", fmt.Sprintf("-count=%d", rounds), pkg})
	count := func() (n int, err error) {
		out, err := t.run(args...)
		failed := failuresIn(out)
		switch {
		case err != nil && len(failed) == 0:
			return 0, fmt.Errorf("running %s: %w: %s", test, err, out)
		case strings.Contains(out, "panic: test timed out"):
			return -1, nil
		}
		return failed[test+ofPackage+pkg], nil
	}
	// A test that never fails without the patch is steady.
	without, err := count()
	if err != nil || without <= 0 {
		return false, err
	}
	var with int
	err = t.copy.with(files, func() (err error) {
		with, err = count()
		return err
	})
	return with >= 0 && with <= 2*without+1, err
}

// suiteFlags returns the flags of go test that the user has set, apart from -run.
func (t *trial) suiteFlags() []string {
	return slices.DeleteFunc(t.flags.GoTest(), func(f string) bool { return strings.HasPrefix(f, "-run=") })
}

// ofPackage stands between a test and its package.
const ofPackage = " of package "

// failing runs go test and returns what failed, and how often, as "TestX of package p", or "package p" where no test
// of it did: it does not build, or its process ended early.
func (t *trial) failing(args []string) (map[string]int, error) {
	out, err := t.run(args...)
	failed := failuresIn(out)
	if err != nil && len(failed) == 0 {
		return nil, fmt.Errorf("running all tests: %w: %s", err, out)
	}
	return failed, nil
}

// failuresIn reads the events of go test -json.
func failuresIn(out string) map[string]int {
	tests, whole := map[string]int{}, map[string]bool{}
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
		tests[e.Test+ofPackage+e.Package]++
		hasTest["package "+e.Package] = true
	}
	for name := range whole {
		if !hasTest[name] {
			tests[name]++
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
