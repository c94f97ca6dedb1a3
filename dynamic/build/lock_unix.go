//go:build unix && !solaris && !aix

package build

import (
	"os"
	"syscall"
)

// takeLock opens the file and locks it for this process, or fails at once
// where another process holds it. Closing the file, or the end of the process
// in whatever way, frees it.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
