package patchgen

import (
	"golang.org/x/tools/go/packages"

	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/facts"
	"github.com/interlock-go/interlock/patchgen/internal/session"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// Module is the typed source of one main module, tests included. Nothing
// here changes it, and it is not safe for concurrent use.
type Module struct {
	*source.Module
	analysed  *session.Session
	known     *facts.Facts        // see original; made on demand
	validator *validate.Validator // see judge; made on demand
}

// original returns the facts of the module as it was loaded, which maker and judge of its patches share.
func (m *Module) original() (*facts.Facts, error) {
	if m.known == nil {
		snapshot, err := m.analysed.Original()
		if err != nil {
			return nil, err
		}
		m.known = facts.New(snapshot)
	}
	return m.known, nil
}

// judge returns the validator of the module's patches.
func (m *Module) judge() (*validate.Validator, error) {
	if m.validator == nil {
		before, err := m.original()
		if err != nil {
			return nil, err
		}
		m.validator = validate.New(before)
	}
	return m.validator, nil
}

// LoadMode is what [packages.Load] must be asked for (with Tests set) so that
// [NewModule] can use the result.
const LoadMode = session.LoadMode

// NewModule makes a module of loaded packages. Packages outside root and
// generated test mains are left out; of a package's variants the widest one
// counts. It fails where a package has errors: no patch is built on source
// that does not compile.
func NewModule(root string, loaded []*packages.Package) (*Module, error) {
	m, err := source.NewModule(root, loaded)
	if err != nil {
		return nil, err
	}
	s, err := session.New(root, loaded)
	if err != nil {
		return nil, err
	}
	return &Module{Module: m, analysed: s}, nil
}

// Diff returns the unified diff from old to new contents by slash path, with
// a/ and b/ prefixes and paths in order: `git apply` takes it at the module's
// root. Files of new that old lacks are created; unchanged files are left out.
func Diff(old, new map[string][]byte) (string, error) { return edit.Diff(old, new) }

// ErrChanged is returned by [Apply] where a file is no longer what the patch
// was built on.
var ErrChanged = edit.ErrChanged

// Apply writes new contents into the tree below root: all of the files or
// none. Each must still have its old contents (else [ErrChanged], and the
// next step is to analyse again) and be writable.
func Apply(root string, old, new map[string][]byte) error { return edit.Apply(root, old, new) }
