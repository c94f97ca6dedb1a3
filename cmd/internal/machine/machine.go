// Package machine says on what measurements were made, for the documents that
// keep them.
package machine

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Describe gives platform, number of cores, processor, and the version of the
// go command that builds what is measured.
func Describe() string {
	cpu := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	version := runtime.Version()
	if out, err := exec.Command("go", "env", "GOVERSION").Output(); err == nil {
		version = strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%s/%s, %d cores, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, version)
}
