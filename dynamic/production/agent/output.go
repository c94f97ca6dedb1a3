//go:build interlock_production

package agent

import (
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// output is the file of evidence: JSON lines, one write each, in the form of package evidence.
type output struct {
	opened  bool // otherwise there is no file, and nothing is written
	fd      int
	left    int64  // bytes that still fit
	dropped uint64 // records that were not written
	program string // "" until it is needed
	build   string // build id
}

func (o *output) open(name string, size int64) error {
	fd, err := syscall.Open(name, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CREAT|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return err
	}
	o.opened, o.fd, o.left = true, fd, size-st.Size
	return nil
}

// describe finds which program this is.
func (o *output) describe() {
	if o.program != "" {
		return
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		o.program = info.Path
	}
	o.build = buildID()
}

// buildID returns the build id of the program, from the note that the linker puts near the beginning of the file; "" if
// it is not there.
func buildID() string {
	fd, err := syscall.Open("/proc/self/exe", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	head := make([]byte, 8192)
	n, _ := syscall.Read(fd, head)
	const note = "\x04\x00\x00\x00Go\x00\x00" // its type and name
	before, after, found := strings.Cut(string(head[:max(n, 0)]), note)
	if !found || len(before) < 4 {
		return ""
	}
	size := int(before[len(before)-4]) // of the id
	return after[:min(size, len(after))]
}

// record is the text of one record as it grows.
type record []byte

// begin begins a record of a kind.
func begin(kind string) record {
	r := record(`{"v":1,"run":1,"seed":0,"pid":`)
	r = strconv.AppendInt(r, int64(syscall.Getpid()), 10)
	return r.text("kind", kind)
}

// comma separates what comes next from what stands before it.
func (r record) comma() record {
	if last := r[len(r)-1]; last != '{' && last != '[' {
		r = append(r, ',')
	}
	return r
}

// key begins a field, whose name needs no quoting.
func (r record) key(name string) record {
	return append(append(append(r.comma(), '"'), name...), `":`...)
}

func (r record) number(name string, n uint64) record { return strconv.AppendUint(r.key(name), n, 10) }

func (r record) flag(name string, on bool) record {
	if !on {
		return r
	}
	return append(r.key(name), "true"...)
}

func (r record) text(name, value string) record { return appendText(r.key(name), value) }

// appendText appends a string as JSON has it.
func appendText(r record, s string) record {
	const hex = "0123456789abcdef"
	r = append(r, '"')
	for _, c := range []byte(strings.ToValidUTF8(s, "?")) {
		switch {
		case c == '"' || c == '\\':
			r = append(r, '\\', c)
		case c == '\n':
			r = append(r, `\n`...)
		case c == '\t':
			r = append(r, `\t`...)
		case c < ' ':
			r = append(r, `\u00`...)
			r = append(r, hex[c>>4], hex[c&15])
		default:
			r = append(r, c)
		}
	}
	return append(r, '"')
}

// line returns a record that is complete, with its end.
func (r record) line() []byte { return append(r[:len(r):len(r)], "}\n"...) }

// write writes a record. A file that is full, or a disk that is, ends the evidence: it does not stop the program.
func (o *output) write(record record) {
	if !o.opened {
		return
	}
	r := record.line()
	if int64(len(r)) > o.left {
		o.dropped++
		return
	}
	n, err := syscall.Write(o.fd, r)
	if err != nil || n < len(r) {
		o.dropped++
		o.left = 0
		return
	}
	o.left -= int64(len(r))
}

// start returns the record that a process is watched.
func (o *output) start(a *agent) record { return begin("start").origin(a) }

// origin adds which program was watched, and how.
func (r record) origin(a *agent) record {
	r = append(r.key("origin"), '{')
	r = r.text("program", a.out.program).text("module", module).text("build", a.out.build)
	r = r.text("means", a.means()).text("budget", a.settings.budgetText)
	if len(uncounted) > 0 {
		r = append(r.key("uncounted"), '[')
		for i, pkg := range uncounted {
			if i > 0 {
				r = append(r, ',')
			}
			r = appendText(r, pkg)
		}
		r = append(r, ']')
	}
	return append(r, '}')
}

// pair returns the record of a race.
func (o *output) pair(a *agent, e1, e2 side, count uint64) record {
	r := begin("clock").origin(a).number("count", count).flag("met", a.caught.how == byMeeting || a.caught.how == byValue).
		flag("like", a.caught.how == byPlace)
	return r.side("a", e1, &a.caught).side("b", e2, &a.caught)
}

// change returns the record that a value changed at e1, by a write that was not found.
func (o *output) change(a *agent, e1 side, count uint64) record {
	r := begin("changed").origin(a).number("count", count).flag("global", ilkIsData(a.caught.addr))
	return r.side("a", e1, &a.caught)
}

func (r record) side(name string, s side, p *pair) record {
	r = append(r.key(name), '{')
	r = r.number("site", 0).flag("write", s.Write && !s.Read).flag("atomic", s.Atomic)
	if !s.Write || s.Read {
		r = append(r.key("write"), "false"...)
	}
	r = r.number("addr", uint64(p.addr)).number("size", p.size).number("gid", s.goid)
	if len(s.named) > 0 {
		r = append(r.key("labels"), '{')
		for _, l := range s.named {
			r = append(append(appendText(r.comma(), l.Key), ':'), appendText(nil, l.Value)...)
		}
		r = append(r, '}')
	}
	return append(r.text("stack", stackText(s)), '}')
}

// stackText returns a stack in the form of runtime.Stack.
func stackText(s side) string {
	b := []byte("goroutine ")
	b = strconv.AppendUint(b, s.goid, 10)
	b = append(b, " [running]:\n"...)
	for _, f := range s.frames {
		b = append(b, f.Function...)
		b = append(b, "(...)\n\t"...)
		b = append(b, relative(f.File)...)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(f.Line), 10)
		b = append(b, '\n')
	}
	return string(b)
}

// relative returns a file below the module's root relative to that, also where the build has trimmed paths.
func relative(file string) string {
	for _, base := range []string{root, module} {
		if rest, ok := strings.CutPrefix(file, base+"/"); ok && base != "" {
			return rest
		}
	}
	return file
}

// counters writes what the watch has seen, done and lost so far.
func (o *output) counters(a *agent) { o.write(o.watched(a)) }

// watched returns the record of that.
func (o *output) watched(a *agent) record {
	var c counters
	ilkCounters(&c)
	r := append(begin("watched").origin(a).key("watched"), '{')
	r = r.number("program_ns", uint64(a.budget.watched)).number("spent_ns", uint64(a.budget.spent()))
	for _, n := range []struct {
		name string
		n    uint64
	}{
		{"samples", c.samples}, {"unknown", c.unknown}, {"none", c.none}, {"poor", c.poor}, {"full", c.full}, {"hot", c.hot},
		{"armed", c.armed}, {"refused", c.refused}, {"own", c.own}, {"ordered", c.ordered}, {"collected", c.collected},
		{"runtime", c.runtime}, {"late", c.late}, {"non_go", c.nonGo}, {"clock", c.clock}, {"met", c.met},
		{"changed", c.changed}, {"lost", c.lost},
		{"races", a.reported}, {"dismissed", a.dismissed}, {"unnamed", a.unnamed},
		{"undecoded", a.code.full}, {"labels", c.labels}, {"dropped", o.dropped},
	} {
		if n.n > 0 {
			r = r.number(n.name, n.n)
		}
	}
	return append(r, '}')
}
