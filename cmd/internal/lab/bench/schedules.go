package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// measureSchedules measures time under each schedule over the watch engine that only measures, as the first run of
// auto does, in paired rounds.
func measureSchedules(ctx context.Context, t *matrix.Tool, tmp string, o options) (string, error) {
	// The build is that of interlock test.
	dir, err := filepath.Abs(o.dir)
	if err != nil {
		return "", err
	}
	m, err := build.Load(ctx, build.Options{Dir: dir})
	if err != nil {
		return "", err
	}
	pl, err := makePlans(ctx, m, dir, tmp)
	if err != nil {
		return "", err
	}
	w, done, err := buildMonitored(ctx, m, pl.modular, tmp, "scheduled")
	if err != nil {
		return "", err
	}
	defer done()
	relations := filepath.Join(tmp, "relations")
	file := schedule.NewDrFinder(arm.LockNames(m.Packages)).File(arm.DefaultFunctions)
	if err := os.WriteFile(relations, file, 0o644); err != nil {
		return "", err
	}

	// The noise is the default of campaigns, or that of the schedule.
	with := func(name, about, noise string, more ...string) *variant {
		return w.variant(name, about, append(append(more, w.awake...), "INTERLOCK_NOISE="+noise)...)
	}
	d := &document{rounds: o.rounds, benchtime: o.benchtime, variants: []*variant{
		with("watch", "the first run of auto, which measures and makes no noise", "prob=0"),
		with("guided", "noise where near misses and static findings point", "prob=1000"),
		with("random", "noise at all accesses that are due", "random"),
		with("contest", "noise at events, as ConTest makes it", "contest"),
		with("pct", "goroutines by priorities, with a depth of 3", "pct,depth=3"),
		with("drfinder", "its first phase, which collects what leads to locks", arm.DrFinder+",prob=0",
			"INTERLOCK_DRFINDER="+relations),
	}}
	if d.times, err = measure(ctx, t, d.variants, o); err != nil {
		return "", err
	}
	text := page.Head("What schedules cost", "schedules", ". The programs are those of `testdata/bench`.\n"+
		"Each figure is the time under a schedule over that of the first run of auto, less 1: the median over "+
		fmt.Sprintf("%d paired rounds of %s,\nwith the least and the greatest in brackets. ", o.rounds, o.benchtime)+
		"A process runs all programs, and its noise may take twice the time until then: those with one goroutine\n"+
		"use up none, and the ones behind them may be held for nearly all of their time.\n") + "\n"
	for _, v := range d.variants {
		text += fmt.Sprintf("- **%s**: %s\n", v.name, v.about)
	}
	text += "\n" + d.writeTable(d.times, "watch ns/op", "%.4g")
	return text, nil
}
