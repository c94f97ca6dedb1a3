package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/go/packages"
)

// triesOfOriginal is how often the tests of the original are run, to see whether a test that fails with a patch fails
// without it too, if only now and then.
const triesOfOriginal = 3

// suites rejects a patch with which a test of its packages, or of those in the module that import them, fails, and
// none without it. The user may have asked for one test alone: a patch can break all others.
func (t *trial) suites(files map[string][]byte) error {
	flags := t.suiteFlags()
	rest := slices.DeleteFunc(slices.Clone(t.near), func(path string) bool {
		return len(flags) == len(t.flags.GoTest()) && slices.Contains(t.plan.Patterns, path)
	})
	if len(rest) == 0 {
		return nil // all have been run
	}
	args := slices.Concat([]string{"test", "-json"}, t.plan.BuildFlags, flags, rest)
	limit, err := t.suiteLimit(args)
	if err != nil {
		return err
	}
	t.say("running all tests of the package and of those that import it")
	if limit > 0 {
		args = slices.Insert(args, 1, "-timeout="+limit.String())
	}
	if _, _, err = t.compare(files, args); err != nil && limit > 0 {
		return endedAfter(limit, err)
	}
	return err
}

// suiteLimit returns how long these tests may run with a patch: they may hang. It runs those of the original once, for
// mostMeasured at most, and knows the time from then on. It is 0 where the user has set a timeout.
func (t *trial) suiteLimit(args []string) (time.Duration, error) {
	if t.flags.Timeout != 0 {
		return 0, nil
	}
	key := strings.Join(args, " ")
	if t.suitesTook[key] == 0 {
		t.say("running all tests of the package and of those that import it, without the patch")
		began := time.Now()
		if _, err := t.failing(slices.Insert(slices.Clone(args), 1, "-timeout="+mostMeasured.String())); err != nil {
			return 0, err
		}
		if t.suitesTook == nil {
			t.suitesTook = map[string]time.Duration{}
		}
		t.suitesTook[key] = time.Since(began)
	}
	return max(leastLimit, limitFactor*t.suitesTook[key]).Round(time.Second), nil
}

// compare runs tests with a patch, and the failing ones without it. The error names a test that fails with the patch
// alone, or more often. The tests that fail alike with and without it are returned, with their output.
func (t *trial) compare(files map[string][]byte, args []string) (still []string, printed string, err error) {
	// With the patch.
	var failed failures
	err = t.copy.with(files, func() (err error) {
		failed, err = t.failing(args)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	// A test that fails without the patch too is no evidence against it.
	known, runs := map[string]int{}, 0
	for ; runs < triesOfOriginal && len(failed.tests) > 0; runs++ {
		before, err := t.failing(slices.Insert(slices.Clone(args), 1, "-count=1")) // not from the test cache
		if err != nil {
			return nil, "", err
		}
		for name := range before.tests {
			known[name]++
		}
	}
	// Nor is a test that fails without it now and then, and with it not much more often.
	for _, name := range slices.Sorted(maps.Keys(failed.tests)) {
		if known[name] == runs || known[name] > 0 && !strings.Contains(name, ofPackage) {
			still = append(still, name)
			continue
		}
		unsteady, with, err := t.isUnsteady(files, name)
		switch {
		case err != nil:
			return nil, "", err
		case unsteady && with > 0:
			still = append(still, name)
		case !unsteady && known[name] == 0:
			return nil, "", fmt.Errorf("%s fails, and did not in %d runs without the patch: %s", name, runs,
				failed.text)
		case !unsteady:
			return nil, "", fmt.Errorf("%s fails more often than without the patch: %s", name, failed.text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(failed.tests)) {
		if !slices.Contains(t.alsoFail, name) {
			t.alsoFail = append(t.alsoFail, name)
		}
	}
	return still, failed.text, nil
}

// rounds is how often a test that may be unsteady runs alone, without the patch and with it.
const rounds = 20

// isUnsteady reports whether a test fails in some of its rounds without the patch, and in no more than chance may add
// with it. It returns the number of the latter. A package that fails as a whole is not tried, nor is a test that takes
// longer for its rounds than go test waits.
func (t *trial) isUnsteady(files map[string][]byte, name string) (unsteady bool, with int, err error) {
	test, pkg, ok := strings.Cut(name, ofPackage)
	if !ok {
		return false, 0, nil
	}
	test, _, _ = strings.Cut(test, "/")
	t.say("running " + test + " alone, as it may fail without the patch too")
	args := slices.Concat([]string{"test", "-json"}, t.plan.BuildFlags, t.suiteFlags(),
		[]string{"-run=^" + regexp.QuoteMeta(test) + "$", fmt.Sprintf("-count=%d", rounds), pkg})
	count := func() (n int, err error) {
		out, err := t.run(args...)
		failed := failuresIn(out)
		switch {
		case err != nil && len(failed.tests) == 0:
			return 0, fmt.Errorf("running %s: %w: %s", test, err, out)
		case strings.Contains(out, timedOut):
			return -1, nil
		}
		return failed.tests[test+ofPackage+pkg], nil
	}
	// A test that never fails without the patch is steady.
	without, err := count()
	if err != nil || without <= 0 {
		return false, 0, err
	}
	err = t.copy.with(files, func() (err error) {
		with, err = count()
		return err
	})
	return with >= 0 && with <= 2*without+1, with, err
}

// suiteFlags returns the flags of go test that the user has set, apart from -run.
func (t *trial) suiteFlags() []string {
	return slices.DeleteFunc(t.flags.GoTest(), func(f string) bool { return strings.HasPrefix(f, "-run=") })
}

// ofPackage stands between a test and its package.
const ofPackage = " of package "

// failures counts how often each test failed in a run of go test, as "TestX of package p", or as "package p" if the
// package failed without a test: it does not build, or its process ended early. The text is their output.
type failures struct {
	tests map[string]int
	text  string
}

// failing runs go test and returns the failures.
func (t *trial) failing(args []string) (failures, error) {
	out, err := t.run(args...)
	failed := failuresIn(out)
	if err != nil && len(failed.tests) == 0 {
		return failures{}, fmt.Errorf("running the tests: %w: %s", err, out)
	}
	return failed, nil
}

// failuresIn reads the events of go test -json.
func failuresIn(out string) failures {
	tests, whole := map[string]int{}, map[string]bool{}
	hasTest := map[string]bool{}
	printed := map[string]*strings.Builder{}
	var order []string
	for line := range strings.Lines(out) {
		var e struct{ Action, Package, ImportPath, Test, Output string }
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		key := e.Package + e.ImportPath + " " + e.Test
		switch {
		case strings.HasPrefix(e.Output, "=== "): // === RUN   TestX
		case e.Output != "":
			if printed[key] == nil {
				printed[key] = new(strings.Builder)
				order = append(order, key)
			}
			printed[key].WriteString(e.Output)
		case e.Action == "pass" || e.Action == "skip":
			delete(printed, key) // says nothing of the failure
		case e.Action != "fail":
		case e.Test == "":
			whole["package "+e.Package] = true
		default:
			tests[e.Test+ofPackage+e.Package]++
			hasTest["package "+e.Package] = true
		}
	}
	for name := range whole {
		if !hasTest[name] {
			tests[name]++
		}
	}
	var text strings.Builder
	for _, key := range order {
		if b := printed[key]; b != nil {
			text.WriteString(b.String())
		}
	}
	return failures{tests, strings.TrimSpace(text.String())}
}

// nearby lists the packages with tests that a patch may affect, without those that do not compile. near are the
// packages of the findings, and those that import them.
func nearby(sound []*packages.Package, near map[string]bool) []string {
	paths := map[string]bool{}
	for _, p := range sound {
		if near[p.PkgPath] {
			paths[strings.TrimSuffix(strings.TrimSuffix(p.PkgPath, ".test"), "_test")] = true
		}
	}
	return slices.Sorted(maps.Keys(paths))
}
