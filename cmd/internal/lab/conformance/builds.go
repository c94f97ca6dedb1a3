package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

// builds are all programs built twice, as packages of one module.
type builds struct {
	programs []built
	workdir  string // folder of the module
	table    string // site table
	monitored,
	rewritten int
	workspaces []*build.Workspace
}

// built is a program and its two binaries; a binary that could not be built
// is not there.
type built struct {
	program
	dir                 string // package folder
	plain, instrumented string
	problem             string // why there is no comparison
}

// close removes the folders of the builds.
func (b *builds) close() {
	for _, ws := range b.workspaces {
		ws.Close()
	}
}

func buildAll(ctx context.Context, programs []program, tmp string) (*builds, error) {
	b := &builds{workdir: filepath.Join(tmp, "mod"), table: filepath.Join(tmp, "sites")}
	if err := b.layOut(programs, tmp); err != nil {
		return nil, err
	}
	for _, g := range b.groups() {
		b.goBuild(ctx, g, nil, func(p *built) string { return p.plain })
	}
	for i := range b.programs {
		if p := &b.programs[i]; !exists(p.plain) {
			p.problem = "does not build plain"
		}
	}
	err := b.instrument(ctx)
	return b, err
}

// layOut writes the module: one package a program.
func (b *builds) layOut(programs []program, tmp string) error {
	if err := os.MkdirAll(b.workdir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.workdir, "go.mod"), command.GoMod("conformance"), 0o644); err != nil {
		return err
	}
	for i, prog := range programs {
		name := fmt.Sprintf("p%04d", i)
		p := built{
			program: prog, dir: filepath.Join(b.workdir, name),
			plain: filepath.Join(tmp, "plain", name), instrumented: filepath.Join(tmp, "instrumented", name),
		}
		if err := os.MkdirAll(p.dir, 0o755); err != nil {
			return err
		}
		// A file name with _test or a GOOS in it would not be compiled.
		if err := os.WriteFile(filepath.Join(p.dir, "main.go"), prog.src, 0o644); err != nil {
			return err
		}
		for j, extra := range prog.more {
			if err := os.WriteFile(filepath.Join(p.dir, fmt.Sprintf("more%d.go", j)), extra, 0o644); err != nil {
				return err
			}
		}
		b.programs = append(b.programs, p)
	}
	return nil
}

// groups puts together the programs that one go command can build.
func (b *builds) groups() [][]*built {
	byFlags := map[string][]*built{}
	var keys []string
	for i := range b.programs {
		p := &b.programs[i]
		if p.problem != "" {
			continue
		}
		key := strings.Join(append(slices.Clone(p.Flags), p.Env...), "\x00")
		if byFlags[key] == nil {
			keys = append(keys, key)
		}
		byFlags[key] = append(byFlags[key], p)
	}
	var groups [][]*built
	for _, key := range keys {
		groups = append(groups, byFlags[key])
	}
	return groups
}

// goBuild builds a group; a program that fails leaves no binary. The go command prints
// to standard error.
func (b *builds) goBuild(ctx context.Context, group []*built, env []string, target func(*built) string) {
	args := append([]string{"build", "-o", filepath.Dir(target(group[0])) + string(filepath.Separator)}, group[0].Flags...)
	for _, p := range group {
		args = append(args, "./"+filepath.Base(p.dir))
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = b.workdir, os.Stderr
	cmd.Env = slices.Concat(os.Environ(), group[0].Env, env)
	if err := os.MkdirAll(filepath.Dir(target(group[0])), 0o755); err != nil {
		return
	}
	cmd.Run() // where it fails, a binary is missing
}

// instrument loads the programs that build plain, and builds them again with
// every site monitored.
func (b *builds) instrument(ctx context.Context) error {
	// A program that does not build plain would fail the load of all.
	var patterns []string
	for i := range b.programs {
		if p := &b.programs[i]; p.problem == "" {
			patterns = append(patterns, "./"+filepath.Base(p.dir))
		}
	}
	m, err := build.Load(ctx, build.Options{Dir: b.workdir, Patterns: patterns, Programs: true})
	if err != nil {
		return err
	}
	p, err := atomicsets.Build(m.Path, sites.All(m.Packages), nil, nil)
	if err != nil {
		return err
	}
	ws, err := build.Prepare(ctx, m, p)
	if err != nil {
		return err
	}
	b.workspaces = append(b.workspaces, ws)
	// The counts of the report.
	for i := range p.Sites {
		if p.Sites[i].Decision == "monitor" {
			b.monitored++
		}
	}
	b.rewritten = ws.Rewritten()
	// One site table serves all programs: ids are unique in the plan.
	if err := os.WriteFile(b.table, arm.SiteTable(p, arm.Run{}), 0o644); err != nil {
		return err
	}
	for _, g := range b.groups() {
		b.goBuild(ctx, g, ws.Env(), func(p *built) string { return p.instrumented })
	}
	return ctx.Err()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
