package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// Left is a finding of which nothing is applied, with the reason.
type Left struct {
	Finding *finding.Finding
	Reason  string
}

// Patchsum returns the checksum by which the marker of a comment names a patch.
func Patchsum(f *finding.Finding) string {
	sum := sha256.Sum256([]byte(f.Fix.Diff))
	return hex.EncodeToString(sum[:16])
}

// shownBy returns the checksum of the verified patch that the text on a cause shows, if there is one.
func shownBy(file *File, c cause) []string {
	if unfit(file, c[0]) != "" {
		return nil
	}
	return []string{Patchsum(c[0])}
}

// unfit returns the reason why the bot does not commit the patch of f; "" if it may.
func unfit(file *File, f *finding.Finding) string {
	switch {
	case f.Fix == nil || f.Fix.Diff == "":
		return "it has no patch"
	case f.Fix.Verdict == finding.Draft:
		return "its patch is a draft, whose doubts are for a reader to settle"
	case !isVerified(f):
		return "its patch is not verified, or too long to be read in a comment"
	case patchOf(file, f) == nil:
		return "its patch changes other files than Go source, which the bot never does"
	}
	return ""
}

// Named returns the findings that open comments and reviews of the bot name, one for each cause: those with a verified
// patch that they show, and the others with the reason. A comment that somebody has resolved names nothing.
func Named(file *File, p *Posted) (named []*finding.Finding, left []Left) {
	ids, patches := p.open()
	for _, group := range finding.Causes(file.Findings) {
		c := cause(slices.DeleteFunc(group, func(f *finding.Finding) bool {
			return !slices.ContainsFunc(idsOf(f), func(id string) bool { return ids[id] })
		}))
		if len(c) == 0 {
			continue
		}
		shown := slices.IndexFunc(c, func(f *finding.Finding) bool {
			return unfit(file, f) == "" && patches[Patchsum(f)]
		})
		switch reason := unfit(file, c[0]); {
		case shown >= 0:
			named = append(named, c[shown])
		case reason != "":
			left = append(left, Left{c[0], reason})
		default:
			left = append(left, Left{c[0], "its patch is not the one that the review shows"})
		}
	}
	return named, left
}

// New returns the findings with verified patches that the request brings in, one for each cause: those that a review
// would name if there were none yet.
func New(file *File, d Diff) (all []*finding.Finding) {
	for _, c := range choose(file, d, nil) {
		if unfit(file, c[0]) == "" {
			all = append(all, c[0])
		}
	}
	return all
}

// open returns the ids of the findings that the bot has posted, and the checksums of the patches that it has shown,
// except those of resolved threads.
func (p *Posted) open() (ids, patches map[string]bool) {
	ids, patches = map[string]bool{}, map[string]bool{}
	texts := slices.Clone(p.Bodies)
	for _, t := range p.Threads {
		if !t.Resolved {
			texts = append(texts, t.Body)
		}
	}
	for _, text := range texts {
		m, ok := markerOf(text)
		if !ok || m.Gone {
			continue
		}
		for _, id := range m.IDs {
			ids[id] = true
		}
		for _, sum := range m.Patches {
			patches[sum] = true
		}
	}
	return ids, patches
}
