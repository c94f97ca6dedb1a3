package simulation

import "testing"

// An object from outside may hold a struct with its own address in it.
func TestEscapeInCircle(t *testing.T) {
	outside, place := &ref{id: 1}, &ref{id: 2}
	inner := &object{}
	st := &state{}
	st.putObject(0, &object{
		base: value{kind: symbol, ref: outside}, escaped: true,
		cells: map[*ref]value{nil: {kind: record, ref: &ref{vals: []value{
			{kind: address, n: 0, ref: place}, {kind: address, n: 1},
		}}}},
	})
	st.putObject(1, inner)

	new(machine).escape(st, value{kind: address, n: 0})
	if !st.objs[1].escaped {
		t.Error("what the struct leads to beside has not escaped")
	}
}

// A goroutine of an earlier round of a loop may hold an address within the object that the instruction then made.
func TestForgetKeepsObject(t *testing.T) {
	root := &ref{id: 1}
	made, lock := &ref{id: 2, roots: []*ref{root}}, &ref{id: 3}
	st := &state{}
	st.putObject(0, &object{
		base: value{kind: symbol, ref: made}, escaped: true,
		syncs: map[*ref]lockState{lock: {writer: hold{g: 1}}},
	})

	st.forget(root)
	l, foreign := new(machine).lockAt(st, value{kind: address, n: 0, ref: lock})
	if l.writer.g != 0 || !foreign {
		t.Errorf("the lock is held by goroutine %d, foreign: %v; want an unknown lock", l.writer.g, foreign)
	}
}
