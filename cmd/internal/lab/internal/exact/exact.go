// Package exact builds programs under the happens-before engine for the tools of the lab.
package exact

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/dynamic/hb"
)

// Flags prepares the engine in dir for the go command at hand, and returns the flags of a build under it.
func Flags(ctx context.Context, dir string) ([]string, error) {
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
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return append(hb.Flags(nil, "-s -w"), "-overlay="+overlay), os.WriteFile(overlay, text, 0o644)
}
