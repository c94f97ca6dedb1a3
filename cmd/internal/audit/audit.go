// Package audit keeps an audit in a folder: the results of its runs so far, so that an audit that was interrupted or
// killed goes on where it ended; its reports and patches; and the changes since an earlier audit.
//
// An audit is made in this order:
//
//	Open      the folder, which nobody else writes then
//	Begin     decides which results of an earlier audit still hold
//	Runs      the tests, package by package
//	Patch     tries patches, each by itself
//	Compare   with the audit before
//	Write     the reports
//
// Nothing but the folder is written.
package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
	"github.com/interlock-go/interlock/dynamic/build"
	"github.com/interlock-go/interlock/dynamic/cache"
	"github.com/interlock-go/interlock/dynamic/campaign"
)

// Files of the folder. Patches is a folder of its own, with one file for each cause that has a patch.
const (
	Index    = "index.html"
	Findings = "findings.jsonl"
	SARIF    = "interlock.sarif"
	Summary  = "summary.md"
	Patches  = "patches"
)

// The files that the next start reads. Each is replaced in one step, so that a kill leaves it whole.
const (
	stateFolder = ".state"
	headerFile  = "audit.json"
	earlierFile = "earlier.jsonl"
	fixesFile   = "fixes.json"
	partPattern = "part-*.json"
)

// Audit is an audit in its folder. It is not safe for concurrent use.
type Audit struct {
	Dir   string
	lock  io.Closer
	head  header
	parts []*part
	plain map[string]time.Duration // of the tests of a package without noise, if it is known
	fixes map[string]*finding.Fix  // by groupKey
	// Damaged are sentences on files of the folder that could not be read.
	Damaged []string
}

// header describes the audit that the state belongs to.
type header struct {
	Key      string            `json:"key"` // of the inputs of the audit
	Seed     uint64            `json:"seed"`
	Began    time.Time         `json:"began"`
	Finished bool              `json:"finished"`
	Files    map[string]string `json:"files"` // checksums, by path
	// Before is the audit that this one is compared with, nil if there was none.
	Before *earlier `json:"before,omitempty"`
}

type earlier struct {
	Began    time.Time         `json:"began"`
	Finished bool              `json:"finished"`
	Files    map[string]string `json:"files"`
}

// part is the result of one campaign of one package.
type part struct {
	Package string           `json:"package"`
	Result  *campaign.Result `json:"result"`

	name string
}

// Open opens the folder, which is made if need be, for this process alone. A folder with other contents than an
// audit is refused.
func Open(dir string) (*Audit, error) {
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("-o %s: %w", dir, err)
	}
	own := func(e fs.DirEntry) bool { return slices.Contains([]string{stateFolder, Findings}, e.Name()) }
	if len(names) > 0 && !slices.ContainsFunc(names, own) {
		return nil, fmt.Errorf("-o %s: it is not empty and holds no audit: name a folder of its own", dir)
	}
	a := &Audit{Dir: dir, fixes: map[string]*finding.Fix{}, plain: map[string]time.Duration{}}
	if err := os.MkdirAll(a.state(""), 0o755); err != nil {
		return nil, fmt.Errorf("-o %s: cannot be written: %w", dir, err)
	}
	lock, err := cache.TryLock(a.state(cache.LockName))
	if err != nil {
		return nil, fmt.Errorf("-o %s: another audit writes there, or it cannot be locked: %w", dir, err)
	}
	a.lock = lock
	for _, made := range []string{dir, a.state(""), filepath.Join(dir, Patches)} {
		if err := report.RemoveTorn(made); err != nil {
			return nil, errors.Join(fmt.Errorf("-o %s: %w", dir, err), lock.Close())
		}
	}
	a.read(headerFile, &a.head)
	return a, nil
}

// Close ends the audit's hold on the folder.
func (a *Audit) Close() error { return a.lock.Close() }

// Seed is that of the audit to go on with, 0 if there is none.
func (a *Audit) Seed() uint64 {
	if a.head.Key == "" || a.head.Finished {
		return 0
	}
	return a.head.Seed
}

func (a *Audit) state(name string) string { return filepath.Join(a.Dir, stateFolder, name) }

// read reads a file of the state, if it is there. One that is damaged counts as not there.
func (a *Audit) read(name string, into any) bool {
	data, err := os.ReadFile(a.state(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		a.Damaged = append(a.Damaged, fmt.Sprintf("%s cannot be read, so what it held is done again: %v", a.state(name), err))
	}
	return err == nil
}

func (a *Audit) write(name string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = report.WriteFile(a.state(name), data)
	}
	if err != nil {
		return fmt.Errorf("keeping the state of the audit: %w", err)
	}
	return nil
}

// Inputs are the inputs of an audit: if one differs, it begins anew.
type Inputs struct {
	Key   string
	Files map[string]string // checksums of the sources, by path from the module's root
}

// InputsOf returns those of an audit of the module m; with are the version of the tool, flags and the like.
func InputsOf(m *build.Module, with ...string) Inputs {
	in := Inputs{Files: map[string]string{}}
	for _, p := range m.Packages {
		for name, src := range p.Src {
			in.Files[filepath.ToSlash(m.Rel(name))] = fmt.Sprintf("%x", sha256.Sum256(src))
		}
	}
	for _, name := range []string{"go.mod", "go.sum", "go.work"} { // the versions of its dependencies
		if data, err := os.ReadFile(filepath.Join(m.Root, name)); err == nil {
			in.Files[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		}
	}
	data, _ := json.Marshal(struct { // the keys of a map are sorted
		With  []string
		Files map[string]string
	}{with, in.Files})
	in.Key = fmt.Sprintf("%x", sha256.Sum256(data))
	return in
}

// Begin begins a new audit, or goes on with the one in the folder if that is not finished and was made from the
// same inputs. The findings in the folder are those to compare a new one with.
func (a *Audit) Begin(in Inputs, seed uint64, now time.Time) (resumed bool, err error) {
	if a.head.Key == in.Key && !a.head.Finished {
		return true, a.resume()
	}
	old := a.head
	a.head = header{Key: in.Key, Seed: seed, Began: now.UTC().Truncate(time.Second), Files: in.Files}
	before, err := os.ReadFile(filepath.Join(a.Dir, Findings))
	if err == nil {
		// A report that cannot be read for the comparison is an error now, not after hours of work.
		if _, _, err := report.ReadFindings(filepath.Join(a.Dir, Findings)); err != nil {
			a.head = old
			return false, fmt.Errorf("comparing with the audit before: %w; take that file back, or remove it to compare with "+
				"nothing", err)
		}
		if err = a.compareWith(&old, before); err != nil {
			return false, fmt.Errorf("beginning the audit: %w", err)
		}
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	// The old header is removed last, and the new one is written first: after a kill in between no part of the old
	// audit is taken for one of the new.
	parts, globbed := filepath.Glob(a.state(partPattern))
	err = errors.Join(err, globbed)
	for _, name := range append(parts, a.state(fixesFile)) {
		if gone := os.Remove(name); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	if err != nil {
		return false, fmt.Errorf("beginning the audit: %w", err)
	}
	return false, a.write(headerFile, &a.head)
}

// compareWith keeps the findings that the new audit is compared with: those in the folder, of the audit old. They are
// the findings that old was to be compared with if old ended before it wrote any, or if it was never finished and the
// one before it was.
func (a *Audit) compareWith(old *header, findings []byte) error {
	if old.Before != nil && !old.Finished {
		kept, err := os.ReadFile(a.state(earlierFile))
		if err == nil && (old.Before.Finished || bytes.Equal(kept, findings)) {
			a.head.Before = old.Before
			return nil
		}
	}
	a.head.Before = &earlier{old.Began, old.Finished, old.Files}
	return report.WriteFile(a.state(earlierFile), findings)
}

// resume reads the results of the audit in the folder.
func (a *Audit) resume() error {
	names, err := filepath.Glob(a.state(partPattern))
	if err != nil {
		return fmt.Errorf("going on with the audit: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		p := &part{name: filepath.Base(name)}
		if a.read(p.name, p) && p.Result != nil {
			a.parts = append(a.parts, p)
		}
	}
	a.read(fixesFile, &a.fixes)
	return nil
}

// nextPart returns the name of a new part, which comes behind all others.
func (a *Audit) nextPart() string {
	n := 0
	if len(a.parts) > 0 {
		fmt.Sscanf(a.parts[len(a.parts)-1].name, strings.Replace(partPattern, "*", "%d", 1), &n)
	}
	return fmt.Sprintf("part-%06d.json", n+1)
}

// Finish marks the audit as finished: the next one begins anew, and is compared with it.
func (a *Audit) Finish() error {
	a.head.Finished = true
	return a.write(headerFile, &a.head)
}
