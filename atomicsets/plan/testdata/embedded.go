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
