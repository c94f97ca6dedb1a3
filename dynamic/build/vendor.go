package build

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/tree"
)

// vendoredModule is one module of a vendor/modules.txt.
type vendoredModule struct {
	path, version string
	goVersion     string // "" where none is recorded
	explicit      bool
	packages      bool // some of its packages are in the folder
}

// parseModulesTxt reads vendor/modules.txt.
func parseModulesTxt(data []byte) []vendoredModule {
	var mods []vendoredModule
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			if len(mods) > 0 {
				mods[len(mods)-1].annotate(strings.TrimPrefix(line, "## "))
			}
		case strings.HasPrefix(line, "# "):
			if f := strings.Fields(line[2:]); len(f) >= 2 && f[1] != "=>" {
				mods = append(mods, vendoredModule{path: f[0], version: f[1]})
			}
		case line != "" && len(mods) > 0:
			mods[len(mods)-1].packages = true
		}
	}
	return mods
}

func (m *vendoredModule) annotate(text string) {
	for part := range strings.SplitSeq(text, ";") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(part), "go "); ok {
			m.goVersion = v
		}
		m.explicit = m.explicit || strings.TrimSpace(part) == "explicit"
	}
}

// vendoring makes a go.work see the vendor folder that it would ignore without
// a word: each vendored module is replaced with its folder there, and each of
// these folders gets a go.mod by overlay. The replace lines go into work, the
// files that stand in for others into overlay. Main modules get a require line
// for modules that only modules.txt names, as go.mod files below go 1.17 leave them out.
func vendoring(m *mainModules, scratch string, work []byte, overlay map[string]string) ([]byte, error) {
	root := filepath.Join(m.root, "vendor")
	data, err := os.ReadFile(filepath.Join(root, "modules.txt"))
	if err != nil {
		return nil, gocmd.Refuse("dependencies come from a vendor folder without modules.txt: "+err.Error(),
			"run `go mod vendor` again")
	}
	w, err := modfile.ParseWork("go.work", work, nil)
	if err != nil {
		return nil, fmt.Errorf("composing go.work: %w", err)
	}
	mods := parseModulesTxt(data)
	for i, mod := range mods {
		dir := filepath.Join(root, filepath.FromSlash(mod.path))
		text := []byte("module " + mod.path + "\n")
		if mod.goVersion != "" {
			text = append(text, "\ngo "+mod.goVersion+"\n"...)
		}
		stand := filepath.Join(scratch, "vendor", fmt.Sprint(i))
		if err := tree.Create(stand, map[string][]byte{"go.mod": text}); err != nil {
			return nil, err
		}
		if mod.packages {
			overlay[filepath.Join(dir, "go.mod")] = filepath.Join(stand, "go.mod")
		} else {
			dir = stand // nothing of it is needed but that it exists
		}
		// The version makes it win over replace lines of the modules.
		if err := w.AddReplace(mod.path, mod.version, dir, ""); err != nil {
			return nil, fmt.Errorf("composing go.work: %w", err)
		}
	}
	if m.work == nil {
		if err := requireVendored(m.mods[0], mods, scratch, overlay); err != nil {
			return nil, err
		}
	}
	return modfile.Format(w.Syntax), nil
}

// requireVendored overlays the go.mod with one that requires every vendored
// module.
func requireVendored(main mainModule, mods []vendoredModule, scratch string, overlay map[string]string) error {
	required := map[string]bool{}
	for _, r := range main.file.Require {
		required[r.Mod.Path] = true
	}
	path := filepath.Join(main.dir, "go.mod")
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading go.mod: %w", err)
	}
	var more bytes.Buffer
	for _, mod := range mods {
		if !required[mod.path] {
			fmt.Fprintf(&more, "require %s %s // indirect\n", mod.path, mod.version)
		}
	}
	if more.Len() == 0 {
		return nil
	}
	dir := filepath.Join(scratch, "vendor", "main")
	overlay[path] = filepath.Join(dir, "go.mod")
	return tree.Create(dir, map[string][]byte{"go.mod": append(append(data, '\n'), more.Bytes()...)})
}
