//go:build unix && !solaris && !aix

package cache

import (
	"errors"
	"os"
	"syscall"
)

// takeLock locks the file by flock, which the system releases when the process
// ends.
func takeLock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = errHeld
		}
		return nil, err
	}
	return f, nil
}
