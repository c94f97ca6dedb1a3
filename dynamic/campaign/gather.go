package campaign

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/interlock-go/interlock/dynamic/evidence"
)

// Gather makes findings of an evidence file that processes of the user's own
// making have left, each of them a run. cfg says what they were built from: its
// Workspace and Plan count. Such findings have no replay command. An evidence
// file that is not there is that of no process.
func Gather(cfg Config, file string) (*Result, error) {
	c := &campaign{cfg: &cfg, result: &Result{}, seen: newTally(cfg.Plan, cfg.Workspace.Module.Packages)}
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.finish()
		return c.result, nil
	case err != nil:
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	defer f.Close()
	records, bad, err := evidence.Read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the evidence: %w", err)
	}
	problem := func(format string, args ...any) {
		c.result.Problems = append(c.result.Problems, fmt.Sprintf(format, args...))
	}
	if bad > 0 {
		problem("%d lines of evidence are not readable", bad)
	}
	// Each process counts as a run whose tests passed: nobody knows how they went.
	for _, records := range byProcess(records) {
		c.result.Runs++
		c.seen.begin(c.result.Runs, records[0].Seed, nil, nil)
		c.seen.add("", 0, records, &process{outcome: Passed}, problem)
	}
	c.finish()
	for _, f := range c.result.Findings {
		f.Evidence.Replay = ""
	}
	return c.result, nil
}

// byProcess sorts records by the process that wrote them; a start record begins
// another one, since numbers of processes are used again.
func byProcess(records []evidence.Record) [][]evidence.Record {
	var all [][]evidence.Record
	current := map[int]int{} // process id -> index
	for _, r := range records {
		i, known := current[r.PID]
		if !known || r.Kind == evidence.Start {
			i = len(all)
			current[r.PID] = i
			all = append(all, nil)
		}
		all[i] = append(all[i], r)
	}
	return all
}
