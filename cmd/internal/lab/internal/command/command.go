// Package command runs programs for the tools of the lab: the go command,
// Interlock, and others with their cost.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// Go runs the go command in dir, outside of any workspace, and returns its output. env is added to this
// process's environment. The error holds the standard error of the go command, and wraps its *exec.ExitError.
func Go(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), env...), "GOWORK=off", "PWD="+dir)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}

// GoEnv returns a variable of `go env`.
func GoEnv(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// OwnCache returns the environment in which Interlock keeps its test binaries,
// some hundred megabytes, below dir instead of in the user's cache, where the
// system has a variable for that. The go command keeps its own cache.
func OwnCache(ctx context.Context, dir string) ([]string, error) {
	cache, err := GoEnv(ctx, "GOCACHE")
	if err != nil {
		return nil, err
	}
	return []string{"GOCACHE=" + cache, "XDG_CACHE_HOME=" + filepath.Join(dir, "cache")}, nil
}

// GoMod returns the go.mod of a generated module, with the language version of
// the Go release that built this program.
func GoMod(module string) []byte {
	version := strings.SplitN(strings.TrimPrefix(runtime.Version(), "go"), ".", 3)
	return fmt.Appendf(nil, "module %s\n\ngo %s\n", module, strings.Join(version[:2], "."))
}

// Interlock returns the absolute path of the interlock binary that a flag names.
func Interlock(file string) (string, error) {
	path, err := exec.LookPath(file)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("finding interlock: %w; `make build` makes it", err)
	}
	return path, nil
}

// Usage is the cost of a process and of the processes that it waited for.
type Usage struct {
	Wall, CPU time.Duration
	Megabytes float64 // of the largest process; 0 where the system does not say
}

// Run runs a command and returns its cost. The error is that of cmd.Run.
func Run(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	err := cmd.Run()
	u := Usage{Wall: time.Since(start)}
	if p := cmd.ProcessState; p != nil {
		u.CPU = p.UserTime() + p.SystemTime()
		u.Megabytes = largest(p)
	}
	return u, err
}

// Parallel calls do for each i below n, so many workers at a time, and returns
// when all calls have. It starts them in order.
func Parallel(workers, n int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(workers, 1) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
