package cli

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/pointsto"
	"github.com/interlock-go/interlock/pointsto/load"
)

// wholeFlag is that of the commands that can look at the whole program.
func wholeFlag(fs *flag.FlagSet, o *options, what string) {
	fs.BoolVar(&o.whole, "whole", false, "look at the whole program, dependencies included: "+what+".\n"+
		"Takes seconds to minutes, and about 3 GB of memory for a million lines. Code behind reflection, unsafe,\n"+
		"assembly and cgo counts as one that may do anything; missed is what computes addresses by numbers alone")
}

// lookAtAll judges the sites of the packages' tests, as seen from dir. With
// programs it judges them in main functions as well, and in whatever may
// import the packages.
func (c *call) lookAtAll(p *progress, dir, root string, buildFlags []string, programs bool) ([]pointsto.Site, error) {
	still, err := c.still()
	if err != nil {
		return nil, err
	}
	loaded := p.working("loading the whole program")
	o := load.Options{Dir: dir, Patterns: c.packages, BuildFlags: buildFlags, Env: still.Env(os.Environ()), Root: root, Tests: true, Programs: programs}
	if tmp, remove, err := build.TempDir(os.Environ()); err == nil {
		defer remove()
		o.Env = append(o.Env, "GOTMPDIR="+tmp)
	}
	prog, err := load.Load(c.ctx, o)
	loaded()
	if err != nil {
		return nil, err
	}
	defer p.working("looking at the whole program")()
	r := pointsto.Analyze(prog, pointsto.Options{Open: programs && prog.Library})
	if c.verbose {
		p.line("whole program: %d lines of %d files, %s", prog.Lines, prog.Files, r)
	}
	return r.Sites(), nil
}

// prune adds what the whole program says to the static side: sites that need
// no monitor, and findings that are none.
func (c *call) prune(p *progress, st *static, dir string, buildFlags []string, programs bool) {
	if !c.whole {
		return
	}
	sites, err := c.lookAtAll(p, dir, st.root, buildFlags, programs)
	if err != nil {
		if c.ctx.Err() == nil {
			st.problems = append(st.problems, err.Error())
		}
		return
	}
	st.skips = append(st.skips, atomicsets.WholeSkips(sites)...)
	stay, withdrawn := atomicsets.Withdraw(st.findings, sites)
	st.findings = stay
	if c.verbose {
		for _, f := range withdrawn {
			p.line("withdrawn, by the whole program: %s %s", f.Code, f.Title)
		}
	} else if n := len(withdrawn); n > 0 {
		p.line("%s withdrawn: in the whole program no two goroutines can be there at the same time; -v lists them", plural(n, "finding"))
	}
}

// namesPlaces reports whether the call says where the monitor makes noise; all
// places that it may name are monitored then.
func (o *options) namesPlaces() bool {
	return o.only != "" || strings.HasPrefix(o.noise, "location:") || strings.HasPrefix(o.noise, "variable:")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
