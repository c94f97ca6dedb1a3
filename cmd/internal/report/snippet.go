package report

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report/internal/region"
)

// head writes the line that begins a finding.
func (t *text) head(f *finding.Finding, headline string) {
	line := Clean(t.r.headed(f, headline))
	if places := f.Places(); len(places) > 0 && (t.style.Color || t.style.Links) {
		place := Clean(t.r.place(places[0]))
		if rest, ok := strings.CutPrefix(line, place); ok {
			line = t.linked(place, places[0].File) + t.colored(f, rest)
		}
	}
	t.b.WriteString(line + "\n")
}

// linked returns the text as a link to the file, if links are wanted.
func (t *text) linked(text, file string) string {
	if t.style.Color {
		text = "\x1b[1m" + text + "\x1b[0m"
	}
	if !t.style.Links {
		return text
	}
	if path := filepath.FromSlash(file); !filepath.IsAbs(path) {
		file = filepath.ToSlash(filepath.Join(t.r.Root, path))
	}
	return "\x1b]8;;" + (&url.URL{Scheme: "file", Path: file}).String() + "\x1b\\" + text + "\x1b]8;;\x1b\\"
}

// colored returns the rest of a head with its status in a color.
func (t *text) colored(f *finding.Finding, rest string) string {
	if !t.style.Color {
		return rest
	}
	color := "33" // yellow
	switch {
	case f.Minor():
		color = "36" // cyan
	case f.Status == finding.Confirmed:
		color = "31" // red
	}
	status := f.Standing()
	return strings.Replace(rest, " "+status+":", " \x1b["+color+"m"+status+"\x1b[0m:", 1)
}

// snippet writes the line of an access, with carets under the expression where its place is known.
func (t *text) snippet(a *finding.Access) {
	if a.Source == "" {
		return
	}
	t.line("        | %s", cut(untabbed(Clean(a.Source))))
	lines, known := t.files[a.File]
	if !known {
		lines = t.r.lines(a.File)
		t.files[a.File] = lines
	}
	if a.Column < 1 || a.Line > len(lines) {
		return
	}
	line := lines[a.Line-1]
	from, to := a.Column-1, a.EndColumn-1
	if a.EndLine != a.Line {
		to = from + len(a.Expr)
		if to > len(line) || from > len(line) || line[from:to] != a.Expr {
			return
		}
	}
	lead := len(line) - len(strings.TrimLeft(line, " \t"))
	if from < lead || to <= from || to > len(line) || to-lead > maxShown || strings.TrimSpace(line) != a.Source {
		return
	}
	t.line("        | %s%s", strings.Repeat(" ", columns(untabbed(Clean(line[lead:from])))),
		strings.Repeat("^", columns(untabbed(Clean(line[from:to])))))
}

// sameCause writes a finding that has the cause of the one above: in one line.
func (t *text) sameCause(f *finding.Finding) {
	t.line("    same cause: %s", t.r.Line(f))
	if e := f.Evidence; e != nil && e.Replay != "" {
		t.line("        replay: %s", e.Replay)
	}
	if f.Fix != nil && f.Fix.Withheld != "" {
		t.prose("        patch withheld: ", f.Fix.Withheld)
	}
}

// lockNames lists locks as the source names them: c.mu, or Type.mu for one that has no name there.
func lockNames(locks []string) string {
	var names []string
	for _, l := range locks {
		if strings.Contains(l, "/") {
			l = finding.ShortLock(l)
		}
		names = append(names, l)
	}
	return strings.Join(names, ", ")
}

// ReadSource adds to findings of runs the words of the source: the line of an access, the locks that are held around
// it and around the calls that lead to it, and one name for a function literal. gc names a literal anew in each
// function that it is inlined into.
//
//	func (*T).F.func2.1                  as the findings name it
//	func (*T).G.(*T).F.func2.func3       the same one, inlined into G, in a stack
func (r *Report) ReadSource() {
	files := map[string]*region.File{}
	parsed := func(name string) *region.File {
		if files[name] == nil {
			files[name] = region.Parse(strings.Join(r.lines(name), "\n"))
		}
		return files[name]
	}
	for _, f := range r.Findings {
		for i := range f.Accesses {
			a := &f.Accesses[i]
			if a.Goroutine == nil {
				if f.Section != nil && f.Evidence != nil && len(a.Locks) == 0 {
					a.Locks = locksAround(parsed(a.File), a.Line)
				}
				continue
			}
			if a.Source == "" {
				if lines := r.lines(a.File); 0 < a.Line && a.Line <= len(lines) {
					a.Source = strings.TrimSpace(lines[a.Line-1])
				}
			}
			if f.Code.IsDataRace() || f.Section != nil {
				a.Locks = locksOn(a, parsed)
			}
			// The names that gc has made of a literal stand in the stacks.
			literal := parsed(a.File).Literal(a.Line)
			if literal.IsValid() && strings.Contains(a.Function, ".func") {
				renameLiteral(f, a, func(frame *finding.Frame) bool {
					return frame.File == a.File && parsed(a.File).Literal(frame.Line) == literal
				}, func(frame *finding.Frame) bool {
					return frame.File == a.File && parsed(a.File).Starter(frame.Line) == literal
				})
			}
		}
	}
}

// locksOn names the locks that the goroutine of an access holds: those that a check has seen there, or those of the
// function that makes it, and those that its callers hold around the calls. A frame counts if its line calls the one
// above: a deferred call is made when the function returns, whatever was released before.
func locksOn(a *finding.Access, parsed func(string) *region.File) (names []string) {
	names = a.Locks
	if len(names) == 0 {
		names = locksAround(parsed(a.File), a.Line)
	}
	stack := a.Goroutine.Stack
	for i, frame := range stack {
		f, own := parsed(frame.File), i == 0 && frame.Line == a.Line
		if !own && (i == 0 || f.Calls(frame.Line, stack[i-1].Function)) {
			names = addLocks(names, locksAround(f, frame.Line))
		}
	}
	return names
}

// locksAround names the locks that the function around a line holds there.
func locksAround(f *region.File, line int) (names []string) {
	for _, r := range f.Around(line) {
		name := r.Lock
		if r.Read {
			name += " (read)"
		}
		names = append(names, name)
	}
	return names
}

// addLocks adds the locks of more with a last name that locks lacks: a caller names the same lock by another path. An
// embedded one, q.Mutex, is q where the source calls q.Lock().
func addLocks(locks, more []string) []string {
	last := func(lock string) string {
		lock = strings.TrimSuffix(lock, " (read)")
		lock = strings.TrimSuffix(strings.TrimSuffix(lock, ".RWMutex"), ".Mutex")
		return lock[strings.LastIndexByte(lock, '.')+1:]
	}
	for _, l := range more {
		if !slices.ContainsFunc(locks, func(other string) bool { return last(other) == last(l) }) {
			locks = append(slices.Clip(locks), l)
		}
	}
	return locks
}

// renameLiteral has the stacks of f name the literal of an access as the access does: a frame that isIn it, and a go
// statement for which startsIn holds.
func renameLiteral(f *finding.Finding, a *finding.Access, isIn, startsIn func(*finding.Frame) bool) {
	rename := func(frames []finding.Frame, of func(*finding.Frame) bool) {
		for i := range frames {
			frame := &frames[i]
			path := frame.Function[:strings.LastIndexByte(frame.Function, '/')+1]
			pkg, name, _ := strings.Cut(frame.Function[len(path):], ".")
			if strings.Contains(name, ".func") && of(frame) {
				frame.Function = path + pkg + "." + a.Function
			}
		}
	}
	for _, side := range f.Accesses {
		if side.Goroutine != nil {
			rename(side.Goroutine.Stack, isIn)
			rename(side.Goroutine.Created, startsIn)
		}
	}
}
