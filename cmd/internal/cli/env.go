package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/driver"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/accept"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
)

var envCommand = command{
	name: "env", args: "[flags] [packages]", short: "print what to export so that any go command builds monitored " +
		"programs",
	long: `Env prepares an instrumented build that lasts, and prints shell commands that export the variables
with which go test, go run, go build, or a Makefile that calls them, build and run it in this module:
GOFLAGS and GOWORK for the go command, INTERLOCK_... for the monitor. In a shell that has them, every
process of a monitored program appends to one evidence file; "interlock report" makes findings of it.

With -cover, what is covered is monitored too, and percentages and profiles are those of the plain program.

Files that change after env are not in its build: run it again. Its folder lies in the cache, unless
-dir names another; one there that nobody has written to for 14 days is removed.`,
	examples: [][2]string{
		{`eval "$(interlock env ./...)" && make test; interlock report`, "the tests as the Makefile runs them"},
		{`(eval "$(interlock env ./...)" && go run ./cmd/server); interlock report <folder>`,
			"a program; env prints the folder"},
	},
	options: func() runner { return new(envOptions) },
}

type envOptions struct {
	planFlags
	folder   string
	strength int
}

func (o *envOptions) declare(fs *flag.FlagSet) {
	o.declareDeps(fs)
	fs.StringVar(&o.folder, "dir", "", "lay the build out in this empty `folder`")
	fs.IntVar(&o.strength, "strength", 100, "hold goroutines for about so many `microseconds`")
}

// recorded is what report needs to know of an env: file recordName in its folder.
type recorded struct {
	Root     string             `json:"root"`
	Path     string             `json:"path"`
	Findings []*finding.Finding `json:"findings"`
	Ignores  []accept.Ignore    `json:"ignores,omitempty"`
	Plan     *plan.Plan         `json:"plan"`
}

// Files of an env.
const (
	recordName   = "interlock.json"
	evidenceName = "evidence.jsonl"
	sitesName    = "sites.txt"
)

func (o *envOptions) run(c *call) int {
	if err := checkStrength(o.strength); err != nil {
		return c.usage("%v", err)
	}
	defer c.progress.Clear()
	p, err := o.planner(c)
	if err != nil {
		return c.failed(err)
	}
	pl, err := c.makePlan(p)
	if err != nil {
		c.progress.Clear()
		return c.failed(err)
	}
	c.progress.Say("preparing the instrumented build")
	ws, err := build.PrepareLasting(c.ctx, o.folder, pl.Module, pl.Plan)
	c.progress.Clear()
	if err != nil {
		return c.failed(err)
	}
	defer ws.Close()
	if err := writeRecord(ws.Dir, pl); err != nil {
		return c.failed(err)
	}
	c.warn(pl.Vet.Problems...)
	c.warn(testrun.LeftAlone(ws)...)
	env, covers := ws.CoverEnv()
	if !covers {
		c.warn("with -cover, packages will not be monitored: GOFLAGS holds a -toolexec")
	}
	for _, v := range append(env,
		"INTERLOCK_OUT="+filepath.Join(ws.Dir, evidenceName),
		"INTERLOCK_SITES="+filepath.Join(ws.Dir, sitesName),
		"INTERLOCK_SECTIONS="+arm.SectionList(arm.Sections(pl.Plan, nil)),
		fmt.Sprintf("INTERLOCK_NOISE=strength=%d", o.strength),
		outerGOFLAGS+"="+os.Getenv("GOFLAGS"), outerGOWORK+"="+os.Getenv("GOWORK"),
		"INTERLOCK_ENV="+ws.Dir) {
		name, value, _ := strings.Cut(v, "=")
		if name == "GOFLAGS" { // results of tests are not to come from a cache, nor is vet to judge rewritten files
			value = strings.TrimSpace(value + " -vet=off -count=1")
		}
		fmt.Fprintf(c.stdout, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
	}
	fmt.Fprintf(c.stderr, "interlock: in %s; `interlock report %s` makes findings of what monitored programs leave "+
		"there\n", ws.Dir, ws.Dir)
	return c.uncompiled(pl.Uncompiled(), exitClean)
}

// Variables that hold what env has replaced.
const (
	outerGOFLAGS = "INTERLOCK_OUTER_GOFLAGS"
	outerGOWORK  = "INTERLOCK_OUTER_GOWORK"
)

// leaveEnv has a command that runs in a shell with the variables of env see the user's module, not the
// instrumented build. Env may so be called again in the same shell.
func leaveEnv() error {
	for name, outer := range map[string]string{"GOFLAGS": outerGOFLAGS, "GOWORK": outerGOWORK} {
		value, inEnv := os.LookupEnv(outer)
		if !inEnv {
			continue
		}
		if err := errors.Join(os.Setenv(name, value), os.Unsetenv(outer)); err != nil {
			return err
		}
	}
	return nil
}

func writeRecord(dir string, pl *planner.Planned) error {
	data, err := json.Marshal(&recorded{pl.Module.Root, pl.Module.Path, pl.Vet.Findings, pl.Vet.Ignores, pl.Plan})
	if err == nil {
		err = errors.Join(os.WriteFile(filepath.Join(dir, recordName), data, 0o644),
			os.WriteFile(filepath.Join(dir, sitesName), arm.SiteTable(pl.Plan, arm.Run{}), 0o644))
	}
	if err != nil {
		return fmt.Errorf("recording the plan: %w", err)
	}
	return nil
}

var reportCommand = command{
	name: "report", args: "[flags] [folder]", short: "report what programs built with the variables of env have shown",
	long: `Report reads the evidence that monitored programs have left in the folder of "interlock env" (by
default the one that INTERLOCK_ENV names) and reports confirmed findings as test does. Each process
counts as a run. It may be called as often as you like; the evidence stays.`,
	examples: [][2]string{
		{"interlock report", "in a shell that has the variables of env"},
		{"interlock report -o sarif:interlock.sarif <folder>", "elsewhere, and a file for code scanning"},
	},
	options: func() runner { return new(reportOptions) },
}

type reportOptions struct {
	reportFlags
	acceptFlags
	suspected bool
}

func (o *reportOptions) declare(fs *flag.FlagSet) {
	o.reportFlags.declare(fs)
	o.acceptFlags.declare(fs, finding.Confirmed)
	fs.BoolVar(&o.suspected, "suspected", false, "report suspected findings too, with a note if no process showed them")
}

func (o *reportOptions) run(c *call) int {
	dir := os.Getenv("INTERLOCK_ENV")
	switch {
	case len(c.packages) > 1:
		return c.usage("report takes one folder")
	case len(c.packages) == 1:
		dir = c.packages[0]
	case dir == "":
		return c.usage("name the folder that `interlock env` has printed, or set INTERLOCK_ENV to it")
	}
	if err := errors.Join(o.out.Probe(), o.acceptFlags.check(c)); err != nil {
		return c.usage("%v", err)
	}
	rec, err := readRecord(dir)
	if err != nil {
		return c.usage("%v", err)
	}
	ws := build.Reopened(rec.Root, rec.Path)
	// What env recorded stands for the plan that the runs were made with.
	vet := &driver.Result{Root: rec.Root, Findings: rec.Findings, Ignores: rec.Ignores}
	d := &testrun.Done{Built: &testrun.Built{
		Planned: &planner.Planned{Vet: vet, Module: ws.Module, Plan: rec.Plan}, Workspace: ws,
	}}
	if d.Result, err = campaign.Gather(campaign.Config{Workspace: ws, Plan: rec.Plan},
		filepath.Join(dir, evidenceName)); err != nil {
		return c.failed(err)
	}
	if d.Result.Runs == 0 {
		c.warn("no monitored process has left evidence in " + dir)
	}
	r := c.newReport("report", rec.Root)
	c.warn((&testrun.Results{Done: d, Suspected: o.suspected, Runs: d.Result.Runs}).Fill(r)...)
	if err := o.apply(c, r, vet); err != nil {
		return c.failed(err)
	}
	return c.finish(r, o.reportFlags, &o.acceptFlags, false)
}

func readRecord(dir string) (*recorded, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is no folder of `interlock env`", dir)
	}
	rec := new(recorded)
	if err == nil {
		err = json.Unmarshal(data, rec)
	}
	if err == nil && rec.Plan == nil {
		err = errors.New("it has no plan")
	}
	if err == nil {
		err = rec.Plan.Validate()
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w; run `interlock env` again", filepath.Join(dir, recordName), err)
	}
	return rec, nil
}
