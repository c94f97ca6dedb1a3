package cli

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/progress"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

var planCommand = command{
	name: "plan", args: "[flags] [packages]", short: "show which accesses test would monitor, and why not the others",
	long: `Plan finds every access to memory that goroutines might share in the packages, their tests, and
what they use of the main module, and decides for each whether "interlock test" monitors it. It
shows the numbers, of the module and of each package: how many are monitored, and why the others are not.
With -sites it lists the monitored accesses too: position, mode, variable, expression; a star marks those that
a suspected finding names, which are watched first. Positions are relative to the module's root, or to the
folder of go.work if one is in force.`,
	examples: [][2]string{
		{"interlock plan ./...", "the whole module, in numbers"},
		{"interlock plan -sites ./server", "the monitored accesses of one package and of what it uses"},
		{"interlock plan -format json ./... >plan.json", "with the skipped ones too, for programs"},
	},
	options: func() runner { return new(planOptions) },
}

type planOptions struct {
	planFlags
	format string
	sites  bool
}

func (o *planOptions) declare(fs *flag.FlagSet) {
	o.declareSections(fs, defaultSections)
	o.declareDeps(fs)
	o.declareWhole(fs, wholeSkips)
	fs.BoolVar(&o.sites, "sites", false, "list the monitored accesses")
	o.format = "text"
	fs.Func("format", "`format` of standard output: text or json (default text)", func(s string) error {
		o.format = s
		if s != "text" && s != "json" {
			return fmt.Errorf("unknown format %q: use one of text, json", s)
		}
		return nil
	})
}

func (o *planOptions) run(c *call) int {
	pl, code := o.decided(c)
	if pl == nil {
		return code
	}
	c.warn(pl.Vet.LeftOut...)
	c.gaveUp(pl.Vet.GaveUp)
	var err error
	if o.format == "json" {
		err = writePlanJSON(c.stdout, pl.Plan)
	} else {
		err = writePlanText(c.stdout, pl.Plan, o.sites)
	}
	if err != nil {
		return c.failed(fmt.Errorf("writing the plan: %w", err))
	}
	return code
}

// decided makes the plan, has the rewriter decide on its sites too, and reports the
// code that was not analysed. If it returns no plan, the exit code is that of the error.
func (o *planFlags) decided(c *call) (*planner.Planned, int) {
	p, err := o.planner(c)
	if err != nil {
		return nil, c.failed(err)
	}
	pl, err := c.makePlan(p)
	if err == nil {
		err = build.Decide(c.ctx, pl.Module, pl.Plan)
	}
	c.progress.Clear()
	if err != nil {
		return nil, c.failed(err)
	}
	c.warn(pl.Vet.Problems...)
	return pl, c.incomplete(pl)
}

// writePlanJSON writes the plan in its published schema, in which no list is null.
func writePlanJSON(w io.Writer, p *plan.Plan) error {
	whole := *p
	whole.Sites = append([]plan.Site{}, p.Sites...)
	whole.Sections = slices.Clone(p.Sections)
	for i := range whole.Sections {
		s := &whole.Sections[i]
		s.Variables, s.Ends = append([]plan.Variable{}, s.Variables...), append([]plan.End{}, s.Ends...)
		for j := range s.Ends {
			s.Ends[j].Allows = append([]plan.Mode{}, s.Ends[j].Allows...)
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(&whole)
}

// writePlanText writes the numbers of the plan, by package and reason, and lists its sites on request.
func writePlanText(w io.Writer, p *plan.Plan, sites bool) error {
	b := bufio.NewWriter(w)
	writeNumbers(b, p.Module, p)
	if all := len(p.Sections); all > 0 {
		fmt.Fprintf(b, "%s, %d of them watched: see `interlock sections`\n", progress.Count(all, "atomic section"),
			len(arm.Sections(p, nil)))
	}
	// Each package in its own right, if there are several.
	packages := map[string]*plan.Plan{}
	for _, s := range p.Sites {
		if packages[s.Package] == nil {
			packages[s.Package] = new(plan.Plan)
		}
		packages[s.Package].Sites = append(packages[s.Package].Sites, s)
	}
	if len(packages) > 1 {
		for _, path := range slices.Sorted(maps.Keys(packages)) {
			fmt.Fprintln(b)
			writeNumbers(b, path, packages[path])
		}
	}
	if !sites {
		fmt.Fprintf(b, "\n`interlock plan -sites` lists the monitored accesses\n")
		return b.Flush()
	}
	fmt.Fprintf(b, "\nmonitored:\n")
	for i := range p.Sites {
		if s := &p.Sites[i]; s.Decision == plan.Monitor {
			star := " "
			if s.Suspicious {
				star = "*"
			}
			fmt.Fprintf(b, "  %s %s\n", star, siteText(s))
		}
	}
	return b.Flush()
}

// writeNumbers writes how many accesses of the plan are monitored, and why the others are not.
func writeNumbers(w io.Writer, of string, p *plan.Plan) {
	n := atomicsets.Count(p)
	fmt.Fprintf(w, "%s: %d accesses, %d monitored, %d of them suspicious\n", of, n.Sites, n.Monitored, n.Suspicious)
	for _, s := range n.Skipped {
		fmt.Fprintf(w, "    %6d skipped, %s\n", s.Sites, s.Reason)
	}
}

// siteText returns the place of a site and the variable that it accesses, without control characters.
func siteText(s *plan.Site) string {
	return report.Clean(fmt.Sprintf("%s:%d:%d: %s of %s: %s", s.File, s.Line, s.Column, s.Mode, name(s), s.Expr))
}

// name returns a site's variable without the package's path.
func name(s *plan.Site) string {
	v := s.Variable
	for _, owner := range []string{v.Type, v.Function} {
		if owner != "" {
			return owner + "." + v.Name
		}
	}
	return v.Name
}
