package p

type base struct{ n, m int }

func (b base) val() int  { return b.n }
func (b *base) ptr() int { return 0 }

type byPtr struct{ *base }
type byVal struct{ base }
type deep struct{ byVal }
type chain struct{ *byPtr }
type face struct{ speaker }

type speaker interface{ speak() }

func promoted(p *byPtr, v *byVal, d *deep, c *chain, f *face, local byPtr) {
	_ = p.n     // want read p.n field:base.n in promoted; read p.base field:byPtr.base in promoted
	p.m = 1     // want write p.m field:base.m in promoted; read p.base field:byPtr.base in promoted
	_ = v.n     // want read v.n field:base.n in promoted
	_ = d.n     // want read d.n field:base.n in promoted
	_ = c.n     // want read c.n field:base.n in promoted
	_ = local.n // want read local.n field:base.n in promoted
	p.ptr()     // want read p.base field:byPtr.base in promoted
	v.ptr()     // only the address
	v.val()     // want read v.base field:byVal.base in promoted
	d.val()     // want read d.byVal.base field:byVal.base in promoted
	f.speak()   // want read f.speaker field:face.speaker in promoted
	_ = &p.n    // want read p.base field:byPtr.base in promoted
	_ = p.val   // want read p.base field:byPtr.base in promoted
}

type (
	count int64
	stack []int
	text  string
)

func (c *count) add()     {}
func (c count) get() int  { return 0 }
func (s *stack) push(int) {}
func (s stack) top() int  { return 0 }
func (t *text) append()   {}

type named struct {
	count
	n count
	s stack
	t text
}

// receivers: a method that takes its receiver by pointer is given the
// address, and reads nothing, of whatever kind the receiver is.
func receivers(x *named, all []named) {
	x.n.add()      // only the address
	x.s.push(1)    // only the address
	x.t.append()   // only the address
	x.count.add()  // only the address
	x.add()        // only the address
	all[0].n.add() // only the address
	_ = x.n.add    // only the address
	_ = x.n.get()  // want read x.n field:named.n in receivers
	_ = x.s.top()  // want read x.s field:named.s in receivers
	_ = x.get()    // want read x.count field:named.count in receivers
}
