package instrument

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/version"
	"strings"

	"github.com/interlock-go/interlock/atomicsets/sites"
)

// languageVersion returns the language version of f as "go1.N".
func languageVersion(p *sites.Package, f *ast.File, opts Options) string {
	v := p.Info.FileVersions[f]
	if v == "" && opts.GoVersion != "" {
		v = "go" + strings.TrimPrefix(opts.GoVersion, "go")
	}
	if v == "" && p.Types != nil {
		v = p.Types.GoVersion()
	}
	if v == "" {
		v = "go1.26"
	}
	return version.Lang(v)
}

// minimum is the first language version in which generic functions can be
// called, as a build constraint. Constraints that ask for more than the
// module does raise the language version of a file.
const minimum = "go1.18"

// header raises the language version of a file that has none of generics.
// From Go 1.22 on the same line would take the meaning of loop variables
// back, so it is put nowhere else.
func (r *rewriter) header(content []byte) ([]byte, error) {
	if version.Compare(r.version, minimum) >= 0 {
		return content, nil
	}
	var plus constraint.Expr
	lines := bytes.SplitAfter(content, []byte("\n"))
	for i, line := range lines {
		text := strings.TrimSpace(string(line))
		if strings.HasPrefix(text, "package ") {
			break
		}
		if !constraint.IsGoBuild(text) && !constraint.IsPlusBuild(text) {
			continue
		}
		x, err := constraint.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("reading its build constraint: %w", err)
		}
		if constraint.IsGoBuild(text) {
			x = &constraint.AndExpr{X: x, Y: &constraint.TagExpr{Tag: minimum}}
			lines[i] = []byte("//go:build " + x.String() + "\n")
			return bytes.Join(lines, nil), nil
		}
		if plus != nil {
			x = &constraint.AndExpr{X: plus, Y: x}
		}
		plus = x
	}
	var x constraint.Expr = &constraint.TagExpr{Tag: minimum}
	if plus != nil { // the go command ignores +build lines beside a go:build line
		x = &constraint.AndExpr{X: plus, Y: x}
	}
	return append([]byte("//go:build "+x.String()+"\n\n//line :1:1\n"), content...), nil
}
