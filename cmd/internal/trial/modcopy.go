package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/scratch"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// moduleCopy is a copy of the user's tree in which patches are tried.
type moduleCopy struct {
	root   string // of the copy
	from   string // of the original, as the go command names it
	work   string // the copy's go.work, or ""
	remove func() error
}

// copyModule copies the tree below root, without links. Folders outside of it
// that go.mod files, a vendor/modules.txt, and the go.work at work, "" for none,
// name by relative paths are named absolutely in the copy. The caller removes it.
func copyModule(ctx context.Context, root, work string) (*moduleCopy, error) {
	dir, remove, err := scratch.TempDir(nil)
	if err != nil {
		return nil, err
	}
	c := &moduleCopy{root: filepath.Join(dir, "module"), from: root, remove: remove}
	if work != "" {
		c.work = filepath.Join(c.root, filepath.Base(work))
	}
	err = tree.Copy(ctx, c.root, root, func(path string) bool { return scratch.IsTemp(filepath.Join(root, path)) })
	if err == nil {
		err = c.rebase()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("trying patches in a copy: %w", err), c.close())
	}
	return c, nil
}

func (c *moduleCopy) close() error { return c.remove() }

// rebase keeps the meaning of paths that lead out of the tree. A file such as
// go.mod that does not parse may be test data of the module, and stays as it is.
func (c *moduleCopy) rebase() error {
	return filepath.WalkDir(c.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		path := func(path string) string { return c.absolute(name, path) }
		switch {
		case d.Name() == "go.mod":
			return rewrite(name, func(data []byte) ([]byte, error) { return build.RebaseMod(data, path) })
		case d.Name() == "go.work" || name == c.work:
			return rewrite(name, func(data []byte) ([]byte, error) { return build.RebaseWork(data, path) })
		case strings.HasSuffix(name, filepath.Join("vendor", "modules.txt")):
			path := func(path string) string { return c.absolute(filepath.Dir(name), path) }
			return rewrite(name, func(data []byte) ([]byte, error) { return build.RebaseModulesTxt(data, path), nil })
		}
		return nil
	})
}

// rewrite replaces the file's contents if with returns no error.
func rewrite(name string, with func([]byte) ([]byte, error)) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if data, err = with(data); err != nil {
		return nil
	}
	return os.WriteFile(name, data, 0o666)
}

// absolute returns the path, which stands in the file of the copy: as it is if
// it stays within the tree, and else as the original means it.
func (c *moduleCopy) absolute(file, path string) string {
	if filepath.IsAbs(path) {
		if rel, in := tree.Rel(c.from, path); in {
			return filepath.Join(c.root, rel)
		}
		return path
	}
	rel, err := filepath.Rel(c.root, filepath.Join(filepath.Dir(file), filepath.FromSlash(path)))
	if err != nil || filepath.IsLocal(rel) {
		return path
	}
	return filepath.Join(c.from, rel)
}

// write puts the files, by slash path, into the copy.
func (c *moduleCopy) write(files map[string][]byte) error {
	if err := tree.Write(c.root, files); err != nil {
		return fmt.Errorf("patching the copy: %w", err)
	}
	return nil
}

// with runs do while the files are in the copy in place of their old contents.
func (c *moduleCopy) with(files map[string][]byte, do func() error) (err error) {
	old := map[string][]byte{}
	for name := range files {
		data, err := os.ReadFile(c.path(name))
		if err != nil {
			return fmt.Errorf("patching the copy: %w", err)
		}
		old[name] = data
	}
	defer func() { err = errors.Join(err, c.write(old)) }()
	if err := c.write(files); err != nil {
		return err
	}
	return do()
}

func (c *moduleCopy) path(name string) string { return filepath.Join(c.root, filepath.FromSlash(name)) }

// at returns the folder of the copy for one of the original's, or the copy's
// root for one outside.
func (c *moduleCopy) at(dir string) string {
	rel, _ := tree.Rel(c.from, dir)
	return filepath.Join(c.root, rel)
}

// strip takes the copy's path out of a message: the files are the user's.
func (c *moduleCopy) strip(s string) string {
	return strings.ReplaceAll(s, c.root+string(filepath.Separator), "")
}
