// Package excuses measures the reasons for which the checks do not report two accesses: it switches each off, and
// prints which findings come back, in the clean programs of the pairs and in modules with findings that readers have
// judged, and which bugs are found only then.
package excuses

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/analyzers/pass/accesses"
	"github.com/interlock-go/interlock/analyzers/pass/excuse"
	"github.com/interlock-go/interlock/analyzers/pass/guards"
	"github.com/interlock-go/interlock/analyzers/pass/order"
	"github.com/interlock-go/interlock/analyzers/pass/waits"
	"github.com/interlock-go/interlock/analyzers/registry"
	"github.com/interlock-go/interlock/analyzers/registry/pairs"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/released"
	"github.com/interlock-go/interlock/cmd/internal/lab/labels"
)

// least is how many false findings an excuse removes at least, or it is not worth its code.
const least = 3

// figures are the effects of one excuse.
type figures struct {
	excuse.Excuse
	clean []string // findings in clean programs that come back without it
	lost  []string // bugs of pairs that are found only without it
	other []string // findings in modules that come back
	true  []string // those of other that readers judged true
}

// countEarned counts the findings that the excuse removes rightly, as far as is known.
func (f *figures) countEarned() int { return len(f.clean) + len(f.other) - len(f.true) }

// Run runs the tool. It reports false where an excuse earns too little.
func Run(ctx context.Context, args []string) (held bool, err error) {
	t := matrix.New("excuses")
	archives := t.Flags.String("pairs", "analyzers/registry/testdata/pairs", "measure on the pairs in `folder`")
	modules := t.Flags.String("modules", "", "measure on labelled modules that match `regexp` too, such as redcon@")
	match := t.Flags.String("match", "", "measure the excuses that match `regexp` only")
	together := t.Flags.Bool("together", false, "switch all of them off at once: one may hide that another is needed")
	list := t.Flags.Bool("v", false, "list the findings and bugs, too")
	return t.Run(args, func(tmp string) (string, bool, error) {
		all, err := choose(*match, *together)
		if err != nil {
			return "", false, err
		}
		// Measure on both corpora; either may be left out.
		if *archives != "" {
			if err := onPairs(ctx, t, *archives, filepath.Join(tmp, "pairs"), all); err != nil {
				return "", false, err
			}
		}
		if *modules != "" {
			if err := onModules(ctx, t, *modules, tmp, all); err != nil {
				return "", false, err
			}
		}
		held := !slices.ContainsFunc(all, func(f *figures) bool { return f.countEarned() < least })
		return document(all, *list), held, nil
	})
}

// choose returns the excuses with a name that matches, or one entry for all of them together.
func choose(match string, together bool) (all []*figures, err error) {
	chosen, err := regexp.Compile(match)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range slices.Concat(order.Operations(), accesses.Orders(), guards.Excuses()) {
		if chosen.MatchString(e.Name) {
			all = append(all, &figures{Excuse: e})
			names = append(names, e.Name)
		}
	}
	if together {
		all = []*figures{{Excuse: excuse.Excuse{Name: strings.Join(names, " "), Reason: "all of them at once"}}}
	}
	return all, nil
}

// onPairs measures the excuses on the pairs.
func onPairs(ctx context.Context, t *matrix.Tool, archives, root string, all []*figures) error {
	list, err := pairs.Write(archives, root)
	if err != nil {
		return err
	}
	return eachProgram(ctx, root, all, func(f *figures, with, without found) {
		for _, p := range list {
			bug, clean := p.Folder(root, true), p.Folder(root, false)
			for _, back := range comeBack(with[clean], without[clean]) {
				f.clean = append(f.clean, fmt.Sprintf("%s: %s", p.Name, back.Code))
			}
			if !p.IsFoundIn(with[bug]) && p.IsFoundIn(without[bug]) {
				f.lost = append(f.lost, p.Name)
			}
		}
		t.Say("%s: %d in clean programs, %d bugs", f.Name, len(f.clean), len(f.lost))
	})
}

// found are findings by folder.
type found = map[string][]*finding.Finding

// eachProgram checks the module in root with all excuses, and without each.
func eachProgram(ctx context.Context, root string, all []*figures,
	compare func(f *figures, with, without found)) error {
	loaded, err := pairs.Load(root)
	if err != nil {
		return err
	}
	with, err := pairs.Check(loaded, concerned(), false)
	if err != nil {
		return err
	}
	for _, f := range all {
		var without found
		excuse.Without(func() { without, err = pairs.Check(loaded, concerned(), false) }, strings.Fields(f.Name)...)
		if err := cmp.Or(ctx.Err(), err); err != nil {
			return err
		}
		compare(f, with, without)
	}
	return nil
}

// concerned returns the checks that ask the tables of excuses, without those that simulate waits, which take longest.
func concerned() []*analysis.Analyzer {
	return slices.DeleteFunc(registry.Analyzers(), func(a *analysis.Analyzer) bool {
		return !requires(a, accesses.Analyzer) || requires(a, waits.Analyzer)
	})
}

// requires reports whether an analyzer needs another one, however indirectly.
func requires(a, other *analysis.Analyzer) bool {
	return a == other || slices.ContainsFunc(a.Requires, func(r *analysis.Analyzer) bool { return requires(r, other) })
}

// comeBack lists the findings of without that with lacks.
func comeBack(with, without []*finding.Finding) []*finding.Finding {
	known := map[string]bool{}
	for _, f := range with {
		known[keyOfFinding(f)] = true
	}
	return slices.DeleteFunc(slices.Clone(without), func(f *finding.Finding) bool { return known[keyOfFinding(f)] })
}

// keyOfFinding names a finding by its code and variable: another pair of accesses to the variable is no other finding.
func keyOfFinding(f *finding.Finding) string {
	if f.Variable.Name == "" {
		return fmt.Sprint(f.Code, f.Places())
	}
	return fmt.Sprint(f.Code, f.Variable.Package, f.Variable.Type, f.Variable.Name)
}

// onModules measures the excuses on the modules that labels name with their version.
func onModules(ctx context.Context, t *matrix.Tool, match, dir string, all []*figures) error {
	chosen, err := regexp.Compile(match)
	if err != nil {
		return err
	}
	judged, err := labels.Read()
	if err != nil {
		return err
	}
	byModule := map[string][]labels.Label{}
	var names []string
	for _, l := range judged.Findings {
		module := l.ModulePath()
		if module == "" || !chosen.MatchString(module) {
			continue
		}
		if byModule[module] == nil {
			names = append(names, module)
		}
		byModule[module] = append(byModule[module], l)
	}
	for i, name := range names {
		root := filepath.Join(dir, fmt.Sprint("module", i))
		if err := onModule(ctx, t, name, root, byModule[name], all); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// onModule measures the excuses on one module.
func onModule(ctx context.Context, t *matrix.Tool, name, root string, judged []labels.Label, all []*figures) error {
	path, version, _ := strings.Cut(name, "@")
	if err := released.Fetch(ctx, path, version, root); err != nil {
		return err
	}
	return eachProgram(ctx, root, all, func(f *figures, with, without found) {
		seen := map[string]bool{} // a package and its tests are analysed both
		for folder, list := range without {
			for _, back := range comeBack(with[folder], list) {
				if seen[keyOfFinding(back)] {
					continue
				}
				seen[keyOfFinding(back)] = true
				place := back.Places()[0]
				text := fmt.Sprintf("%s: %s %s:%d", name, back.Code, filepath.Base(place.File), place.Line)
				f.other = append(f.other, text)
				if isTrue(back, judged) {
					f.true = append(f.true, text)
				}
			}
		}
		t.Say("%s: %s: %d come back", name, f.Name, len(seen))
	})
}

// isTrue reports whether a reader judged a finding true that has a place of f, or its variable.
func isTrue(f *finding.Finding, judged []labels.Label) bool {
	return slices.ContainsFunc(judged, func(l labels.Label) bool {
		switch l.Verdict {
		case labels.Harmful, labels.Benign, labels.Test, labels.True:
		default:
			return false
		}
		if v := f.Variable; v.Name != "" && strings.Contains(l.Place, v.Type+"."+v.Name) {
			return true
		}
		return slices.ContainsFunc(f.Places(), func(p finding.Position) bool {
			return strings.Contains(l.Place+" ", fmt.Sprintf("%s:%d ", filepath.Base(p.File), p.Line))
		})
	})
}

// document is the report: a row an excuse.
func document(all []*figures, list bool) string {
	var b strings.Builder
	b.WriteString(page.Head("Excuses", "excuses", ": findings that come back where one excuse is switched off."))
	var rows [][]string
	for _, f := range all {
		verdict := ""
		if f.countEarned() < least {
			verdict = "earns too little"
		}
		rows = append(rows, []string{f.Name, f.Reason, fmt.Sprint(len(f.clean)), fmt.Sprint(len(f.lost)),
			fmt.Sprint(len(f.other)), fmt.Sprint(len(f.true)), verdict})
	}
	page.Table(&b, "By name", []string{"excuse", "the code is right since", "in clean programs", "bugs lost", "in modules",
		"of them true", ""}, rows)
	for _, f := range all {
		for _, part := range []struct {
			what  string
			items []string
		}{{"in clean programs", f.clean}, {"bugs lost", f.lost}, {"in modules", f.other}, {"judged true", f.true}} {
			if list && len(part.items) > 0 {
				fmt.Fprintf(&b, "\n%s, %s:\n\n- %s\n", f.Name, part.what, strings.Join(part.items, "\n- "))
			}
		}
	}
	return b.String()
}
