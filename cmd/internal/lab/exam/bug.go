package exam

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// bug is a concurrency bug of a released module, at the parent of the commit that fixed it. A file of cases or known is
// a txtar archive: the comment is the bug as JSON, the files are added to the module.
type bug struct {
	Repository string   `json:"repository"`       // owner/name on GitHub
	Fix        string   `json:"fix"`              // the commit
	At         string   `json:"at,omitempty"`     // the commit or tag, if not the fix's parent
	Folder     string   `json:"folder,omitempty"` // of the module in the repository; "" for the root
	Kind       string   `json:"kind"`
	Packages   string   `json:"packages"` // of the driver
	Run        string   `json:"run"`      // the driver's tests, as -run has them
	Driver     string   `json:"driver"`   // "ours", in the archive, or "upstream": the test files that the fix changes
	Why        string   `json:"why"`
	Without    []string `json:"without,omitempty"` // files and folders that keep the tests from building

	name  string
	files []txtar.File
}

//go:embed cases known
var cases embed.FS

// readBugs returns the bugs of a folder, cases or known, with the names, or all.
func readBugs(folder string, names []string) (list []*bug, err error) {
	entries, err := cases.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".txtar")
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		data, err := fs.ReadFile(cases, folder+"/"+e.Name())
		if err != nil {
			return nil, err
		}
		archive := txtar.Parse(data)
		b := &bug{name: name, files: archive.Files}
		decoder := json.NewDecoder(bytes.NewReader(archive.Comment))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(b); err != nil {
			return nil, fmt.Errorf("%s/%s: %w", folder, e.Name(), err)
		}
		list = append(list, b)
	}
	for _, name := range names {
		if !slices.ContainsFunc(list, func(b *bug) bool { return b.name == name }) {
			return nil, fmt.Errorf("no case %q: the folder %s has a file for each", name, folder)
		}
	}
	return list, nil
}

// mirror is the folder with bare copies of the repositories: owner+name, or owner+name/repo, as git clone --bare makes
// them, or owner+name/repo/.git.
type mirror string

// of returns the git folder of a repository.
func (m mirror) of(repository string) (string, error) {
	at := filepath.Join(string(m), strings.ReplaceAll(repository, "/", "+"))
	for _, dir := range []string{at, filepath.Join(at, "repo"), filepath.Join(at, "repo", ".git")} {
		if _, err := os.Stat(filepath.Join(dir, "HEAD")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no repository in %s: make it with git clone --bare https://github.com/%s %[1]s", at, repository)
}

// write makes the module with the bug and its driver, and returns its folder below dir.
func (b *bug) write(ctx context.Context, m mirror, dir string) (module string, err error) {
	repo, err := m.of(b.Repository)
	if err != nil {
		return "", err
	}
	// The commit with the bug, and the fix's own tests over it.
	if err := extract(ctx, repo, cmp.Or(b.At, b.Fix+"^"), dir, nil); err != nil {
		return "", err
	}
	if b.Driver == "upstream" {
		changed, err := git(ctx, repo, "diff", "--name-only", "--diff-filter=d", b.Fix+"^", b.Fix, "--", "*_test.go")
		if err != nil {
			return "", err
		}
		if err := extract(ctx, repo, b.Fix, dir, strings.Fields(string(changed))); err != nil {
			return "", err
		}
	}
	// Leave out and add files.
	module = filepath.Join(dir, filepath.FromSlash(b.Folder))
	for _, name := range b.Without {
		if err := os.RemoveAll(filepath.Join(module, filepath.FromSlash(name))); err != nil {
			return "", err
		}
	}
	for _, f := range b.files {
		if err := os.WriteFile(filepath.Join(module, filepath.FromSlash(f.Name)), f.Data, 0o644); err != nil {
			return "", err
		}
	}
	return module, nil
}

// extract writes the files of a commit, or those named, to dir.
func extract(ctx context.Context, repo, commit, dir string, files []string) error {
	archive, err := git(ctx, repo, append([]string{"archive", "--format=tar", commit}, files...)...)
	if err != nil {
		return err
	}
	tar := exec.CommandContext(ctx, "tar", "-x", "-f", "-", "-C", dir)
	tar.Stdin = bytes.NewReader(archive)
	if out, err := tar.CombinedOutput(); err != nil {
		return fmt.Errorf("tar: %w\n%s", err, out)
	}
	return nil
}

func git(ctx context.Context, repo string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", repo}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, &stderr)
	}
	return out, nil
}
