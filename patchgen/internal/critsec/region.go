package critsec

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// builder puts the accesses of one variable in one function under one lock, in
// regions as small as it can. It works on statement lists, with at most one
// region open at a time:
//
//   - a region opens before a statement with an access and ends after it, or
//     goes on to further accesses a few statements later;
//   - a test and the uses in the branch that it controls stay in one region,
//     which ends on each branch where it has to;
//   - nothing that may wait or call unknown code lies within: what it needs of
//     the variable is copied before, what it yields is stored after;
//   - returns and jumps out of a region unlock first.
type builder struct {
	*Task
	*source.Names
	edits    *edit.Edits
	regions  []*region
	regionOf map[ast.Expr]*region  // of the accesses covered so far
	anchors  map[ast.Stmt]ast.Stmt // labelled statements, by what they label
}

// newBuilder returns a builder that writes into the edits.
func newBuilder(c *Task, edits *edit.Edits) *builder {
	return &builder{Task: c, Names: source.NewNames(c.Function), edits: edits,
		regionOf: map[ast.Expr]*region{}, anchors: map[ast.Stmt]ast.Stmt{}}
}

// region is one stretch of code under the lock.
type region struct {
	builder *builder
	write   bool
	// continued is set where an existing critical section is carried on with its
	// own kind of lock.
	continued string
}

func (r *region) lockText() string {
	if r.continued != "" {
		return ""
	}
	return r.builder.Lock + "." + r.kind() + "()"
}

func (r *region) unlockText() string {
	return r.builder.Lock + "." + strings.Replace(r.kind(), "Lock", "Unlock", 1) + "()"
}

func (r *region) kind() string {
	switch {
	case r.continued != "":
		return r.continued
	case r.builder.HasRLock && !r.write:
		return "RLock"
	}
	return "Lock"
}

// Accesses at most this many statements apart share a region, if what lies
// between may be held.
const maxGap = 3

// run covers the function. An error is the reason why it cannot.
func (c *builder) run() error {
	hasGoto := false
	ast.Inspect(c.Function.Body, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			hasGoto = true
		}
		return true
	})
	if hasGoto {
		return fmt.Errorf("%s uses goto", c.Function.Name())
	}
	_, err := c.list(c.Function.Body.List, nil, true)
	return err
}

// split reports whether a read of the variable and a later write lie in two
// regions: they are no data race any more, but no one step either.
func (c *builder) split() bool {
	for i, r := range c.regions {
		if !r.write {
			for _, later := range c.regions[i+1:] {
				if later.write {
					return true
				}
			}
		}
	}
	return false
}

// open returns the open region, or starts one before list[i]: a new one, or one
// that goes on where list[i-1] ends a critical section of the same lock. With
// no list, the caller places the Lock.
func (c *builder) open(list []ast.Stmt, i int, r *region) *region {
	if r != nil {
		return r
	}
	r = &region{builder: c}
	c.regions = append(c.regions, r)
	if list == nil {
		return r
	}
	if at, kind := c.continues(list, i); kind != "" {
		r.continued = kind
		c.edits.DeleteLine(c.File, list[at])
		c.leaveUnlocked(list[at+1:i], r)
		return r
	}
	c.before(list[i], r.lockText)
	return r
}

// record records in the region what the accesses do.
func (c *builder) record(r *region, accs []*source.Access) error {
	for _, a := range accs {
		c.regionOf[a.Expr] = r
		r.write = r.write || a.Mode.Writes()
		if err := c.coverable(a); err != nil {
			return err
		}
	}
	return nil
}

// coverable is Coverable for a patch that may be a draft: the judge doubts it where a map or an object is handed on.
func (c *builder) coverable(a *source.Access) error {
	if a.Mode == source.Alias && c.Facts.IsBold() {
		return nil
	}
	return Coverable(c.Variable, a)
}

// Coverable returns why a lock around an access would not cover what is done with the variable; nil if it would.
func Coverable(t *source.Variable, a *source.Access) error {
	switch {
	case a.Mode == source.Address:
		return fmt.Errorf("%s: its address is taken", a.File.At(a.Expr))
	case a.Mode == source.Alias && t.Within:
		return fmt.Errorf("%s: %s itself is handed on", a.File.At(a.Expr), t)
	case a.Mode == source.Alias:
		return fmt.Errorf("%s: the map itself is handed on", a.File.At(a.Expr))
	case a.Mode == source.Atomic:
		return fmt.Errorf("%s: it is accessed atomically there", a.File.At(a.Expr))
	}
	return nil
}

// before inserts lines before s, or before its label.
func (c *builder) before(s ast.Stmt, text func() string) {
	if l := c.anchors[s]; l != nil {
		s = l
	}
	c.edits.Before(c.File, s, text)
}

func (c *builder) after(s ast.Stmt, text func() string) { c.edits.After(c.File, s, text) }
