// Package machinefault recognises failures that are neither the user's nor
// Interlock's fault: a full disk, a folder that cannot be written, too few file
// descriptors. Each has a next step.
package machinefault

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strings"
)

// faults are known by the words of the go command and of the system. Compilers'
// messages end otherwise.
var faults = []struct {
	line *regexp.Regexp
	next string
}{
	{
		regexp.MustCompile(`: (no space left on device|disk quota exceeded|file too large)$`),
		"free some space there, or use a folder on another disk: TMPDIR has temporary files, XDG_CACHE_HOME and GOCACHE " +
			"caches, -o reports",
	},
	{
		regexp.MustCompile(`creating work dir: |making a temporary folder: |locking the temporary folder: `),
		"set TMPDIR, or GOTMPDIR if you use that, to a folder that exists and can be written",
	},
	{
		regexp.MustCompile(`failed to initialize build cache|build cache is required`),
		"set GOCACHE or HOME to a folder that can be written",
	},
	{
		regexp.MustCompile(`could not create module cache|module cache not found|: read-only file system$`),
		"set TMPDIR, GOCACHE and GOMODCACHE to folders that can be written",
	},
	{
		regexp.MustCompile(`: (too many open files|cannot allocate memory|resource temporarily unavailable)$`),
		"raise the limit (ulimit -a shows all), or end other programs",
	},
	{
		regexp.MustCompile(`: address already in use$`),
		"end the program that holds the port, or run the command again",
	},
}

// Find looks for a fault of the machine in the output of a program, and returns it
// in one line with the next step.
func Find(said string) (string, bool) {
	line, next, ok := FindIn(said)
	if !ok {
		return "", false
	}
	return "this is a fault of the machine, not of the code: " + strings.TrimPrefix(line, "go: ") + "; " + next, true
}

// FindIn returns the line of such a fault, and its next step: for programs that may have brought it about themselves.
func FindIn(said string) (fault, next string, ok bool) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, f := range faults {
			// An error that wraps such a line goes on behind it.
			line, _, _ := strings.Cut(line, "; ")
			if f.line.MatchString(line) {
				return line, f.next, true
			}
		}
	}
	return "", "", false
}

// FindOnDisk tries to write to the folders that builds write to, and returns the
// first failure with the next step. Short of space, the go command may only say
// that it cannot find packages, even its own; so call this before blaming code.
func FindOnDisk() (string, bool) {
	cache, _ := os.UserCacheDir()
	for _, dir := range []string{cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir()), cache, os.Getenv("GOCACHE")} {
		if dir == "" {
			continue
		}
		err := tryWriting(dir)
		if errors.Is(err, os.ErrNotExist) && dir == cache {
			continue // it is made when it is needed
		}
		if err == nil {
			continue
		}
		if fault, ok := Find(err.Error()); ok {
			return fault, true
		}
		return "this is a fault of the machine, not of the code: " + err.Error() +
			"; set TMPDIR, GOCACHE and XDG_CACHE_HOME to folders that can be written", true
	}
	return "", false
}

// tryWriting writes as much as a build needs at least, and removes it.
func tryWriting(dir string) error {
	f, err := os.CreateTemp(dir, "interlock-try-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 1<<20))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}
