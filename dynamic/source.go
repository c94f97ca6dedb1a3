// Package dynamic carries the source of the monitor, so that the tool needs
// nothing but itself to put it into a build.
package dynamic

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/interlock-go/interlock/dynamic/tree"
)

const (
	// MonitorPath is the module path of the monitor as instrumented code imports it.
	MonitorPath = "interlock.invalid/rt"
	// MonitorGo is the language version of the monitor's module.
	MonitorGo = "1.21"
)

//go:embed rt/*.go rt/*.s rt/crash/*.go rt/dump/*.go rt/leaks/*.go rt/locks/*.go rt/mapkey/*.go rt/policy/*.go
var source embed.FS

// Monitor returns the files of the monitor's module by their slash paths in it: package rt and
// those below it without tests, which import each other by [MonitorPath], and a go.mod.
func Monitor() map[string][]byte {
	const here = "github.com/interlock-go/interlock/dynamic/rt"
	files := map[string][]byte{"go.mod": []byte("module " + MonitorPath + "\n\ngo " + MonitorGo + "\n")}
	err := fs.WalkDir(source, "rt", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := source.ReadFile(path)
		files[strings.TrimPrefix(path, "rt/")] = bytes.ReplaceAll(data, []byte(`"`+here), []byte(`"`+MonitorPath))
		return err
	})
	if err != nil {
		panic("dynamic: reading what is embedded: " + err.Error())
	}
	return files
}

// WriteMonitor writes the monitor's module to a folder, which it makes.
func WriteMonitor(dir string) error {
	if err := tree.Create(dir, Monitor()); err != nil {
		return fmt.Errorf("writing the monitor: %w", err)
	}
	return nil
}
