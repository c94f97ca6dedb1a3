package cli

import (
	"cmp"
	"errors"
	"os"
	"regexp"
	"strings"
)

// environmentFaults tell, by the words of the go command and of the system,
// what is wrong with the machine: neither the user's code nor Interlock is at
// fault then. Compilers' messages end otherwise.
var environmentFaults = []struct {
	line *regexp.Regexp
	next string
}{
	{
		regexp.MustCompile(`: (no space left on device|disk quota exceeded|file too large)$`),
		"free some space there, or set TMPDIR (temporary files), XDG_CACHE_HOME or GOCACHE (caches) to a folder on another disk",
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
}

// environmentFault finds in what was said a fault of the machine, and gives it
// in one line with the next step.
func environmentFault(said string) (string, bool) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, f := range environmentFaults {
			// An error that wraps such a line goes on behind it.
			line, _, _ := strings.Cut(line, "; ")
			if f.line.MatchString(line) {
				return "this is a fault of the machine, not of the code: " + strings.TrimPrefix(line, "go: ") + "; " + f.next, true
			}
		}
	}
	return "", false
}

// diskFault tries the folders that builds write to. Short of space, the go
// command may say no more than that it cannot find packages, its own ones even;
// so nobody's code is blamed before this was tried.
func diskFault() (string, bool) {
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
		if fault, ok := environmentFault(err.Error()); ok {
			return fault, true
		}
		return "this is a fault of the machine, not of the code: " + err.Error() + "; set TMPDIR, GOCACHE and XDG_CACHE_HOME to folders that can be written", true
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
