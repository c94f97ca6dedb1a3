package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

var versionCommand = command{
	name: "version", short: "print the version of interlock",
	long: "Version prints the version of interlock, the revision that it was built from if that is known,\n" +
		"and the Go version that built it.",
	options: func() runner { return flagless(runVersion) },
}

func runVersion(c *call) int {
	fmt.Fprintf(c.stdout, "interlock %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitClean
}

// version returns the version that the go command has stamped into this program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return versionOf(info)
}

// versionOf returns the module's version where the binary has one (go install ...@v1.2.3, or a build in a checkout),
// else 0.0.0-devel, with the revision where it is known.
func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	v := "0.0.0-devel"
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v += "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return v
}
