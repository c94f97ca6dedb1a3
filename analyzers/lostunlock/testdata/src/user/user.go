// Package user locks by the methods of another package, and in closures.
package user

import (
	"dep"
	"errors"
)

var errClosed = errors.New("closed")

type Pool struct {
	mu     dep.Guard
	closed bool
	n      int
}

func (p *Pool) Add() error {
	p.mu.Enter()
	if p.closed {
		return errClosed // want `a return leaves Guard.mu locked`
	}
	p.n++
	p.mu.Leave()
	return nil
}

func (p *Pool) Each(visit func(func() error)) {
	visit(func() error {
		p.mu.Enter()
		if p.closed {
			return errClosed // want `a return leaves Guard.mu locked`
		}
		p.mu.Leave()
		return nil
	})
}

func (p *Pool) Size() int { // ok
	p.mu.REnter()
	defer p.mu.RLeave()
	return p.n
}
