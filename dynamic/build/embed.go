package build

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/build/internal/store"
)

// Embedded is the reason of sites in files that //go:embed puts into a program.
// The go command embeds the overlay's files, so that the program would find the
// rewritten text there.
const Embedded plan.Reason = "//go:embed puts the file's text into the program"

// embedded returns the Go files that the packages or their tests embed, by
// absolute path.
func embedded(pkgs []*listed) map[string]bool {
	files := map[string]bool{}
	for _, p := range pkgs {
		for _, name := range slices.Concat(p.EmbedFiles, p.TestEmbedFiles, p.XTestEmbedFiles) {
			if strings.HasSuffix(name, ".go") && !p.Standard {
				files[filepath.Join(p.Dir, filepath.FromSlash(name))] = true
			}
		}
	}
	return files
}

// embeds reports whether Go files of the folder are embedded.
func (m *Module) embeds(dir string) bool {
	for file := range m.embedded {
		if filepath.Dir(file) == dir {
			return true
		}
	}
	return false
}

// keepEmbedded takes the files that are embedded out of those rewritten, and
// their sites and sections out of the plan. It returns the files.
func (m *Module) keepEmbedded(p *plan.Plan, rewritten map[string][]byte) (kept []LeftAlone) {
	for _, file := range store.SortedKeys(m.embedded) {
		if _, ok := rewritten[file]; !ok {
			continue
		}
		delete(rewritten, file)
		name := m.Rel(file)
		skipFile(p, name, Embedded)
		for i := range p.Sections {
			if s := &p.Sections[i]; s.File == name {
				s.Left = Embedded
			}
		}
		kept = append(kept, LeftAlone{name, string(Embedded)})
	}
	return kept
}
