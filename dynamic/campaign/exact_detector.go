package campaign

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/dynamic/campaign/internal/stacktext"
	"github.com/interlock-go/interlock/dynamic/evidence"
)

// reports returns the setting that has the race detector write its reports beside the file of evidence, without an exit
// code for them.
func (e *exact) reports(file string) string {
	own := ""
	for _, v := range e.cfg.Workspace.UserEnv() {
		if options, ok := strings.CutPrefix(v, "GORACE="); ok {
			own = options + " "
		}
	}
	return fmt.Sprintf("GORACE=%slog_path=%q exitcode=0", own, file+reportsSuffix)
}

// reportsSuffix is the common ending of the files of the race detector, before the number of the process.
const reportsSuffix = ".race"

// gatherReports adds the reports of the race detector to the file of evidence.
func (e *exact) gatherReports(file string) error {
	names, err := filepath.Glob(file + reportsSuffix + ".*")
	if err != nil || len(names) == 0 {
		return err
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("writing the evidence: %w", err)
	}
	defer out.Close()
	lines := json.NewEncoder(out)
	if _, err := out.WriteString("\n"); err != nil { // the monitor's last line may be torn
		return fmt.Errorf("writing the evidence: %w", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("reading what the race detector reports: %w", err)
		}
		pid, _ := strconv.Atoi(strings.TrimPrefix(filepath.Ext(name), "."))
		for _, race := range stacktext.Races(string(text)) {
			r := evidence.Record{
				Version: evidence.SchemaVersion, Kind: evidence.Unordered, Run: e.seen.Runs, Seed: e.seen.Seed, PID: pid,
				A: reportedSide(race[0]), B: reportedSide(race[1]),
			}
			if err := lines.Encode(r); err != nil {
				return fmt.Errorf("writing the evidence: %w", err)
			}
		}
		if err := os.Remove(name); err != nil { // a run of the same name is not to find it
			return err
		}
	}
	return nil
}

func reportedSide(s stacktext.RaceSide) *evidence.Side {
	return &evidence.Side{Write: s.Write, Atomic: s.Atomic, GID: s.GID, Stack: s.Stack}
}
