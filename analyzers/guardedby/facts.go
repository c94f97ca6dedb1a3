package guardedby

// Guarded is the fact that an annotation names Lock as the guard of a field
// or package variable, relative to the struct that holds it. Inferred guards
// are no facts: importing packages see other accesses.
type Guarded struct{ Lock string }

// AFact marks Guarded as a fact.
func (*Guarded) AFact() {}

func (g *Guarded) String() string { return "guarded by " + g.Lock }

func (c *checker) export(v *variable, g *guard) {
	if obj := v.accesses[0].Obj; g.annotated && obj.Pkg() == c.pass.Pkg {
		c.pass.ExportObjectFact(obj, &Guarded{g.text})
	}
}
