package build

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/dynamic"
	"github.com/interlock-go/interlock/dynamic/instrument"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// NotCompiled is the reason of sites in files that do not compile once they
// are rewritten.
const NotCompiled plan.Reason = "file does not compile once rewritten (internal error)"

// Prepare rewrites the files of m that hold sites to be monitored and lays out
// everything that a build of them needs. Sites that the rewriter has to leave
// alone become skips of p, with the reason; so do, while tests are built, those
// of files that are left alone. The caller closes the workspace.
func Prepare(ctx context.Context, m *Module, p *plan.Plan) (*Workspace, error) {
	s, err := scratch.New(os.TempDir())
	if err != nil {
		return nil, err
	}
	return prepareIn(ctx, s, m, p, false)
}

// prepareIn is Prepare with a folder, which it closes if it fails. With covered,
// packages may be built with -cover.
func prepareIn(ctx context.Context, s *scratch.Folder, m *Module, p *plan.Plan, covered bool) (ws *Workspace,
	err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	r, err := rewrite(ctx, m, p, covered)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.files, ends(m, r.files))
	if ws, err = prepare(s, m, r.files, dynamic.Monitor(), "watch"); err != nil {
		return nil, err
	}
	ws.plan, ws.left = p, append(ws.left, r.kept...)
	return ws, ws.writeMarked(r.marked)
}

// Decide makes skips of the sites of p that the rewriter has to leave alone, as
// [Prepare] does, and builds nothing.
func Decide(ctx context.Context, m *Module, p *plan.Plan) error {
	_, err := rewrite(ctx, m, p, false)
	return err
}

// rewriting is the result of rewriting files.
type rewriting struct {
	files  map[string][]byte // rewritten ones, by the absolute paths of their originals
	marked map[string][]byte // their marked texts, if asked for
	kept   []LeftAlone       // because a program has their text
}

// rewrite rewrites the files of m as p says, and marks the sites in p that it must leave.
func rewrite(ctx context.Context, m *Module, p *plan.Plan, marked bool) (*rewriting, error) {
	byKey := make(map[plan.Key]*plan.Site, len(p.Sites))
	for i := range p.Sites {
		byKey[p.Sites[i].Key()] = &p.Sites[i]
	}
	r := &rewriting{files: map[string][]byte{}, marked: map[string][]byte{}}
	sections := map[uint32]plan.Reason{} // those that the rewriter has seen
	opts := instrument.Options{
		RT: dynamic.MonitorPath, Locks: dynamic.MonitorPath + "/locks",
		LockUses: sites.LockUses(m.Packages), Plan: p, Quiet: instrument.Quiet(m.Packages), Marked: marked,
	}
	for _, pkg := range m.Packages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		res, err := instrument.Rewrite(pkg, func(k plan.Key) *plan.Site { return byKey[k] }, opts)
		if err != nil {
			return nil, fmt.Errorf("instrumenting %s: %w", pkg.Path, err)
		}
		for _, f := range res.Files {
			r.files[f.Name] = f.Content
			if f.Marked != nil {
				r.marked[f.Name] = f.Marked
			}
		}
		for _, left := range res.Left {
			skip(p.Site(left.Site.ID), left.Reason)
		}
		maps.Copy(sections, res.Sections)
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		if reason, found := sections[s.ID]; found {
			s.Left = reason
		} else {
			s.Left = instrument.EntryLeft
		}
	}
	r.kept = m.keepEmbedded(p, r.files)
	return r, nil
}

func skip(s *plan.Site, why plan.Reason) {
	if s != nil {
		s.Decision, s.Reason, s.Suspicious = plan.Skip, why, false
	}
}

// skipFile takes the sites of a file out of the plan, if there is one.
func skipFile(p *plan.Plan, file string, why plan.Reason) {
	if p == nil {
		return
	}
	for i := range p.Sites {
		if s := &p.Sites[i]; s.File == file && s.Decision == plan.Monitor {
			skip(s, why)
		}
	}
}
