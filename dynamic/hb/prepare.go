package hb

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// inject holds the files that are added to package runtime.
//
//go:embed inject/*.go
var inject embed.FS

// constraint keeps the files of inject out of builds of this module.
const constraint = "//go:build interlock_hb\n"

// Installation is an installation of Go that builds, as go env describes it.
type Installation struct {
	Root, Version, OS, Arch string
}

// UnsupportedError is an installation that the engine cannot work with.
type UnsupportedError struct {
	Installation
	Why string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("the happens-before engine does not work with %s on %s/%s: %s; use -engine=watch",
		e.Version, e.OS, e.Arch, e.Why)
}

// versions are the releases of Go that the engine was tried with.
var versions = []string{"go1.25", "go1.26", "go1.27"}

// Flags returns the flags that a build under the engine needs beside the overlay, with the user's build tags
// and linker flags. The linker needs -race for one thing: with the race tag the runtime keeps twice
// the room on a stack for functions that cannot grow it. It notes that it finds no runtime/race.
func Flags(tags []string, linker string) []string {
	return []string{
		"-gcflags=all=-race -d=checkptr=0",
		"-tags=" + strings.Join(append(tags[:len(tags):len(tags)], "race"), ","),
		"-ldflags=" + strings.TrimSpace(linker+" -race"),
	}
}

// Prepare writes into dir the files that an overlay is to put in the place of files of the installation, and
// returns them by the files that they replace. An installation that the engine cannot work with is an
// *[UnsupportedError].
func Prepare(in Installation, dir string) (overlay map[string]string, err error) {
	if why := in.unsupported(); why != "" {
		return nil, &UnsupportedError{in, why}
	}
	texts, err := in.texts()
	if err != nil {
		return nil, err
	}
	overlay = map[string]string{}
	for name, text := range texts {
		replaces := filepath.Join(in.Root, "src", "runtime", name)
		if overlay[replaces] = ""; text == nil {
			continue // the file is left out of the build
		}
		overlay[replaces] = filepath.Join(dir, name)
		if err := os.WriteFile(overlay[replaces], text, 0o644); err != nil {
			return nil, fmt.Errorf("writing the engine: %w", err)
		}
	}
	return overlay, nil
}

// unsupported returns why the engine cannot work with the installation, or "".
func (in *Installation) unsupported() string {
	if in.OS != "linux" || in.Arch != "amd64" {
		return "it needs linux/amd64"
	}
	for _, v := range versions {
		if in.Version == v || strings.HasPrefix(in.Version, v+".") || strings.HasPrefix(in.Version, v+"rc") {
			return ""
		}
	}
	return "it was tried with " + strings.Join(versions, ", ") + " only"
}

// texts returns the files of package runtime that differ, by name; nil is for one that is left out.
func (in *Installation) texts() (map[string][]byte, error) {
	ours, err := injected()
	if err != nil {
		return nil, err
	}
	src, err := readSources(in.Root)
	if err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	texts := map[string][]byte{"race_amd64.s": nil}
	if texts["race.go"], err = src.race(ours); err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	if texts["zinterlock_atomic.go"], err = src.atomics(); err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	if texts["chan.go"], err = src.chans(); err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	if texts["sema.go"], err = src.semaphores(); err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	for name, text := range ours {
		texts["zinterlock_"+name] = text
	}
	return texts, nil
}

// injected returns the files of inject by name, as they are put into package runtime.
func injected() (map[string][]byte, error) {
	entries, err := inject.ReadDir("inject")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if e.Name() == "doc.go" {
			continue // it has no constraint, so that the folder is a package to go vet
		}
		text, err := inject.ReadFile("inject/" + e.Name())
		if err != nil {
			return nil, err
		}
		rest, ok := strings.CutPrefix(string(text), constraint)
		if !ok {
			return nil, fmt.Errorf("inject/%s does not begin with its build constraint", e.Name())
		}
		files[e.Name()] = []byte(rest)
	}
	return files, nil
}
