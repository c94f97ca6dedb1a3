package policy

// contest is the noise of ConTest (Edelstein, Farchi, Nir, Ratsaby, Ur, "Multithreaded Java program test
// generation", 2002): at an event chosen at random the goroutine yields, or sleeps for a time at random.
type contest struct{ Settings }

// Decide implements [Policy].
func (c contest) Decide(_, _ int64, random uint64) int64 {
	const chosen = 8 // one event of so many
	n := mix(random ^ c.Seed)
	switch {
	case n%chosen != 0:
		return 0
	case n>>8&1 == 0:
		return Yield
	}
	return 1 + int64(n>>32)*2*c.Strength>>32
}

// Size implements [Policy].
func (contest) Size() (goroutines, events uint64) { return 0, 0 }
