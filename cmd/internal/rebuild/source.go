package rebuild

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic/cache"
)

const (
	command = "cmd/interlock" // in the module
	// size is how many bytes of programs built again are kept in all.
	size = 256 << 20
	// patience is how long another process may take to build the same.
	// A process that has waited for longer builds too, which does no harm.
	patience = 10 * time.Minute
)

// source is where the code of this program can be found again.
type source struct {
	binary  string // the program itself
	module  string
	version string // of a module that the go command has installed, else ""
	clone   string // the folder of a clone of the module, or ""
}

// ownSource returns where this program comes from.
func ownSource() (source, error) {
	binary, err := os.Executable()
	if err != nil {
		return source{}, fmt.Errorf("finding this program, to build it again: %w", err)
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return source{}, errors.New("this program does not say what it was built from; build it with modules")
	}
	_, file, _, _ := runtime.Caller(0)
	return find(binary, info.Main, file), nil
}

// find is ownSource for the build information of a program, and the path that this
// file had. A main module with a checksum came from the module cache. The path is
// that of a clone, if -trimpath did not cut it off.
func find(binary string, main debug.Module, file string) source {
	s := source{binary: binary, module: main.Path}
	if main.Sum != "" {
		s.version = main.Version
		return s
	}
	root, ok := strings.CutSuffix(filepath.ToSlash(file), "/cmd/internal/rebuild/source.go")
	if !ok || !filepath.IsAbs(filepath.FromSlash(root)) {
		return s
	}
	root = filepath.FromSlash(root)
	if data, err := os.ReadFile(filepath.Join(root, "go.mod")); err == nil && modfile.ModulePath(data) == main.Path {
		s.clone = root
	}
	return s
}

// advice returns the command that the user can run in place of a build by this program.
func (s source) advice(t toolchain) string {
	install := "GOTOOLCHAIN=" + release(t.version) + " go install "
	switch {
	case s.version != "":
		return "run `" + install + s.module + "/" + command + "@" + s.version + "`"
	case s.clone != "":
		return "in " + s.clone + " run `" + install + "./" + command + "`"
	}
	return "in a clone of its source run `" + install + "./" + command + "`"
}

// program returns the path of this program as the toolchain has built it. It uses
// the program in the cache if that is whole.
func (s source) program(ctx context.Context, t toolchain, stderr io.Writer) (string, error) {
	if s.clone == "" && s.version == "" {
		return "", errors.New("the source that it was built from is not known")
	}
	folder, err := s.folder(t)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(folder, "built")
	sound := func(dir string) bool { return whole(programIn(dir)) && readsCodeOf(programIn(dir), t) }
	if !sound(dir) {
		lock, err := hold(ctx, folder, stderr)
		if err != nil {
			return "", err
		}
		defer lock.Close()
	}
	err = cache.Publish(dir, sound, func(dir string) error {
		fmt.Fprintf(stderr, "interlock: built with %s, older than the go command here; building it again with %s (once)\n",
			release(runtime.Version()), release(t.version))
		if err := s.build(ctx, t, programIn(dir)); err != nil {
			return err
		}
		if !readsCodeOf(programIn(dir), t) {
			return fmt.Errorf("%s has built it with another release", filepath.Join(t.root, "bin", "go"))
		}
		return seal(programIn(dir))
	})
	now := time.Now()
	os.Chtimes(filepath.Join(folder, cache.LockName), now, now) // its last use
	return programIn(dir), err
}

func programIn(dir string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(dir, "interlock.exe")
	}
	return filepath.Join(dir, "interlock")
}

// folder is where the cache keeps this program for all toolchains of one
// language version: another build of it has another.
func (s source) folder(t toolchain) (string, error) {
	user := cache.Dir()
	if user == "" {
		return "", errors.New("there is no cache folder that can be written, to build it again into")
	}
	cache.Evict(filepath.Join(user, "programs"), size)
	own, err := checksum(s.binary)
	if err != nil {
		return "", fmt.Errorf("building it again: %w", err)
	}
	key := sha256.Sum256([]byte(own + " " + version.Lang(release(t.version))))
	return filepath.Join(user, "programs", hex.EncodeToString(key[:12])), nil
}

// hold makes the folder and takes its lock, or waits for the process that builds
// there. One that takes too long is not waited for: the lock saves work, and
// nothing depends on it.
func hold(ctx context.Context, folder string, stderr io.Writer) (io.Closer, error) {
	if err := cache.MakeDir(folder); err != nil {
		return nil, fmt.Errorf("building it again: %w", err)
	}
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := cache.Lock(patient, filepath.Join(folder, cache.LockName), func() {
		fmt.Fprintln(stderr, "interlock: older than the go command here; waiting for another one that builds it")
	})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return io.NopCloser(nil), nil
	}
	return lock, nil
}

// build has the toolchain build the program from its source.
func (s source) build(ctx context.Context, t toolchain, program string) error {
	cmd := t.goCommand(ctx, "build", "-o", program, "./"+command)
	cmd.Dir = s.clone
	if s.clone == "" {
		cmd = t.goCommand(ctx, "install", s.module+"/"+command+"@"+s.version)
		cmd.Dir = filepath.Dir(program)
		cmd.Env = append(cmd.Env, "GOBIN="+filepath.Dir(program))
	}
	cmd.Env = append(cmd.Env, "PWD="+cmd.Dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building it again: %w:\n%s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

// seal leaves the program's checksum beside it.
func seal(program string) error {
	sum, err := checksum(program)
	if err == nil {
		err = os.WriteFile(program+".sha256", []byte(sum), 0o644)
	}
	if err != nil {
		return fmt.Errorf("building it again: %w", err)
	}
	return nil
}

// whole reports whether the program has the checksum of its seal, and may be run.
func whole(program string) bool {
	want, err := os.ReadFile(program + ".sha256")
	got, e := checksum(program)
	return err == nil && e == nil && string(want) == got && os.Chmod(program, 0o755) == nil
}

func checksum(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}
