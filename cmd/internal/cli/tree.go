package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"
)

// tree is a copy of the user's module in which patches are tried.
type tree struct {
	dir  string // the temporary folder
	root string // of the copy
	from string // of the original
}

// copyTree copies the tree below root, without .git. What go.mod and go.work
// files name by relative paths that lead out of the tree is named absolutely
// in the copy. The caller removes it.
func copyTree(ctx context.Context, root string) (*tree, error) {
	dir, err := os.MkdirTemp("", "interlock-fix-")
	if err != nil {
		return nil, fmt.Errorf("making a temporary folder: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	t := &tree{dir: dir, root: filepath.Join(dir, "module"), from: root}
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		return t.copyEntry(name, filepath.Join(t.root, rel), d)
	})
	if err != nil {
		t.close()
		return nil, fmt.Errorf("copying the module: %w", err)
	}
	return t, nil
}

func (t *tree) close() { os.RemoveAll(t.dir) }

func (t *tree) copyEntry(from, to string, d fs.DirEntry) error {
	switch {
	case d.IsDir() && d.Name() == ".git":
		return fs.SkipDir
	case d.IsDir() && d.Name() == filepath.Base(t.dir):
		return fs.SkipDir // the copy itself, where the temporary folder is in the module
	case d.IsDir():
		return os.Mkdir(to, 0o777)
	case d.Type() == fs.ModeSymlink:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(target) && !t.inside(from, target) {
			target = filepath.Join(filepath.Dir(from), target)
		}
		return os.Symlink(target, to)
	case !d.Type().IsRegular():
		return nil // a socket or the like is no source
	case d.Name() == "go.mod" || d.Name() == "go.work":
		return t.copyModFile(from, to)
	}
	return copyFile(from, to)
}

// inside reports whether the path, relative to the folder of file, stays
// within the original tree.
func (t *tree) inside(file, path string) bool {
	rel, err := filepath.Rel(t.from, filepath.Join(filepath.Dir(file), path))
	return err == nil && filepath.IsLocal(rel)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// copyModFile copies a go.mod or go.work, with paths that lead out of the
// tree made absolute. One that cannot be parsed is copied as it is: it may be
// somebody's test data.
func (t *tree) copyModFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	absolute := func(path string) (string, bool) {
		if filepath.IsAbs(path) || t.inside(from, path) {
			return path, false
		}
		return filepath.Join(filepath.Dir(from), path), true
	}
	if filepath.Base(from) == "go.mod" {
		data = rebaseMod(data, absolute)
	} else {
		data = rebaseWork(data, absolute)
	}
	return os.WriteFile(to, data, 0o666)
}

func rebaseMod(data []byte, absolute func(string) (string, bool)) []byte {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return data
	}
	changed := false
	for _, r := range f.Replace {
		if path, out := absolute(r.New.Path); r.New.Version == "" && out {
			changed = f.AddReplace(r.Old.Path, r.Old.Version, path, "") == nil || changed
		}
	}
	if !changed {
		return data
	}
	return modfile.Format(f.Syntax)
}

func rebaseWork(data []byte, absolute func(string) (string, bool)) []byte {
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return data
	}
	changed := false
	for _, r := range f.Replace {
		if path, out := absolute(r.New.Path); r.New.Version == "" && out {
			changed = f.AddReplace(r.Old.Path, r.Old.Version, path, "") == nil || changed
		}
	}
	for _, u := range append([]*modfile.Use{}, f.Use...) {
		if path, out := absolute(u.Path); out {
			changed = f.DropUse(u.Path) == nil && f.AddUse(path, "") == nil || changed
		}
	}
	if !changed {
		return data
	}
	return modfile.Format(f.Syntax)
}

// write puts the files, by slash path, into the copy.
func (t *tree) write(files map[string][]byte) error {
	for name, data := range files {
		if err := os.WriteFile(t.path(name), data, 0o666); err != nil {
			return fmt.Errorf("patching the copy: %w", err)
		}
	}
	return nil
}

// with runs do while the files are in the copy in place of their old contents.
func (t *tree) with(files map[string][]byte, do func() error) (err error) {
	old := map[string][]byte{}
	for name := range files {
		data, err := os.ReadFile(t.path(name))
		if err != nil {
			return fmt.Errorf("patching the copy: %w", err)
		}
		old[name] = data
	}
	if err := t.write(files); err != nil {
		return errors.Join(err, t.write(old))
	}
	defer func() { err = errors.Join(err, t.write(old)) }()
	return do()
}

func (t *tree) path(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// at gives the folder of the copy for one of the original's.
func (t *tree) at(dir string) string {
	rel, err := filepath.Rel(t.from, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return t.root
	}
	return filepath.Join(t.root, rel)
}

// strip takes the copy's path out of a message: the files are the user's.
func (t *tree) strip(s string) string {
	return strings.ReplaceAll(s, t.root+string(filepath.Separator), "")
}
