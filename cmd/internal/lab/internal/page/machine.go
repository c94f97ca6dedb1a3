package page

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// Machine returns platform, number of cores, processor, and the version of the
// go command that builds the measured programs.
func Machine() string {
	cpu := "unknown processor"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				cpu = strings.TrimSpace(value)
				break
			}
		}
	}
	version, err := command.GoEnv(context.Background(), "GOVERSION")
	if err != nil {
		version = runtime.Version()
	}
	return fmt.Sprintf("%s/%s, %d cores, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), cpu, version)
}
