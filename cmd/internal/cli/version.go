package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

var versionCommand = command{
	name: "version", short: "print the version of interlock",
	long: "Version prints the version of interlock, the revision that it was built from if that is known,\nand the Go version that built it.",
	run:  runVersion,
}

func runVersion(c *call) int {
	if len(c.packages) > 0 {
		return c.usage("version takes no arguments")
	}
	fmt.Fprintf(c.stdout, "interlock %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitClean
}

// version returns the module's version where the binary has one (go install
// ...@v1.2.3), else 0.0.0-devel, with the revision where it is known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "0.0.0-devel"
	}
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
