package syncfix

import (
	"go/ast"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// waitingCouples returns the places that take two locks in the order in which a goroutine of a finding holds the one
// and waits for the other: who waits for the first one waits for whatever the holder of the second does.
//
//	c.streams.Lock()		<- the receiver needs it
//	c.last++
//	c.send.Lock()			<- waits for a sender, who waits for the peer
func (p *Problem) waitingCouples(f *finding.Finding) ([]couple, error) {
	reason := strategy.NotMeant("no goroutine waits for a lock in a function that has taken another one")
	for _, a := range f.Accesses {
		if a.Mode != finding.Lock && a.Mode != finding.ReadLock {
			continue
		}
		at, err := p.at(a.Position)
		if err != nil {
			return nil, err
		}
		second, ok := innermost[ast.Stmt](at)
		if _, isTaken := lockTakenAt(at); !ok || !isTaken {
			continue
		}
		list := source.ListOf(at.file, second)
		for i := slices.Index(list, second) - 1; i >= 0; i-- {
			op, isOp := lockOpOf(at.file, list[i])
			if !isOp {
				continue
			}
			if !op.Acquire {
				break // released: none of them is held
			}
			named, err := p.coupleOf(at.file, list[i], second)
			if err == nil {
				return append([]couple{named}, p.othersLike(named)...), nil
			}
			reason = err
			break
		}
	}
	return nil, reason
}

// othersLike returns the places that take locks of the two classes in the order of a couple, that one apart.
func (p *Problem) othersLike(named couple) []couple {
	return slices.DeleteFunc(p.couplesLike(named), func(c couple) bool { return c.first.lock == named.first.lock })
}
