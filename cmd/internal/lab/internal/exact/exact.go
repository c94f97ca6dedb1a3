// Package exact builds programs under the happens-before engine for the tools of the lab.
package exact

import (
	"context"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// Flags prepares the engine in dir for the go command at hand, and returns the flags of a build under it, in which
// the files that more names by the originals' paths take their places.
func Flags(ctx context.Context, dir string, more map[string]string) ([]string, error) {
	var in hb.Installation
	for name, to := range map[string]*string{
		"GOROOT": &in.Root, "GOVERSION": &in.Version, "GOOS": &in.OS, "GOARCH": &in.Arch,
	} {
		value, err := command.GoEnv(ctx, name)
		if err != nil {
			return nil, err
		}
		*to = value
	}
	replaced, err := hb.Prepare(in, dir)
	if err != nil {
		return nil, err
	}
	maps.Copy(replaced, more)
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return append(hb.Flags(nil, "-s -w"), "-overlay="+overlay), os.WriteFile(overlay, text, 0o644)
}

// CountLoops writes into dir the Go files of a folder with their loops counted, see hb.CountLoops, and returns them by
// the originals' paths.
func CountLoops(folder, dir string) (map[string]string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	counted := map[string]string{}
	next := uint32(0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, file, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("counting loops: %w", err)
		}
		if text, next = hb.CountLoops(fset, f, text, next); text == nil {
			continue
		}
		counted[file] = filepath.Join(dir, filepath.Base(file))
		if err := os.WriteFile(counted[file], text, 0o644); err != nil {
			return nil, err
		}
	}
	return counted, nil
}
