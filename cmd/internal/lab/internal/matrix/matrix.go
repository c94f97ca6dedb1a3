// Package matrix is the frame of a tool that measures cases in variants: its flags, its temporary folder, its rounds,
// and the figures that it keeps of each case in each variant.
package matrix

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/timing"
)

// Tool is one measurement. Its own flags are added to Flags before [Tool.Run].
type Tool struct {
	Flags *flag.FlagSet

	name string
	out  string
}

// New returns the tool of a name, with the flag that all have.
func New(name string) *Tool {
	t := &Tool{Flags: flag.NewFlagSet("lab "+name, flag.ExitOnError), name: name}
	t.Flags.StringVar(&t.out, "o", "", "write the figures to this `file` too, as JSON")
	return t
}

// Run parses the arguments, measures with a temporary folder, and writes the document. It reports whether the bars
// are held.
func (t *Tool) Run(args []string, measure func(tmp string) (markdown string, held bool, err error)) (bool, error) {
	t.Flags.Parse(args)
	tmp, err := os.MkdirTemp("", "interlock-"+t.name+"-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	markdown, held, err := measure(tmp)
	if err != nil {
		return false, err
	}
	return held, page.Write(t.out, markdown)
}

// Say prints progress.
func (t *Tool) Say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, t.name+": "+format+"\n", args...)
}

// Rounds calls measure for each variant in turn, round by round, so that other work of the machine slows all alike.
// Variants are paired within a round: the base, which comes first, is measured directly before the others.
func Rounds[V any](ctx context.Context, t *Tool, rounds int, variants []V, measure func(round int, v V) error) error {
	for round := 1; round <= rounds; round++ {
		t.Say("round %d of %d", round, rounds)
		for _, v := range variants {
			if err := measure(round, v); err != nil {
				return err
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Figures has the values of each round, by case and by variant.
type Figures map[string]map[string][]float64

// Add adds the value of one round.
func (f Figures) Add(of, variant string, x float64) {
	if f[of] == nil {
		f[of] = map[string][]float64{}
	}
	f[of][variant] = append(f[of][variant], x)
}

// Cases returns the names of the cases, in order.
func (f Figures) Cases() []string { return slices.Sorted(maps.Keys(f)) }

// Median returns the median of the rounds.
func (f Figures) Median(of, variant string) float64 { return timing.Median(f[of][variant]) }

// Ratio returns the median of a variant over that of the base.
func (f Figures) Ratio(of, variant, base string) float64 {
	return f.Median(of, variant) / f.Median(of, base)
}

// Table returns a table: a row a case, with the median of the base and that of each other variant with the least and
// the greatest value; the last row has the median of each column. A variant without values has a dash.
func (f Figures) Table(base, baseTitle, baseFormat string, others []string) string {
	columns := append([]string{"program", baseTitle}, others...)
	var rows [][]string
	medians := map[string][]float64{}
	for _, of := range f.Cases() {
		row := []string{of, fmt.Sprintf(baseFormat, f.Median(of, base))}
		for _, v := range others {
			xs := f[of][v]
			if len(xs) == 0 {
				row = append(row, "-")
				continue
			}
			medians[v] = append(medians[v], timing.Median(xs))
			row = append(row, fmt.Sprintf("%.2f (%.2f to %.2f)", timing.Median(xs), slices.Min(xs), slices.Max(xs)))
		}
		rows = append(rows, row)
	}
	last := []string{"**median**", ""}
	for _, v := range others {
		cell := "-"
		if len(medians[v]) > 0 {
			cell = fmt.Sprintf("**%.2f**", timing.Median(medians[v]))
		}
		last = append(last, cell)
	}
	var b strings.Builder
	page.Rows(&b, columns, append(rows, last))
	return b.String()
}
