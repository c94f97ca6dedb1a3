package realmodules

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// both are the test binaries of a module, built each way.
type both struct {
	flags     []string          // of the test binaries
	binaries  []build.Binary    // instrumented
	plain     map[string]string // package -> binary, for those with tests
	workspace *build.Workspace
	plan      *plan.Plan
	rewritten int    // files
	table     string // site table

	plainTime, time time.Duration // of the builds, with all dependencies built before
	plainSize, size int64         // bytes of all binaries
}

func buildBoth(ctx context.Context, m module, dir, tmp string) (*both, error) {
	if err := warmCache(ctx, m, dir, tmp); err != nil {
		return nil, err
	}
	b := &both{flags: m.flags, plain: map[string]string{}, table: filepath.Join(tmp, "sites")}
	// The plain build comes first: loading has the go command compile the
	// packages as they are, and the plain build would find that done.
	if err := b.buildPlain(ctx, m, dir, tmp); err != nil {
		return nil, err
	}
	if err := b.instrument(ctx, m, dir); err != nil {
		return nil, err
	}
	if err := os.WriteFile(b.table, arm.SiteTable(b.plan, arm.Run{}), 0o644); err != nil {
		b.workspace.Close()
		return nil, err
	}
	return b, nil
}

// warmCache builds the dependencies, so that the two builds find them built: it
// builds the tests of a second copy, with packages that the go command's cache
// keeps apart from those of the first. (Naming the dependencies to go build would
// have it load more of the module graph than go.mod files are made for.)
func warmCache(ctx context.Context, m module, dir, tmp string) error {
	second := filepath.Join(tmp, "second")
	defer os.RemoveAll(second)
	if err := tree.Copy(ctx, second, dir, nil); err != nil {
		return err
	}
	_, err := command.Go(ctx, second, nil, append([]string{"test", "-c", "-vet=off", "-o", os.DevNull}, m.packages...)...)
	return err
}

// instrument builds the tests with every site monitored that can be: a plan
// with the skips of the static side would test the rewriter less.
func (b *both) instrument(ctx context.Context, m module, dir string) error {
	began := time.Now()
	loaded, err := build.Load(ctx, build.Options{Dir: dir, Patterns: m.packages, Env: append(os.Environ(), "GOWORK=off")})
	if err != nil {
		return err
	}
	if b.plan, err = atomicsets.Build(loaded.Path, sites.All(loaded.Packages), nil, nil); err != nil {
		return err
	}
	if b.workspace, err = build.Prepare(ctx, loaded, b.plan); err != nil {
		return err
	}
	if b.binaries, err = b.workspace.BuildTests(ctx); err != nil {
		b.workspace.Close()
		return err
	}
	b.time, b.rewritten = time.Since(began), b.workspace.Rewritten()
	for _, bin := range b.binaries {
		if bin.Path != "" {
			b.size += fileSize(bin.Path)
		}
	}
	return nil
}

// buildPlain builds the tests with the linker flags of the instrumented ones,
// as `go test` does too.
func (b *both) buildPlain(ctx context.Context, m module, dir, tmp string) error {
	args := append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}"}, m.packages...)
	out, err := command.Go(ctx, dir, nil, args...)
	if err != nil {
		return err
	}
	for i, pkg := range strings.Fields(string(out)) {
		path := filepath.Join(tmp, "plain", fmt.Sprintf("%d.test", i))
		began := time.Now()
		if _, err := command.Go(ctx, dir, nil, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", path, pkg); err != nil {
			return err
		}
		b.plainTime += time.Since(began)
		b.plainSize += fileSize(path)
		b.plain[pkg] = path
	}
	return nil
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
