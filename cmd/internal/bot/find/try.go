package find

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/bot"
	"github.com/interlock-go/interlock/cmd/internal/bot/repo"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// TryOptions say which patches are tried together.
type TryOptions struct {
	Only []string // ids of findings; none is those that the request brings in
	Tags string   // of the build
	Note func(string)
}

// Try applies the verified patches of a file together to a copy of its head, and notes in the file whether the module
// builds then and passes go vet and its tests. dir is a folder of the repository.
func Try(ctx context.Context, dir string, file *bot.File, o TryOptions) error {
	r, err := repo.Open(ctx, dir)
	if err != nil {
		return err
	}
	findings, err := chosenOf(ctx, r, file, o.Only)
	if err != nil {
		return err
	}
	joint, err := bot.Join(file, findings, func(name string) (string, error) {
		text, err := r.Text(ctx, file.Head, name)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", bot.ErrNotFound, err)
		}
		return text, err
	})
	if err != nil {
		return err
	}
	file.Tried = &bot.Tried{Patches: joint.Patches()}
	if len(joint.Texts) == 0 {
		return nil
	}
	// The user's tree stays as it is.
	tmp, err := os.MkdirTemp("", "interlock-bot")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	t := &together{TryOptions: o, before: filepath.Join(tmp, "before", filepath.FromSlash(file.Module)),
		after: filepath.Join(tmp, "after", filepath.FromSlash(file.Module))}
	for _, name := range []string{"before", "after"} {
		if err := r.Export(ctx, file.Head, filepath.Join(tmp, name)); err != nil {
			return fmt.Errorf("copying the head: %w", err)
		}
	}
	if err := write(filepath.Join(tmp, "after"), joint.Texts); err != nil {
		return err
	}
	file.Tried.Failed, err = t.failed(ctx)
	return err
}

// chosenOf returns the findings with the ids, or those that the request brings in and that have a verified patch.
func chosenOf(ctx context.Context, r *repo.Repo, file *bot.File, only []string) ([]*finding.Finding, error) {
	if len(only) > 0 {
		return slices.DeleteFunc(slices.Clone(file.Findings), func(f *finding.Finding) bool {
			return f.Fix == nil || !slices.Contains(only, f.ID)
		}), nil
	}
	text, err := r.Diff(ctx, file.Base, file.Head)
	if err != nil {
		return nil, fmt.Errorf("comparing the commits of the file: %w", err)
	}
	d, err := bot.ParseDiff(text)
	return bot.New(file, d), err
}

// write writes texts into files below a folder; no link leads out of it.
func write(dir string, texts map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, text := range texts {
		err = errors.Join(err, root.WriteFile(filepath.FromSlash(name), []byte(text), 0o666))
	}
	return err
}

// together is a module in two copies, without the patches and with all of them.
type together struct {
	TryOptions
	before, after string
}

// checks are the commands that the module has to pass.
var checks = [][]string{{"build", "-o=" + os.DevNull}, {"vet"}, {"test"}}

// failed returns the first check that fails with the patches and not without them; "" if there is none.
func (t *together) failed(ctx context.Context) (string, error) {
	for _, check := range checks {
		t.Note(fmt.Sprintf("trying the patches together: go %s", check[0]))
		failing, err := t.failing(ctx, t.after, check)
		if err != nil {
			return "", err
		}
		if len(failing) == 0 {
			continue
		}
		known, err := t.failing(ctx, t.before, check)
		if err != nil {
			return "", err
		}
		for _, pkg := range failing {
			if !slices.Contains(known, pkg) {
				return fmt.Sprintf("go %s fails in %s", check[0], pkg), nil
			}
		}
	}
	return "", nil
}

// failure is a line about a package that a check fails in.
var failure = regexp.MustCompile(`(?m)^(?:# |FAIL\t)(\S+)`)

// failing returns the packages in which a check fails; the module as a whole if it names none.
func (t *together) failing(ctx context.Context, dir string, check []string) ([]string, error) {
	args := append(slices.Clone(check), "-tags="+t.Tags, "./...")
	out, msg, err := gocmd.Command{Dir: dir, Env: os.Environ()}.Run(ctx, args...)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err == nil {
		return nil, nil
	}
	var all []string
	for _, m := range failure.FindAllStringSubmatch(string(msg)+"\n"+string(out), -1) {
		if !slices.Contains(all, m[1]) {
			all = append(all, m[1])
		}
	}
	if len(all) == 0 {
		all = []string{"the module"}
	}
	slices.Sort(all)
	return all, nil
}
