package importer

import "facts"

func Both(t *facts.T) { // want Both:"takes facts.T.mu"
	t.Enter()
	t.Leave()
}

func Half(t *facts.T) { t.Enter() } // want Half:"acquires 0.mu; takes facts.T.mu"

type Outer struct{ In *facts.T }

func (o *Outer) Enter() { o.In.Enter() } // want Enter:"acquires 0.In.mu; takes facts.T.mu"
