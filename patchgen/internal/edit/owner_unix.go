//go:build unix

package edit

import (
	"io/fs"
	"os"
	"syscall"
)

// hasOneName reports whether a file has no other hard links.
func hasOneName(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 1
}

// keepOwner changes the owner and group of f to those of the file that it replaces.
func keepOwner(f *os.File, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return f.Chown(int(st.Uid), int(st.Gid))
}
