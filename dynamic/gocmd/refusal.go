package gocmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// RefuseList returns the error for a request that `go list` has refused in dir, or for a package that it could not
// load, by its message. next is the next step if the message suggests no better one.
func RefuseList(dir, said, next string) *ConfigError {
	text := strings.TrimPrefix(strings.Join(strings.Fields(said), " "), "go: ")
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	// Of a folder without a module around it, the go command says that a pattern leads outside of the module.
	m := outside.FindStringSubmatch(text)
	switch {
	case strings.Contains(text, "go.mod file not found"), strings.Contains(text, "cannot find main module"),
		m != nil && !inModule(dir):
		return Refuse("no go.mod found in "+dir+" or above",
			"run `go mod init <module path>` there, or start Interlock in a module")
	case m != nil:
		return refuseOutside(dir, m[1])
	case strings.Contains(text, "requires go >="):
		next = "install that release, or set GOTOOLCHAIN=auto, with which the go command fetches it"
	case strings.Contains(text, "listed in go.work or their selected dependencies"):
		next = "name folders of modules that go.work uses, add this one with `go work use`, or set GOWORK=off"
	case strings.Contains(text, "go.work"):
		next = "fix go.work, or set GOWORK=off"
	case strings.Contains(text, "go.mod"):
		next = "fix go.mod, so that `go list ./...` works"
	case strings.Contains(text, "no Go files in"):
		next = "name packages that have some: ./... stands for all in this folder and below"
	case strings.Contains(text, "build constraints exclude all Go files"):
		next = "give the tags that include some with -tags, or name other packages"
	case strings.Contains(text, "malformed import path"):
		next = "rename that folder, which the go command takes for no package, or name packages without it"
	case strings.Contains(text, "unsupported GOOS/GOARCH"):
		next = "unset GOOS and GOARCH, or set them to a pair that `go tool dist list` prints"
	case strings.Contains(text, "flag provided but not defined"), strings.Contains(text, "usage:"):
		next = "check the build flags"
	}
	return Refuse(text, next)
}

// outside matches the error of the go command about a folder or a pattern outside of the main module.
var outside = regexp.MustCompile(`directory (?:prefix )?(.+) (?:does not contain|outside) main module or `)

// refuseOutside returns the error for a folder, named from dir, that is not in dir's module.
func refuseOutside(dir, folder string) *ConfigError {
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	next := "name packages of this module, such as ./..."
	if inModule(folder) {
		next += ", or change to the other module with -C " + folder
	}
	return Refuse(folder+" is not in the module of "+dir, next)
}

// inModule reports whether there is a go.mod in the folder or above.
func inModule(folder string) bool {
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return true
		}
		above := filepath.Dir(folder)
		if above == folder {
			return false
		}
		folder = above
	}
}
