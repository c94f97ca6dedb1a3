package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/atomicsets/sites"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/watched"
	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/production"
	"github.com/interlock-go/interlock/dynamic/scratch"
)

// productionFlags are the flags of commands that build for production.
type productionFlags struct {
	production bool
	agent      string // where the pages are, as the user names it
	signal     string // which turns the watch on and off
}

func (o *productionFlags) declareProduction(fs *flag.FlagSet) {
	fs.BoolVar(&o.production, "production", false, "build in the race watch for production, which is off until\n"+
		"INTERLOCK_SAMPLE=budget=2%% turns it on; nothing is rewritten")
	fs.StringVar(&o.agent, "agent", "", "with -production: add pages that show and switch the watch;\n`where` is mux, "+
		"for http.DefaultServeMux, or an address such as 127.0.0.1:6061")
	fs.StringVar(&o.signal, "signal", "", "with -production: the signal of this `name`, such as SIGUSR2, turns "+
		"the watch\non and off; the program does not get it")
}

// unused returns the flag that is of no use without -production, or "".
func (o *productionFlags) unused() string {
	switch {
	case o.agent != "":
		return "-agent"
	case o.signal != "":
		return "-signal"
	}
	return ""
}

// prepareProduction writes the overlay of programs with a race watch into dir, and returns how the watch is switched.
func (o *productionFlags) prepareProduction(c *call, dir string, still *build.Still) (p *build.Production,
	by production.Switches, err error) {
	if o.agent != "" {
		if by.Agent, err = production.Where(o.agent); err != nil {
			return nil, by, err
		}
	}
	if by.Signal, err = production.SignalOf(o.signal); err != nil {
		return nil, by, err
	}
	p, err = build.PrepareProduction(c.ctx, dir, ".", by, still.Env(os.Environ()), c.buildFlags(), c.packages)
	return p, by, err
}

// explain prints what somebody needs to know of programs that are called by the given name.
func (o *productionFlags) explain(c *call, programs string, p *build.Production, by production.Switches) {
	if len(p.Uncounted) > 0 {
		c.warn("races may be reported that are none, as assembly of these packages may release what no clock counts: " +
			strings.Join(p.Uncounted, ", "))
	}
	if len(p.Signalled) > 0 {
		c.warn(by.Signal.Name + " switches the watch, so that these packages, which name it, no longer get it: " +
			strings.Join(p.Signalled, ", "))
	}
	fmt.Fprintf(c.stderr, "interlock: %s watches for data races where INTERLOCK_SAMPLE is set, such as "+
		"INTERLOCK_SAMPLE=budget=2%%; `interlock report FILE` prints what it has written\n", programs)
	switch by.Agent {
	case "":
	case production.OnMux:
		fmt.Fprintln(c.stderr, "interlock: its page is /debug/interlock/ where it serves http.DefaultServeMux, as "+
			"/debug/pprof/ is")
	default:
		fmt.Fprintf(c.stderr, "interlock: its page is http://%s/debug/interlock/\n", by.Agent)
	}
	if name := by.Signal.Name; name != "" {
		fmt.Fprintf(c.stderr, "interlock: `kill -%s` and its process id turn the watch on and off\n",
			strings.TrimPrefix(name, "SIG"))
	}
}

// buildProduction builds programs with the race watch for production.
func (o *productionFlags) buildProduction(c *call, output string) int {
	s, err := scratch.New(os.TempDir())
	if err != nil {
		return c.failed(err)
	}
	c.closers = append(c.closers, s)
	still, err := c.still()
	if err != nil {
		return c.failed(err)
	}
	// The folder of the overlay lives as long as this command.
	p, by, err := o.prepareProduction(c, s.Dir, still)
	if err != nil {
		return c.failed(err)
	}
	done := c.progress.Working("building the program")
	cmd := exec.CommandContext(c.ctx, "go", slices.Concat([]string{"build", "-o", output}, p.Flags, c.buildFlags(),
		[]string{"--"}, c.packages)...)
	cmd.Env = append(still.Env(os.Environ()), p.Env...)
	out, err := cmd.CombinedOutput()
	done()
	c.progress.Clear()
	if err != nil {
		return c.failed(fmt.Errorf("building the program: %w: %s", err, strings.TrimRight(string(out), "\n")))
	}
	o.explain(c, output, p, by)
	return exitClean
}

// exportProduction prints the variables with which any go command builds programs with the race watch. folder takes the
// files, as [build.LastingFolder] has it.
func (o *productionFlags) exportProduction(c *call, folder string) int {
	still, err := c.still()
	if err != nil {
		return c.failed(err)
	}
	root, err := os.Getwd()
	if err != nil {
		return c.failed(err)
	}
	dir, err := build.LastingFolder(folder, root)
	if err != nil {
		return c.failed(err)
	}
	p, by, err := o.prepareProduction(c, dir, still)
	if err != nil {
		os.RemoveAll(dir) // it was empty
		return c.failed(err)
	}
	exportVars(c.stdout, slices.Concat([]string{"GOFLAGS=" + gocmd.JoinFlags(slices.Concat(still.Flags, p.Flags))}, p.Env,
		[]string{outerGOFLAGS + "=" + os.Getenv("GOFLAGS")}))
	o.explain(c, "a program that is built with these variables", p, by)
	return exitClean
}

// areFiles reports whether the arguments of report are files of evidence, not the folder of an env.
func areFiles(names []string) bool {
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Stat(name)
		return err != nil || info.IsDir()
	})
}

// reportWatched reports on what programs have left that were built for production.
func reportWatched(c *call, to *reportFlags, accepted *acceptFlags, files []string) int {
	seen, err := watched.Read(files)
	if err != nil {
		return c.failed(err)
	}
	if seen.Processes == 0 {
		return c.usage("%s is no folder of `interlock env`, and no process that was watched in production has written to it",
			strings.Join(files, ", "))
	}
	root, known := c.sourceOf(seen)
	r := c.newReport("report", root, seen.Module)
	r.Problems = append(r.Problems, seen.Unread...)
	r.Findings, r.Coverage.Runs = seen.Findings(known), seen.Processes
	if n := seen.Unnamed; n > 0 {
		c.warn(fmt.Sprintf("%s changed while a goroutine was held there, by a write that was not seen and that the source "+
			"does not show", progress.Count(n, "variable")))
	}
	share := 100 * float64(seen.SpentNS) / float64(max(seen.ProgramNS, 1))
	fmt.Fprintf(c.stderr, "interlock: %s of %s, by %s: %v of processor time, of which the watch took %.1f %%; %s, "+
		"%s watched\n",
		progress.Count(seen.Processes, "instance"), progress.Count(seen.Builds, "build"), strings.Join(seen.Means, " and "),
		time.Duration(seen.ProgramNS).Round(time.Millisecond), share, progress.Count(int(seen.Samples), "sample"),
		progress.Count(int(seen.Armed), "variable"))
	if err := accepted.apply(c, r, &driver.Result{Root: root}); err != nil {
		return c.failed(err)
	}
	return c.finish(r, *to, accepted, false)
}

// sourceOf returns the root of the module and the sites of the packages with races, if this is the module's folder;
// otherwise the current folder.
func (c *call) sourceOf(seen *watched.Result) (root string, all []plan.Site) {
	root, _ = os.Getwd()
	var ours []string
	for _, pkg := range seen.Packages() {
		if pkg == seen.Module || strings.HasPrefix(pkg, seen.Module+"/") {
			ours = append(ours, pkg)
		}
	}
	still, err := c.still()
	if err != nil || len(ours) == 0 {
		return root, nil
	}
	m, err := build.Load(c.ctx, build.Options{Patterns: ours, Still: still, Programs: true, NoTests: true})
	if err != nil {
		c.warn("the source of " + seen.Module + " is not here, so that variables are named by lines: run this in its folder")
		return root, nil
	}
	c.closers = append(c.closers, m)
	for _, p := range m.Packages {
		for _, a := range sites.Enumerate(p) {
			all = append(all, a.Site)
		}
	}
	return m.Root, all
}
