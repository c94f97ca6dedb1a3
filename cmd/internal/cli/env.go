package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/accept"
	"github.com/interlock-go/interlock/cmd/internal/driver"
	"github.com/interlock-go/interlock/cmd/internal/planner"
	"github.com/interlock-go/interlock/cmd/internal/testrun"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/campaign"
	"github.com/interlock-go/interlock/dynamic/campaign/arm"
	"github.com/interlock-go/interlock/dynamic/gocmd"
)

var envCommand = command{
	name: "env", args: "[flags] [packages]", short: "print what to export so that any go command builds monitored " +
		"programs",
	long: `Env prepares an instrumented build that lasts, and prints shell commands that export the variables
with which go test, go run, go build, or a Makefile that calls them, build and run it in this module:
GOFLAGS and GOWORK for the go command, INTERLOCK_... for the monitor. In a shell that has them, every
process of a monitored program appends to one evidence file; "interlock report" prints the findings.

With -cover, covered packages are monitored too; percentages and profiles stay those of the plain program.

Files that change after env are not in its build: run it again. The build is kept in the cache, or in the
folder that -dir names. A build in the cache is removed 14 days after it was last written to.

With -production, and -agent or -signal if wanted, the variables are those for programs with the race watch that
"interlock help build" describes: the packages are the programs, and no file is rewritten.`,
	examples: [][2]string{
		{`eval "$(interlock env ./...)" && make test; interlock report`, "the tests as the Makefile runs them"},
		{`(eval "$(interlock env ./...)" && go run ./cmd/server); interlock report <folder>`,
			"a program; env prints the folder"},
		{`(eval "$(interlock env -production ./cmd/server)" && make server)`, "a race watch, as the Makefile builds it"},
	},
	options: func() runner { return new(exportOptions) },
}

type envOptions struct {
	planFlags
	folder   string
	strength int
}

func (o *envOptions) declare(fs *flag.FlagSet) {
	o.declareDeps(fs)
	fs.StringVar(&o.folder, "dir", "", "lay the build out in this empty `folder`")
	declareStrength(fs, &o.strength)
}

// exportOptions are the flags of env itself; run and build have those of envOptions.
type exportOptions struct {
	envOptions
	productionFlags
}

func (o *exportOptions) declare(fs *flag.FlagSet) {
	o.envOptions.declare(fs)
	o.declareProduction(fs)
}

func (o *exportOptions) run(c *call) int {
	if o.production {
		return o.exportProduction(c, o.folder)
	}
	if name := o.unused(); name != "" {
		return c.usage("%s is for a race watch: add -production", name)
	}
	return o.export(c)
}

// recorded is the file recordName in the folder of an env, which report reads.
type recorded struct {
	Root     string             `json:"root"`
	Path     string             `json:"path"`
	Findings []*finding.Finding `json:"findings"`
	Beside   []*finding.Finding `json:"beside,omitempty"` // as in [planner.Planned]
	Ignores  []accept.Ignore    `json:"ignores,omitempty"`
	Plan     *plan.Plan         `json:"plan"`
	// Locks are the uses of locks, by which deadlocks are named.
	Locks map[uint64]campaign.LockUse `json:"locks,omitempty"`
}

// Files of an env.
const (
	recordName   = "interlock.json"
	evidenceName = "evidence.jsonl"
	sitesName    = "sites.txt"
)

// export lays an instrumented build out and prints its variables.
func (o *envOptions) export(c *call) int {
	m, code := o.prepare(c)
	if m == nil {
		return code
	}
	exportVars(c.stdout, append(m.builds, m.runs...))
	fmt.Fprintf(c.stderr, "interlock: the build is in %s; once monitored programs have run, `interlock report %s` "+
		"prints the findings\n", m.dir, campaign.ShellQuote(m.dir))
	return code
}

// lastingBuild is an instrumented build that lasts: its folder, and the variables for the go command and for programs,
// as name=value.
type lastingBuild struct {
	dir          string
	builds, runs []string
}

// prepare lays an instrumented build out. If it returns no build, the exit code is that of the error; otherwise it is
// exitPartial where something was left out.
func (o *envOptions) prepare(c *call) (*lastingBuild, int) {
	defer c.progress.Clear()
	// The plan, and the rewritten files.
	p, err := o.planner(c)
	if err != nil {
		return nil, c.failed(err)
	}
	pl, err := c.makePlan(p)
	if err != nil {
		c.progress.Clear()
		return nil, c.failed(err)
	}
	// Programs will run where nothing is checked any more.
	if err := pl.ConsultAll(c.ctx); err != nil {
		c.progress.Clear()
		return nil, c.failed(err)
	}
	prepared := c.progress.Working("preparing the instrumented build")
	ws, err := build.PrepareLasting(c.ctx, o.folder, pl.Module, pl.Plan)
	prepared()
	c.progress.Clear()
	if err != nil {
		return nil, c.failed(err)
	}
	defer ws.Close()
	if err := writeRecord(ws.Dir, pl); err != nil {
		return nil, c.failed(err)
	}
	c.warn(pl.Vet.Problems...)
	c.warn(testrun.LeftAlone(ws)...)
	// The environment of the go command and of the monitor.
	builds, covers := ws.CoverEnv()
	if !covers {
		c.warn("with -cover, packages will not be monitored: GOFLAGS holds a -toolexec")
	}
	for i, v := range builds { // results of tests are not to come from a cache, nor is vet to judge rewritten files
		if strings.HasPrefix(v, "GOFLAGS=") {
			builds[i] = v + " -vet=off -count=1"
		}
	}
	builds = append(builds, outerGOFLAGS+"="+os.Getenv("GOFLAGS"), outerGOWORK+"="+os.Getenv("GOWORK"))
	return &lastingBuild{ws.Dir, builds, []string{
		"INTERLOCK_OUT=" + filepath.Join(ws.Dir, evidenceName),
		"INTERLOCK_SITES=" + filepath.Join(ws.Dir, sitesName),
		"INTERLOCK_SECTIONS=" + arm.SectionList(pl.Plan, arm.Sections(pl.Plan, nil), nil),
		fmt.Sprintf("INTERLOCK_NOISE=strength=%d", o.strength),
		"INTERLOCK_ENV=" + ws.Dir,
	}}, c.uncompiled(pl.Uncompiled(), exitClean)
}

// build has the go command build a monitored program.
func (m *lastingBuild) build(c *call, program string, packages []string) error {
	defer c.progress.Working("building the program")()
	args := slices.Concat([]string{"build", "-o", program}, c.buildFlags(), packages)
	cmd := exec.CommandContext(c.ctx, "go", args...)
	cmd.Env = append(os.Environ(), m.builds...)
	out, err := cmd.CombinedOutput()
	c.progress.Clear()
	if err != nil && len(out) > 0 {
		return fmt.Errorf("building the program: %s", strings.TrimRight(string(out), "\n"))
	}
	return err
}

// isProgram returns an error if the package of the call has no main function.
func (m *lastingBuild) isProgram(c *call) error {
	args := slices.Concat([]string{"list", "-f", "{{.Name}}"}, c.buildFlags(), c.packages)
	cmd := exec.CommandContext(c.ctx, "go", args...)
	cmd.Env = append(os.Environ(), m.builds...)
	if out, err := cmd.Output(); err == nil && string(out) != "main\n" {
		return gocmd.Refuse(c.packages[0]+" is no program", "name one package main, such as ./cmd/server")
	}
	return nil // the build will report an error of the go command
}

var buildCommand = command{
	name: "build", args: "[flags] [packages]", short: "build monitored programs",
	long: `Build has the go command build programs with the monitor in them, and prints shell commands that export
the variables which such a program needs: without them it runs unmonitored. Every process appends to one
evidence file; "interlock report" prints the findings. It is env and go build in one step.

With -production nothing is rewritten. The program has a race watch in it, which is off until the variable
INTERLOCK_SAMPLE turns it on, and then takes the share of the processor time that it names (by default 2 %).
It says once on standard error by which means it watches: by debug registers, or where the machine refuses
these, by holding a goroutine at an access for 100 us now and then; where neither can be had, it stays off.
INTERLOCK_SAMPLE=budget=2%,window=15ms,pause=100us,file=NAME,size=8MB are its settings; the file takes the
evidence, which "interlock report FILE" prints. It needs Linux 5.18 or later, amd64, and Go 1.26.

With -agent, the program shows the watch on a page, switches it on and off, and sets its budget: -agent=mux
hangs /debug/interlock/ on http.DefaultServeMux, beside /debug/pprof/, in a program that uses net/http;
-agent=127.0.0.1:6061 opens a listener that this machine alone can reach. No file of yours imports it.
A watch that is switched on after the start works by short pauses. With -signal=SIGUSR2, that signal turns the
watch on and off, with an agent or without; the program no longer gets it.`,
	examples: [][2]string{
		{`interlock build -production -o server ./cmd/server; INTERLOCK_SAMPLE=budget=2% ./server`, "for production"},
		{`interlock build -production -agent=127.0.0.1:6061 -o server ./cmd/server; ./server & ` +
			`curl -X POST http://127.0.0.1:6061/debug/interlock/on`, "switched on later"},
		{`eval "$(interlock build -o server ./cmd/server)"; ./server; interlock report`, "a program, and what it showed"},
	},
	own:     []string{"o"},
	options: func() runner { return new(buildOptions) },
}

type buildOptions struct {
	envOptions
	productionFlags
	output string
}

func (o *buildOptions) declare(fs *flag.FlagSet) {
	o.envOptions.declare(fs)
	fs.StringVar(&o.output, "o", "", "write the program to this `path`, or several programs into this "+
		"folder; always needed")
	o.declareProduction(fs)
}

func (o *buildOptions) run(c *call) int {
	if o.output == "" {
		return c.usage("-o is missing: the path of the program, or a folder for several programs")
	}
	if o.production {
		return o.buildProduction(c, o.output)
	}
	if name := o.unused(); name != "" {
		return c.usage("%s is for a race watch: add -production", name)
	}
	m, code := o.prepare(c)
	if m == nil {
		return code
	}
	if err := m.build(c, o.output, c.packages); err != nil {
		return c.failed(err)
	}
	exportVars(c.stdout, m.runs)
	fmt.Fprintf(c.stderr, "interlock: start %s with these variables; `interlock report %s` prints the "+
		"findings\n", o.output, campaign.ShellQuote(m.dir))
	return code
}

var runCommand = command{
	name: "run", args: "[flags] package [arguments]", short: "run a program under the monitor, and report what it showed",
	long: `Run builds the program in the package with the monitor in it, and runs it with the arguments after the
package. Once it has ended, by itself or by an interrupt such as Ctrl-C, run reports confirmed findings as
test does.
The program's output goes to standard output, or to standard error if -format is not text.

If goroutines wait for each other's locks, a line on standard error says so at once. Interlock ends the program
if function main is among them; otherwise it may go on without them. Goroutines that wait for ever in other
ways are found in tests only. If another module or the standard library ends the program, for example by
log.Fatal, the number of accesses reached is too low. A second interrupt kills the program.`,
	examples: [][2]string{
		{"interlock run ./cmd/server -addr :8080", "a server; interrupt it when it has done some work"},
	},
	program: true,
	fails:   confirmedFails + "; a program that fails by itself, whatever its exit code",
	options: func() runner { return new(runOptions) },
}

type runOptions struct {
	envOptions
	reportOptions
}

func (o *runOptions) declare(fs *flag.FlagSet) {
	o.envOptions.declare(fs)
	o.reportOptions.declare(fs)
	fs.Lookup("dir").Usage = "keep the build and its evidence in this empty `folder`, for interlock report"
}

func (o *runOptions) run(c *call) int {
	if len(c.packages) == 0 {
		return c.usage("name the package of the program, such as `interlock run .`")
	}
	if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
		return c.usageOf(err)
	}
	m, code := o.prepare(c)
	if m == nil {
		return code
	}
	if o.folder == "" {
		defer os.RemoveAll(m.dir)
	}
	program := filepath.Join(m.dir, "program.exe")
	if err := m.isProgram(c); err != nil {
		return c.failed(err)
	}
	if err := m.build(c, program, c.packages); err != nil {
		return c.failed(err)
	}
	failed := o.execute(c, m, program)
	// An interrupt ends the program. Its findings so far are still reported.
	after := *c
	after.ctx = context.WithoutCancel(c.ctx)
	return max(code, o.report(&after, m.dir, failed))
}

// execute runs the program, and reports whether it failed by itself.
func (o *runOptions) execute(c *call, m *lastingBuild, program string) bool {
	cmd := exec.Command(program, c.arguments...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, c.stdout, c.stderr
	cmd.Env = append(append(os.Environ(), m.runs...), fmt.Sprintf("INTERLOCK_PARENT=%d", os.Getpid()))
	if o.format != "text" {
		cmd.Stdout = c.stderr
	}
	err := cmd.Start()
	if err == nil {
		defer killAtSecond(c.ctx, cmd.Process)()
		// A terminal interrupts the program as well. A signal to this process alone is passed on.
		stop := context.AfterFunc(c.ctx, func() {
			if cause := context.Cause(c.ctx); strings.HasPrefix(cause.Error(), syscall.SIGTERM.String()) {
				cmd.Process.Signal(syscall.SIGTERM)
			} else if !term.IsTerminal(int(os.Stdin.Fd())) {
				cmd.Process.Signal(os.Interrupt)
			}
		})
		defer stop()
		err = cmd.Wait()
	}
	if err == nil || c.ctx.Err() != nil {
		return false
	}
	c.warn("the program failed: " + err.Error())
	return true
}

// killAtSecond kills the process at the next interrupt after the one that ended ctx: a program that ignores interrupts
// must not outlive this process. A third interrupt ends this process. Stop is called when the process has ended.
func killAtSecond(ctx context.Context, p *os.Process) (stop func()) {
	ended := make(chan struct{})
	go func() {
		select {
		case <-ended:
			return
		case <-ctx.Done():
		}
		second := make(chan os.Signal, 1)
		signal.Notify(second, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(second)
		select {
		case <-ended:
		case <-second:
			p.Kill()
		}
	}()
	return func() { close(ended) }
}

func writeRecord(dir string, pl *planner.Planned) error {
	data, err := json.Marshal(&recorded{
		pl.Module.Root, pl.Module.Path, pl.Vet.Findings, pl.Beside, pl.Vet.Ignores, pl.Plan,
		campaign.LockUses(pl.Module.Packages),
	})
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
	name: "report", args: "[flags] [folder | files]",
	short: "report what programs built with the variables of env, or for production, have shown",
	long: `Report reads the evidence that monitored programs have left in the folder of "interlock env" (by
default the one that INTERLOCK_ENV names) and reports confirmed findings as test does. Each process
counts as a run. It may be called as often as you like; the evidence stays.

Of files that programs built with -production have written, by any number of instances and builds, it makes
one list. In the folder of their module, variables have their names.`,
	examples: [][2]string{
		{"interlock report", "in a shell that has the variables of env"},
		{"interlock report -o sarif:interlock.sarif <folder>", "elsewhere, and a file for code scanning"},
		{"interlock report host1.jsonl host2.jsonl", "what two instances have seen in production"},
	},
	fails:   confirmedFails,
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
	if areFiles(c.packages) {
		if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
			return c.usageOf(err)
		}
		return reportWatched(c, &o.reportFlags, &o.acceptFlags, c.packages)
	}
	dir := os.Getenv("INTERLOCK_ENV")
	switch {
	case len(c.packages) > 1:
		return c.usage("report takes one folder, or the files that programs built with -production have written")
	case len(c.packages) == 1:
		dir = c.packages[0]
	case dir == "":
		return c.usage("name the folder that `interlock env` has printed, or set INTERLOCK_ENV to it")
	}
	if err := cmp.Or(o.probe(), o.acceptFlags.check(c)); err != nil {
		return c.usageOf(err)
	}
	return o.report(c, dir, false)
}

// report reports on the evidence in the folder of an env. failed says that a program did.
func (o *reportOptions) report(c *call, dir string, failed bool) int {
	rec, err := readRecord(dir)
	if err != nil {
		return c.usage("%v", err)
	}
	ws := build.Reopened(rec.Root, rec.Path)
	// The record of env stands for the plan that the runs were made with.
	vet := &driver.Result{Root: rec.Root, Findings: rec.Findings, Ignores: rec.Ignores}
	d := &testrun.Done{Built: &testrun.Built{
		Planned: &planner.Planned{Vet: vet, Beside: rec.Beside, Module: ws.Module, Plan: rec.Plan}, Workspace: ws,
	}}
	if d.Result, err = campaign.Gather(campaign.Program{Workspace: ws, Plan: rec.Plan}, rec.Locks,
		filepath.Join(dir, evidenceName)); err != nil {
		return c.failed(err)
	}
	if d.Result.Runs == 0 {
		c.warn("no monitored process has left evidence in " + dir)
	}
	r := c.newReport("report", rec.Root, rec.Path)
	if d.Result.Unread != "" { // no findings would be no news
		r.Problems = append(r.Problems, d.Result.Unread)
	}
	c.warn((&testrun.Results{Done: d, Suspected: o.suspected, Runs: d.Result.Runs}).Fill(c.ctx, r)...)
	if err := o.apply(c, r, vet); err != nil {
		return c.failed(err)
	}
	return c.finish(r, o.reportFlags, &o.acceptFlags, failed)
}

func readRecord(dir string) (*recorded, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s is no folder of `interlock env`: name the one that INTERLOCK_ENV names in its shell", dir)
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
