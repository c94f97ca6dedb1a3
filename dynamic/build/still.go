package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// Still holds the flags and environment by which go commands write nothing into the
// user's tree: with -mod=mod they bring go.mod and go.sum up to date, and in a
// workspace go.work.sum. The zero value changes nothing.
type Still struct {
	Vars  []string // for the environment of the go command
	Flags []string // of GOFLAGS, as the user has it
	Work  string   // the user's go.work, where GOWORK in Vars names a copy of it

	remove func() error
}

// KeepStill finds the flags and environment that the go command needs in dir, with the
// environment env. The caller closes the result.
func KeepStill(ctx context.Context, dir string, env []string) (*Still, error) {
	s, e, err := readOnly(ctx, dir, env)
	if err != nil || e.GOWORK == "" || e.GOWORK == "off" {
		return s, err
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(e.GOWORK), "vendor", "modules.txt")); err == nil {
		return s, nil // the go command looks no sums up then, and finds the folder beside go.work only
	}
	return s, s.copyWork(e.GOWORK)
}

// KeepStillIn is [KeepStill] for a copy of the user's tree: work is the copy's
// go.work, or "" where none was in force in the original.
func KeepStillIn(ctx context.Context, dir, work string, env []string) (*Still, error) {
	s, e, err := readOnly(ctx, dir, env)
	if err != nil {
		return nil, err
	}
	// Otherwise the go command would find the original's, or one that
	// happens to lie around the copy.
	if want := cmp.Or(work, "off"); cmp.Or(e.GOWORK, "off") != want {
		s.Vars = append(s.Vars, "GOWORK="+want)
	}
	return s, nil
}

// readOnly returns the means that keep the go command from writing go.mod and go.sum,
// and its environment in dir.
func readOnly(ctx context.Context, dir string, env []string) (*Still, gocmd.Env, error) {
	e, err := gocmd.Command{Dir: dir, Env: env}.Environment(ctx)
	if err != nil {
		return nil, e, err
	}
	flags, err := gocmd.SplitFlags(e.GOFLAGS)
	if err != nil {
		return nil, e, err
	}
	s := &Still{Flags: flags}
	if slices.ContainsFunc(flags, gocmd.WritesGoMod) {
		// A go.mod that needs no update is read alike with both.
		s.Vars = append(s.Vars, "GOFLAGS="+gocmd.JoinFlags(append(gocmd.WithoutMod(flags), "-mod=readonly")))
	}
	return s, e, nil
}

// copyWork lays out a go.work that stands for the one at path.
func (s *Still) copyWork(path string) error {
	work, err := readWorkspace(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading the workspace: %w", err)
	}
	scratch, err := scratch.New(os.TempDir())
	if err != nil {
		return err
	}
	s.Work, s.remove = path, scratch.Close
	text, err := RebaseWork(data, func(path string) string { return absolute(work.root, path) })
	if err == nil {
		err = os.WriteFile(filepath.Join(scratch.Dir, "go.work"), text, 0o644)
	}
	if err == nil {
		err = copyWorkSum(work, scratch.Dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("copying go.work: %w", err), s.Close())
	}
	s.Vars = append(s.Vars, "GOWORK="+filepath.Join(scratch.Dir, "go.work"))
	return nil
}

// Env returns env with the variables set.
func (s *Still) Env(env []string) []string { return gocmd.Setenv(env, s.Vars...) }

// Close removes the files that were laid out. Closing twice does nothing.
func (s *Still) Close() error {
	if s.remove == nil {
		return nil
	}
	remove := s.remove
	s.remove = nil
	return remove()
}

// RebaseWork returns a go.work with its folders named as rebase says.
func RebaseWork(data []byte, rebase func(path string) string) ([]byte, error) {
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, err
	}
	changed, err := rebaseReplaces(f.Replace, rebase, f.AddReplace)
	for _, u := range slices.Clone(f.Use) {
		if path := rebase(u.Path); path != u.Path {
			changed, err = true, errors.Join(err, f.DropUse(u.Path), f.AddUse(path, ""))
		}
	}
	if err != nil || !changed {
		return data, err
	}
	f.Cleanup()
	return modfile.Format(f.Syntax), nil
}

// RebaseMod returns a go.mod with its folders named as rebase says.
func RebaseMod(data []byte, rebase func(path string) string) ([]byte, error) {
	f, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		return nil, err
	}
	changed, err := rebaseReplaces(f.Replace, rebase, f.AddReplace)
	if err != nil || !changed {
		return data, err
	}
	return modfile.Format(f.Syntax), nil
}

func rebaseReplaces(lines []*modfile.Replace, rebase func(path string) string,
	add func(old, version, path, newVersion string) error) (changed bool, err error) {
	for _, r := range slices.Clone(lines) {
		if r.New.Version != "" {
			continue
		}
		if path := rebase(r.New.Path); path != r.New.Path {
			changed, err = true, errors.Join(err, add(r.Old.Path, r.Old.Version, path, ""))
		}
	}
	return changed, err
}

// RebaseModulesTxt returns a vendor/modules.txt with its folders named as
// rebase says: the go command compares them with those of go.mod.
func RebaseModulesTxt(data []byte, rebase func(path string) string) []byte {
	var out strings.Builder
	for line := range strings.Lines(string(data)) {
		module, path, replaced := strings.Cut(line, " => ")
		if text := strings.TrimRight(path, "\r\n"); replaced && strings.HasPrefix(module, "# ") &&
			modfile.IsDirectoryPath(text) {
			line = module + " => " + rebase(text) + path[len(text):]
		}
		out.WriteString(line)
	}
	return []byte(out.String())
}
