package report

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Race writes data races in the form of the race detector's reports (WARNING: DATA RACE), for tools that read these.
// Findings of other kinds, and accesses of which no run has shown the stack, are left out.
type Race struct{}

// Write writes one report for each race, and how many there are.
func (Race) Write(w io.Writer, r *Report) error {
	var out bytes.Buffer
	n := 0
	for _, f := range r.Findings {
		if !f.Code.IsDataRace() || len(f.Accesses) < 2 || f.Accesses[0].Goroutine == nil || f.Accesses[1].Goroutine == nil {
			continue
		}
		n++
		fmt.Fprintf(&out, "==================\nWARNING: DATA RACE\n")
		for i, a := range f.Accesses[:2] {
			verb := raceVerb(a.Mode)
			if i == 1 {
				verb = "Previous " + strings.ToLower(verb)
			}
			fmt.Fprintf(&out, "%s at 0x000000000000 by goroutine %d:\n", verb, a.Goroutine.ID)
			writeRaceStack(&out, r, a.Goroutine.Stack)
		}
		fmt.Fprintf(&out, "==================\n")
	}
	if n > 0 {
		fmt.Fprintf(&out, "Found %d data race(s)\n", n)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// raceVerb returns the race detector's word for a mode.
func raceVerb(m finding.Mode) string {
	switch m {
	case finding.Write:
		return "Write"
	case finding.AtomicRead:
		return "Atomic read"
	case finding.AtomicWrite:
		return "Atomic write"
	}
	return "Read"
}

func writeRaceStack(out *bytes.Buffer, r *Report, stack []finding.Frame) {
	for _, f := range stack {
		file := filepath.FromSlash(f.File)
		if !filepath.IsAbs(file) {
			file = filepath.Join(r.Root, file)
		}
		fmt.Fprintf(out, "  %s()\n      %s:%d +0x0\n", Clean(f.Function), Clean(file), f.Line)
	}
	fmt.Fprintln(out)
}
