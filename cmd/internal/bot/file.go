package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/cmd/internal/report"
)

// FileVersion is the version of [File]. It is raised when a field changes its meaning.
const FileVersion = 1

// File is the result of the first step, in JSON. The second step takes it for hostile.
type File struct {
	Version int    `json:"version"`
	Base    string `json:"base"` // commit that is compared with
	Head    string `json:"head"` // commit that was analysed and run
	// Module is the folder of the module in the repository, as a slash path; "" is the root.
	Module string `json:"module,omitempty"`
	// Complete reports whether all packages were analysed and all runs ended: only then is a finding gone that
	// is missing.
	Complete bool               `json:"complete"`
	Known    []string           `json:"known"`    // ids of the findings on base, leads too
	Findings []*finding.Finding `json:"findings"` // on head; files are relative to the module
	Tried    *Tried             `json:"tried,omitempty"`
}

// Tried is the trial of several verified patches together.
type Tried struct {
	Patches []string `json:"patches"`          // by their checksums, sorted
	Failed  string   `json:"failed,omitempty"` // the first check that they do not pass; empty if they pass all
}

// Bounds of a file, in bytes and entries. A finding with long stacks has some 100 KB.
const (
	MaxFile     = 32 << 20
	maxFindings = 1000
	maxKnown    = 100_000
	maxPlaces   = 200 // of a finding
)

// ReadFile reads a file. Findings that break their contract, or lie outside of the repository, are left out and
// counted. The files of the others are relative to the repository afterwards.
func ReadFile(r io.Reader) (f *File, leftOut int, err error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, 0, err
	}
	if len(data) > MaxFile {
		return nil, 0, fmt.Errorf("the file of findings has more than %d MB", MaxFile>>20)
	}
	f = new(File)
	if err := json.Unmarshal(data, f); err != nil {
		return nil, 0, fmt.Errorf("the file of findings is not one of `interlock bot find`: %w", err)
	}
	switch {
	case f.Version != FileVersion:
		return nil, 0, fmt.Errorf("the file of findings has version %d, want %d: use one Interlock for both steps",
			f.Version, FileVersion)
	case !isCommit(f.Head) || !isCommit(f.Base):
		return nil, 0, errors.New("the file of findings names no commits")
	case f.Module != "" && !isInside(f.Module):
		return nil, 0, errors.New("the file of findings names a module outside of the repository")
	case len(f.Findings) > maxFindings || len(f.Known) > maxKnown:
		return nil, 0, fmt.Errorf("the file of findings has %d findings and %d known ones, which is too much",
			len(f.Findings), len(f.Known))
	}
	// What is left can be posted.
	all := len(f.Findings)
	f.Findings = slices.DeleteFunc(f.Findings, func(g *finding.Finding) bool { return !f.fit(g) })
	return f, all - len(f.Findings), nil
}

// WriteTrial writes a file that was read from data, with the trial of patches in it. Its findings stay as they are.
func WriteTrial(name string, data []byte, tried *Tried) error {
	f := new(File)
	if err := json.Unmarshal(data, f); err != nil {
		return err
	}
	f.Tried = tried
	return f.Write(name)
}

// Write writes the file. No list is null.
func (f *File) Write(name string) error {
	whole := *f
	whole.Known, whole.Findings = append([]string{}, f.Known...), append([]*finding.Finding{}, f.Findings...)
	data, err := json.MarshalIndent(whole, "", "\t")
	if err != nil {
		return err
	}
	return report.WriteFile(name, append(data, '\n'))
}

// fit reports whether g is a finding in the repository, and names its files from there.
func (f *File) fit(g *finding.Finding) bool {
	if g == nil || g.Validate() != nil || len(g.Accesses)+len(g.Cycle) > maxPlaces || len(g.SameAs) > maxPlaces {
		return false
	}
	if slices.ContainsFunc(g.SameAs, func(id string) bool { return len(id) != len(g.ID) }) {
		return false
	}
	g.RenameFiles(f.inRepository)
	for _, p := range g.Places() {
		if !isInside(p.File) {
			return false
		}
	}
	return true
}

// inRepository returns a file of the module as the repository names it.
func (f *File) inRepository(file string) string {
	if f.Module == "" || filepath.IsAbs(file) {
		return file
	}
	return path.Join(f.Module, file)
}

// isInside reports whether a slash path leads to a file in the repository that a comment may name.
func isInside(file string) bool {
	return file != "" && len(file) <= 1024 && filepath.IsLocal(file) && path.Clean(file) == file &&
		!strings.ContainsAny(file, "\\\x00") && report.Clean(file) == file &&
		!slices.Contains(strings.Split(file, "/"), ".git")
}

// isCommit reports whether s is the name of a commit: 40 or 64 hexadecimal digits.
func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
