package patchgen

import (
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/validate"
)

// ErrApart is the reason to correct the fields of a group one by one: see [Parts].
var ErrApart = errors.New("each field is better corrected by itself")

// others returns the fields, or variables of a package, of a group of races that miss one lock, except that of the
// problem.
func (in Input) others(p *strategy.Problem) (list []validate.Variable) {
	for _, f := range in.Group {
		name := f.Variable.Name[strings.LastIndexByte(f.Variable.Name, '.')+1:]
		v := validate.Variable{Package: f.Variable.Package, Type: f.Variable.Type, Func: f.Variable.Function,
			Name: strings.TrimSuffix(name, "[]")}
		isRace := f.Status == finding.Confirmed && f.Code.IsDataRace()
		isOther := isAlike(v, p.Variable) && v != p.Claimed() && !p.Variable.Holds(v.Package, v.Type)
		isOther = isOther && (token.IsIdentifier(v.Name) || !p.Variable.Within) // memory without a name lies within it
		if isRace && isOther && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// isAlike reports whether a lock for one may guard the other too: both are fields, or variables of a package.
func isAlike(v validate.Variable, w *source.Variable) bool {
	return v.Func == "" && w.Function == nil && (v.Type == "") == source.IsGlobal(w.Object)
}

// oneLock returns those strategies that put several fields under one lock, or make each of them atomic. Where an
// assignment moves before the go statement, no lock is needed.
func oneLock(p *strategy.Problem, all []strategy.Strategy) (locks []strategy.Strategy, err error) {
	for _, s := range all {
		switch s.Name {
		case "guard", "atomic", "mutex":
			locks = append(locks, s)
		case "reorder":
			if _, err := strategy.Try(s, p); err == nil {
				return nil, ErrApart
			}
		}
	}
	return locks, nil
}

// covers returns an error where a patch protects not all of the fields of its group.
func covers(out *strategy.Patch, others []validate.Variable) error {
	for _, v := range others {
		if !slices.Contains(out.Claim.Also, v) {
			return fmt.Errorf("%s races with it and is not protected as well", v)
		}
	}
	return nil
}
