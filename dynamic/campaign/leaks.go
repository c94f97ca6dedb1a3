package campaign

import (
	"github.com/interlock-go/interlock/dynamic/campaign/internal/deadlock"
	"github.com/interlock-go/interlock/dynamic/campaign/internal/testproc"
	"github.com/interlock-go/interlock/dynamic/campaign/run"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// takeLeaks takes up the leaked goroutines that a process has written to the file, if any, and the
// deadlocks, where that is all it has written, and the goroutines that the runtime has found asleep.
func (c *campaign) takeLeaks(strength int, pkg *run.Package, file string, p *testproc.Process) {
	records, err := run.ReadRecords(file)
	if err != nil {
		c.problem("leaked goroutines of %s: %v", pkg.Package, err)
	}
	c.takeDeadlocks(strength, pkg, p, records)
	c.seen.Waited = run.WaitedIn(p)
	c.seen.Leaked(&c.cfg.Settings, pkg.Package, strength, records, pkg.Upset(p)...)
	c.seen.Asleep(&c.cfg.Settings, pkg.Package, strength, p.Asleep())
}

// takeDeadlocks takes up the deadlocks in records of the process p in the run that goes on, and has the schedule of
// the package learn from these and from orders of locks.
func (c *campaign) takeDeadlocks(
	strength int, pkg *run.Package, p *testproc.Process, records []evidence.Record,
) {
	for i := range records {
		switch r := &records[i]; r.Kind {
		case evidence.Order, evidence.Held, evidence.Deadlock:
			pkg.Locks.Observe(r)
			pkg.Learned.Orders = append(pkg.Learned.Orders, *r)
		}
	}
	in := deadlock.Run{
		N: c.seen.Runs, Seed: c.seen.Seed, Strength: strength, Package: pkg.Package, Failed: p.TestsFailed(),
	}
	for _, name := range c.seen.Deadlocks.Add(in, records) {
		c.seen.Showed(pkg.Package, "deadlock "+name)
		if c.seen.Stood[name] == nil {
			c.seen.Stood[name] = run.WaitedIn(p)
		}
	}
}
