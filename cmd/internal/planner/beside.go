package planner

import (
	"context"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Consult runs the static checks on the packages among paths that are monitored but were not named: a run may show a
// finding there that somebody has accepted. It adds their findings to Beside, and their ignore comments to those of
// Vet. It checks a package only once.
func (p *Planned) Consult(ctx context.Context, paths []string) error {
	if p.consulted == nil {
		p.consulted = map[string]bool{}
	}
	isNew := false
	for _, path := range paths {
		if !p.consulted[path] && p.isBeside(path) {
			p.consulted[path], isNew = true, true
		}
	}
	if !isNew {
		return nil
	}
	// The named packages are checked again, from the cache of the go command: a suspicion may need the code of both.
	o := p.options
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"."}
	}
	o.Patterns = slices.Concat(o.Patterns, slices.Sorted(maps.Keys(p.consulted)))
	res, err := o.vet(ctx)
	if err != nil {
		return err
	}
	p.Beside = slices.DeleteFunc(res.Findings, func(f *finding.Finding) bool {
		return slices.ContainsFunc(p.Vet.Findings, func(g *finding.Finding) bool { return f.ID == g.ID }) ||
			len(f.Accesses) > 0 && slices.Contains(p.Vet.Packages, f.Accesses[0].Package)
	})
	p.Vet.Ignores = res.Ignores
	return nil
}

// ConsultAll is [Planned.Consult] for all packages.
func (p *Planned) ConsultAll(ctx context.Context) error {
	var paths []string
	for _, pkg := range p.Module.Packages {
		paths = append(paths, pkg.Path)
	}
	return p.Consult(ctx, paths)
}

// isBeside reports whether a package of the main modules is monitored and was not named.
func (p *Planned) isBeside(path string) bool {
	for _, pkg := range p.Module.Packages {
		if pkg.Path == path {
			return pkg.Root == p.Module.Root && !slices.Contains(p.Vet.Packages, path)
		}
	}
	return false
}
