package driver

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// addSource fills in the source line of each access. A file that cannot be
// read any more leaves it empty.
func (m *merger) addSource() {
	lines := map[string][][]byte{}
	for _, f := range m.result.Findings {
		for i := range f.Accesses {
			a := &f.Accesses[i]
			if _, ok := lines[a.File]; !ok {
				name := filepath.FromSlash(a.File)
				if !filepath.IsAbs(name) {
					name = filepath.Join(m.list.root, name)
				}
				data, _ := os.ReadFile(name)
				lines[a.File] = bytes.Split(data, []byte("\n"))
			}
			if file := lines[a.File]; a.Line <= len(file) {
				a.Source = strings.TrimSpace(string(file[a.Line-1]))
			}
		}
	}
}
