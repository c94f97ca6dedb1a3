// Package exam runs `interlock fix` on bugs of released modules, at the parents of the commits that fixed them, with
// drivers that show them. drawn.json lists the commits and the rule by which they were drawn, the folder cases has the
// drivers. Whether a patch is one that a maintainer would merge is for a reader to judge, beside the fix: the patches
// are kept in a folder. judged.json has such judgements. The folder known has the bugs of docs/patches.md whose patches
// would have been merged, and known.json what became of them.
package exam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// exam holds the flags.
type exam struct {
	*matrix.Tool
	interlock, mirror, out, cases string
	limit                         time.Duration
}

// answer is the result for one bug.
type answer struct {
	*bug
	findings []*finding.Finding
	exit     int // -1: ended by the limit
	usage    command.Usage
}

// Run measures, and prints the table of the bugs. It always reports that the bars are held: they need a reader.
func Run(ctx context.Context, args []string) (bool, error) {
	e := &exam{Tool: matrix.New("exam")}
	e.Flags.StringVar(&e.interlock, "interlock", "bin/interlock", "the `binary`")
	e.Flags.StringVar(&e.mirror, "mirror", "", "the `folder` with bare copies of the repositories, named owner+name")
	e.Flags.StringVar(&e.out, "out", "", "keep the patches, the findings and each bug's output in this `folder`")
	e.Flags.StringVar(&e.cases, "cases", "cases", "the `folder` of this package that has the bugs: cases or known")
	e.Flags.DurationVar(&e.limit, "limit", 15*time.Minute, "end a case after this `time`")
	return e.Tool.Run(args, func(tmp string) (string, bool, error) {
		markdown, err := e.measure(ctx, tmp, e.Flags.Args())
		return markdown, err == nil, err
	})
}

// measure tries each bug once and returns the document.
func (e *exam) measure(ctx context.Context, tmp string, names []string) (string, error) {
	if e.mirror == "" || e.out == "" {
		return "", errors.New("-mirror and -out name the folders of the repositories and of the results")
	}
	bugs, err := readBugs(e.cases, names)
	if err != nil {
		return "", err
	}
	binary, err := command.Interlock(e.interlock)
	if err != nil {
		return "", err
	}
	var answers []*answer
	for _, b := range bugs {
		a, err := e.try(ctx, b, binary, filepath.Join(tmp, b.name))
		if err != nil {
			return "", fmt.Errorf("%s: %w", b.name, err)
		}
		e.Say("%s: exit code %d, %s, %.0f CPU-s", b.name, a.exit, a.best(), a.usage.CPU.Seconds())
		answers = append(answers, a)
	}
	return document(answers), nil
}

// try runs fix on one bug.
func (e *exam) try(ctx context.Context, b *bug, binary, dir string) (*answer, error) {
	// The module, and the folder for its output.
	out, err := filepath.Abs(filepath.Join(e.out, b.name))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.MkdirAll(out, 0o755)); err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	module, err := b.write(ctx, mirror(e.mirror), dir)
	if err != nil {
		return nil, err
	}
	// As a user runs it, with drafts.
	ctx, cancel := context.WithTimeout(ctx, e.limit)
	defer cancel()
	file := filepath.Join(out, "findings.jsonl")
	cmd := exec.CommandContext(ctx, binary, "fix", "-drafts", "-seed=1", "-o=jsonl:"+file, b.Packages, "--", "-run="+b.Run)
	cmd.Dir = module
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	a := &answer{bug: b}
	a.usage, err = command.Run(cmd)
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return nil, err
	}
	a.exit = cmd.ProcessState.ExitCode()
	if ctx.Err() != nil {
		a.exit = -1
	}
	// Its output, for the reader, and its findings.
	err = errors.Join(os.WriteFile(filepath.Join(out, "patch.diff"), stdout.Bytes(), 0o644),
		os.WriteFile(filepath.Join(out, "stderr.txt"), stderr.Bytes(), 0o644))
	if err != nil {
		return nil, err
	}
	a.findings, err = readFindings(file)
	return a, err
}

// readFindings reads a file of -o jsonl; none is there where the command was ended.
func readFindings(file string) (list []*finding.Finding, err error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for line := range bytes.Lines(data) {
		f := new(finding.Finding)
		if err := json.Unmarshal(line, f); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if f.Code != "" {
			list = append(list, f)
		}
	}
	return list, err
}

// verdicts are those of patches, the best first.
var verdicts = []finding.Verdict{finding.Verified, finding.Manual, finding.Draft, finding.Withheld}

// best returns the best verdict on a confirmed finding; "not confirmed" where there is none.
func (a *answer) best() string {
	best := len(verdicts)
	for _, f := range a.findings {
		if f.Status != finding.Confirmed {
			continue
		}
		verdict := finding.Withheld
		if f.Fix != nil && f.Fix.Diff != "" {
			verdict = f.Fix.Verdict
		}
		best = min(best, slices.Index(verdicts, verdict))
	}
	if best == len(verdicts) {
		return "not confirmed"
	}
	return string(verdicts[best])
}

// document returns the counts by verdict, and a row a bug.
func document(answers []*answer) string {
	var b strings.Builder
	b.WriteString(page.Head("Patches of drawn bugs", "exam",
		" on bugs of released modules, at the parents of their fixes"))
	counts := map[string]int{}
	var rows [][]string
	for _, a := range answers {
		counts[a.best()]++
		var confirmed []string
		for _, f := range a.findings {
			if f.Status == finding.Confirmed {
				confirmed = append(confirmed, string(f.Code))
			}
		}
		slices.Sort(confirmed)
		rows = append(rows, []string{a.name, a.Kind, strings.Join(slices.Compact(confirmed), " "), a.best(),
			fmt.Sprint(a.exit), fmt.Sprintf("%.0f", a.usage.CPU.Seconds()), fmt.Sprintf("%.0f", a.usage.Wall.Seconds())})
	}
	var lines []string
	for _, v := range append(slices.Clone(verdicts), "not confirmed") {
		lines = append(lines, fmt.Sprintf("%s: %d of %d", v, counts[string(v)], len(answers)))
	}
	page.List(&b, append(lines, page.Made()))
	page.Table(&b, "Bugs", []string{"bug", "kind", "confirmed", "best verdict", "exit code", "CPU-s", "s"}, rows)
	return b.String()
}
