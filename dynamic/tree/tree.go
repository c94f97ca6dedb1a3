// Package tree writes and copies trees of source files. It is the only place of the
// module that copies them: no link in a copy leads back to the original by accident,
// so that writing to a copy cannot write to the original.
package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Copy copies the tree below from, links to it followed, into the folder to,
// which is made if need be; no file of it may be there already. The copies
// can be written to, whatever the original's permissions.
//
//   - A link to a file in the tree leads to its copy, one that is absolute
//     or leads out and back in too.
//   - A link to a file outside becomes that file. Other links out, to folders or
//     to nothing, lead to where they led; [os.Root] does not write through them.
//   - Left out are the folders of version control, which belong to the original,
//     the folder to, if it lies below from, and the paths that skip, which may be
//     nil, reports: they are slash paths relative to from. Sockets, pipes and
//     devices are no source.
//
// The error is that of ctx, if it has ended, or names the file.
func Copy(ctx context.Context, to, from string, skip func(path string) bool) error {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	root, err := filepath.EvalSymlinks(from)
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	target, err := os.Stat(to)
	if err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	s := &source{FS: os.DirFS(root), ctx: ctx, root: root, target: target, skip: skip}
	if err := os.CopyFS(to, s); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return nil
}

// source is a tree as its copy is to be. It implements [fs.ReadDirFS] and
// [fs.ReadLinkFS].
type source struct {
	fs.FS
	ctx    context.Context
	root   string // without links
	target fs.FileInfo
	skip   func(path string) bool
}

// versionControl are names of folders that belong to the original alone. The file
// .git of a work tree names a folder that git commands in a copy would write to.
var versionControl = []string{".git", ".hg", ".svn", ".bzr", ".jj"}

// ReadDir leaves out the entries that are not copied, and shows links to files
// outside as these files.
func (s *source) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(s.FS, name)
	kept := entries[:0]
	for _, e := range entries {
		path := filepath.ToSlash(filepath.Join(name, e.Name()))
		switch {
		case slices.Contains(versionControl, e.Name()), s.skip != nil && s.skip(path):
			continue
		case e.IsDir() && s.isTarget(e):
			continue
		case e.Type() == fs.ModeSymlink:
			if info, err := fs.Stat(s.FS, path); err == nil && info.Mode().IsRegular() && !s.holds(path) {
				e = fs.FileInfoToDirEntry(named{info, e.Name()})
			}
		case !e.IsDir() && !e.Type().IsRegular():
			continue
		}
		kept = append(kept, e)
	}
	return kept, err
}

// named is the info of a link's target by the link's name.
type named struct {
	fs.FileInfo
	name string
}

// Name returns the name of the link.
func (n named) Name() string { return n.name }

func (s *source) isTarget(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && os.SameFile(info, s.target)
}

// Lstat describes the file itself.
func (s *source) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(s.FS, name) }

// ReadLink returns the target for the copy of the link at name.
func (s *source) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(s.FS, name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(s.root, filepath.Dir(filepath.FromSlash(name)))
	absolute := target
	if !filepath.IsAbs(target) {
		absolute = filepath.Join(dir, target)
	}
	if in(s.root, absolute) && !filepath.IsAbs(target) {
		return target, nil
	}
	// By another way, or to something that is not there, it may lead in too.
	if real, err := filepath.EvalSymlinks(absolute); err == nil && in(s.root, real) {
		absolute = real
	}
	if in(s.root, absolute) {
		return filepath.Rel(dir, absolute)
	}
	return absolute, nil
}

// holds reports whether the link leads to something in the tree.
func (s *source) holds(link string) bool {
	real, err := filepath.EvalSymlinks(filepath.Join(s.root, filepath.FromSlash(link)))
	return err == nil && in(s.root, real)
}

// in reports whether the path is root or below it, by their names.
func in(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && filepath.IsLocal(rel)
}

// Rel returns the path of a folder relative to root, and whether it lies there.
// It compares folders, not names: it does not matter by which links, mounts or
// spelling, where letter case is none, the two are named.
func Rel(root, dir string) (string, bool) {
	want, err := os.Stat(root)
	if err != nil {
		return "", false
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", false
	}
	for _, at := range []string{filepath.Clean(dir), real} {
		for rel := "."; ; {
			if info, err := os.Stat(at); err == nil && os.SameFile(info, want) {
				return rel, true
			}
			parent := filepath.Dir(at)
			if parent == at {
				break
			}
			rel, at = filepath.Join(filepath.Base(at), rel), parent
		}
	}
	return "", false
}

// Write replaces the contents of files below root, by slash path; links within
// root are followed, one that leads out of it is an error. It stops at the first
// error.
func Write(root string, files map[string][]byte) error {
	r, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	var errs []error
	for name, data := range files {
		errs = append(errs, r.WriteFile(filepath.FromSlash(name), data, 0o666))
	}
	return errors.Join(append(errs, r.Close())...)
}
