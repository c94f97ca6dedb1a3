//go:build !unix || solaris || aix

package cache

import (
	"errors"
	"io/fs"
	"os"
)

// takeLock makes the file anew, or fails where another process holds it. On
// Windows a file that is open cannot be removed, which distinguishes the two; on
// the few other systems without flock nothing does, and a second process at
// the same time works from a temporary folder of its own.
func takeLock(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errHeld
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		err = errHeld
	}
	return f, err
}
