package torture

import (
	"embed"
	"strings"

	"golang.org/x/tools/txtar"
)

// Templates of the parts of guarded blocks; each file begins with the meaning of
// its fields.
//
//go:embed parts/*.txtar
var partFiles embed.FS

var (
	cells = readParts("cells")
	locks = readParts("locks")
	forks = readParts("forks")
	wraps = readParts("wraps")
)

// part is a shared variable, a lock, a way to start goroutines and wait for
// them, or a way to come to an access: fields by name, most of them templates.
type part struct {
	name   string
	fields map[string]string
}

// hasFlag reports whether the flag is set.
func (p *part) hasFlag(flag string) bool {
	return strings.Contains(" "+p.fields["flags"]+" ", " "+flag+" ")
}

// codeLines returns the field as lines of code.
func (p *part) codeLines(field string) string {
	if text := p.fields[field]; text != "" {
		return text + "\n"
	}
	return ""
}

// readParts reads a file: a field is a line "name: text", or "name:" and the
// indented lines that follow.
func readParts(file string) (parts []part) {
	data, err := partFiles.ReadFile("parts/" + file + ".txtar")
	if err != nil {
		panic(err)
	}
	for _, f := range txtar.Parse(data).Files {
		p := part{name: f.Name, fields: map[string]string{}}
		field := ""
		for line := range strings.Lines(strings.TrimRight(string(f.Data), "\n")) {
			line = strings.TrimSuffix(line, "\n")
			if indented, ok := strings.CutPrefix(line, "\t"); ok || line == "" {
				p.fields[field] += indented + "\n"
				continue
			}
			name, text, ok := strings.Cut(line, ":")
			if !ok {
				panic(f.Name + ": no field: " + line)
			}
			field = name
			p.fields[field] = strings.TrimPrefix(text, " ")
		}
		for name, text := range p.fields {
			p.fields[name] = strings.TrimSuffix(text, "\n")
		}
		parts = append(parts, p)
	}
	return parts
}
