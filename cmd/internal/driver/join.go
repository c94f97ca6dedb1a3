package driver

import (
	"maps"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/crosspkg"
	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/levels"
	"github.com/interlock-go/interlock/analyzers/summary"
)

// skips takes up the skips of a package: those that other packages have no
// say in at once.
func (m *merger) skips(s *summary.Summary) {
	for _, sk := range s.Skips {
		skip := Skip{
			File: m.relative(s.Files[sk.File]), Line: sk.Line, Column: sk.Column,
			Mode: sk.Mode, Map: sk.Map, Reason: sk.Reason,
		}
		if sk.Reason == summary.Guarded {
			m.result.Guarded = append(m.result.Guarded, skip)
			continue
		}
		if sk.Unless == 0 {
			m.result.Skips = append(m.result.Skips, skip)
			continue
		}
		field := s.Fields[sk.Unless-1]
		m.unless[field] = append(m.unless[field], skip)
	}
}

// fields takes up the accesses in a package to fields and package variables that
// others may use too.
func (m *merger) fields(s *summary.Summary) {
	m.lost = m.lost || s.Incomplete
	for _, name := range s.Written {
		m.written[name] = true
	}
	list := s.Unpack()
	for _, v := range list {
		for _, a := range v.Accesses {
			a.File = m.relative(a.File)
		}
	}
	m.variables = append(m.variables, list)
}

// join decides questions that need all packages: lock-order cycles, exported variables
// and the fields of types that are. It sets the level of each finding.
func (m *merger) join() {
	r := m.result
	r.Findings = slices.DeleteFunc(crosspkg.Judge(r.Findings, m.variables...), func(f *finding.Finding) bool {
		return !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool { return m.asked[a.Package] })
	})
	var all []crosspkg.Locks
	for _, pkg := range sortedKeys(r.Locks) {
		all = append(all, r.Locks[pkg].Locks)
	}
	cycles := crosspkg.Cycles(all...)
	r.Findings = slices.DeleteFunc(r.Findings, func(f *finding.Finding) bool {
		return slices.ContainsFunc(cycles, func(c *finding.Finding) bool { return sameLocks(c, f) })
	})
	r.Findings = append(r.Findings, cycles...)
	for i, f := range r.Findings {
		r.Findings[i] = levels.Graded(f)
	}
	if m.whole() {
		for _, field := range slices.Sorted(maps.Keys(m.unless)) {
			if !m.written[field] {
				r.Skips = append(r.Skips, m.unless[field]...)
			}
		}
	}
}

// sameLocks reports whether f, a lock cycle that a simulation has shown, is cycle c: its locks are taken there.
func sameLocks(c, f *finding.Finding) bool {
	return f.Code == finding.LockCycle && !slices.ContainsFunc(c.Cycle, func(e finding.Edge) bool {
		return e.Since == nil || !slices.ContainsFunc(f.Accesses, func(a finding.Access) bool {
			return a.File == e.Since.File && a.Line == e.Since.Line
		})
	})
}

// whole reports whether every package of the main module that is linked with
// one of those asked for was analysed, with its tests: no code that may write
// its fields in such a program is unknown then. (A dependency that imports the
// module back is.) Of the modules of a workspace nothing is known.
func (m *merger) whole() bool {
	unknown := func(path string) bool { return !m.seen[path] && slices.ContainsFunc(m.list.modules, below(path)) }
	return !m.list.work && !m.lost && !slices.ContainsFunc(m.list.packages, func(p listed) bool {
		return slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), unknown)
	})
}

// below reports whether the import path may be of the module, by its name.
func below(path string) func(module string) bool {
	return func(module string) bool { return path == module || strings.HasPrefix(path, module+"/") }
}
