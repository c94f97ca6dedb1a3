package production

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// injected holds the files that become part of a program.
//
//go:embed inject/*.go agent/*.go operands/*.go pages/*.go serve/*.go status/*.go vars/*.go
var injected embed.FS

// constraint keeps files out of builds of this module that only have a meaning in a program.
const constraint = "//go:build interlock_production\n"

// Installation is an installation of Go that builds, as go env describes it.
type Installation struct {
	Root, Version, OS, Arch string
}

// UnsupportedError is an installation that the watch cannot work with.
type UnsupportedError struct {
	Installation
	Why string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("a production build does not work with %s on %s/%s: %s; leave -production out",
		e.Version, e.OS, e.Arch, e.Why)
}

// versions are the releases of Go that the watch was tried with.
var versions = []string{"go1.26"}

// Program is what is built: the main module, in whose folder the agent appears to lie, and the folders of its programs.
type Program struct {
	Module, Dir string // path and folder
	Mains       []Main
	Uncounted   []string // packages with releases that no clock counts
	Switches
}

// Main is a package main.
type Main struct {
	Dir    string
	Expvar bool // whether the program links package expvar
}

// parts are our folders that become packages of a program, and those that do with pages.
var parts, pageParts = []string{"agent", "operands", "status"}, []string{"pages", "serve", "vars"}

// folder is where the agent appears in the main module.
const folder = "zinterlock"

// Prepare writes into dir the files that an overlay is to put in the place of others, or beside these, and returns them
// by their places. An installation that the watch cannot work with is an *[UnsupportedError].
func Prepare(in Installation, p Program, dir string) (overlay map[string]string, err error) {
	if why := in.unsupported(); why != "" {
		return nil, &UnsupportedError{in, why}
	}
	texts, err := in.texts()
	if err != nil {
		return nil, err
	}
	texts["runtime/zinterlock_number.go"] = fmt.Appendf(nil, "package runtime\n\n"+
		"// ilkSignal is the number of the signal that switches the watch; 0 is none.\nconst ilkSignal = %d\n",
		p.Signal.Number)
	ours, err := p.texts()
	if err != nil {
		return nil, err
	}
	overlay = map[string]string{}
	// Files of the installation, then those of the program.
	for below, files := range map[string]map[string][]byte{filepath.Join(in.Root, "src"): texts, p.Dir: ours} {
		for name, text := range files {
			at := filepath.Join(below, filepath.FromSlash(name))
			if filepath.IsAbs(name) {
				at = name
			}
			overlay[at] = filepath.Join(dir, fmt.Sprintf("%03d_%s", len(overlay), filepath.Base(name)))
			if err := os.WriteFile(overlay[at], text, 0o644); err != nil {
				return nil, fmt.Errorf("writing the watch: %w", err)
			}
		}
	}
	// The decoder is the one that the go command has for itself.
	for _, name := range []string{"decode.go", "inst.go", "tables.go"} {
		from := filepath.Join(in.Root, "src", "cmd", "vendor", "golang.org", "x", "arch", "x86", "x86asm", name)
		if _, err := os.Stat(from); err != nil {
			return nil, &UnsupportedError{in, "it has no decoder of machine code: " + err.Error()}
		}
		overlay[filepath.Join(p.Dir, folder, "x86asm", name)] = from
	}
	return overlay, nil
}

// unsupported returns why the watch cannot work with the installation, or "".
func (in *Installation) unsupported() string {
	if in.OS != "linux" || in.Arch != "amd64" {
		return "it needs linux/amd64"
	}
	if slices.ContainsFunc(versions, func(v string) bool {
		return in.Version == v || strings.HasPrefix(in.Version, v+".") || strings.HasPrefix(in.Version, v+"rc")
	}) {
		return ""
	}
	return "it was tried with " + strings.Join(versions, ", ") + " only"
}

// texts returns the files of the installation that differ or are added, by their names below src.
func (in *Installation) texts() (map[string][]byte, error) {
	texts, err := editedTexts(in.Root)
	if err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	if texts["sync/atomic/zinterlock.go"], err = countedFunctions(in.Root); err != nil {
		return nil, &UnsupportedError{*in, err.Error()}
	}
	for _, name := range []string{"sync/atomic/type.go", "sync/atomic/value.go"} {
		text, err := os.ReadFile(filepath.Join(in.Root, "src", filepath.FromSlash(name)))
		if err != nil {
			return nil, &UnsupportedError{*in, err.Error()}
		}
		if text, err = CountAtomics(name, text, true); text == nil || err != nil {
			return nil, &UnsupportedError{*in, name + " has no operation of its own"}
		}
		texts[name] = text
	}
	return texts, in.addInjected(texts)
}

// addInjected adds our files of package runtime.
func (in *Installation) addInjected(texts map[string][]byte) error {
	files, err := filesOf("inject")
	for name, text := range files {
		texts["runtime/zinterlock_"+name] = text
	}
	return err
}

// texts returns the files that are added to the main module: the agent with what it imports, and a file for each
// program.
func (p *Program) texts() (map[string][]byte, error) {
	texts := map[string][]byte{}
	imports := strings.NewReplacer(
		`"golang.org/x/arch/x86/x86asm"`, fmt.Sprintf("%q", p.Module+"/"+folder+"/x86asm"),
		`"github.com/interlock-go/interlock/dynamic/production/`, `"`+p.Module+"/"+folder+"/")
	all := parts
	if p.Agent != "" {
		all = slices.Concat(parts, pageParts)
	}
	// Our files, then those that are of this program.
	for _, name := range all {
		files, err := filesOf(name)
		if err != nil {
			return nil, err
		}
		for file, text := range files {
			texts[folder+"/"+name+"/"+file] = []byte(imports.Replace(string(text)))
		}
	}
	texts[folder+"/agent/program.go"] = fmt.Appendf(nil, "package agent\n\n"+
		"// The main module, its folder at the build, and packages with releases that no clock counts.\n"+
		"var module, root, uncounted = %q, %q, %#v\n\n"+
		"// Whether a signal switches the watch, and whether there are pages.\n"+
		"const signalled, paged = %t, %t\n", p.Module, p.Dir, p.Uncounted, p.Signal.Number != 0, p.Agent != "")
	if p.Agent != "" {
		texts[folder+"/serve/where.go"] = fmt.Appendf(nil, "package serve\n\n"+
			"// Where the pages are: on the mux of the program, or at an address.\nconst where = %q\n", p.Agent)
	}
	for _, main := range p.Mains {
		texts[filepath.Join(main.Dir, "zinterlock_agent.go")] = p.imports(main)
	}
	return texts, nil
}

// imports returns the file of a program that imports what it needs of the watch.
func (p *Program) imports(main Main) []byte {
	text := []byte("package main\n\n")
	names := []string{"agent"}
	if p.Agent != "" {
		names = append(names, "serve")
		if main.Expvar {
			names = append(names, "vars")
		}
	}
	for _, name := range names {
		text = fmt.Appendf(text, "import _ %q\n", p.Module+"/"+folder+"/"+name)
	}
	return text
}

// filesOf returns the files of one of our folders by name, without their constraint and without tests.
func filesOf(dir string) (map[string][]byte, error) {
	entries, err := injected.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), "_test.go") || dir == "inject" && e.Name() == "doc.go" {
			continue
		}
		text, err := injected.ReadFile(dir + "/" + e.Name())
		if err != nil {
			return nil, err
		}
		files[e.Name()] = []byte(strings.TrimPrefix(string(text), constraint))
	}
	return files, nil
}
