package bot

import (
	"encoding/json"
	"regexp"
	"slices"
)

// marker is hidden at the end of each comment and each body of a review. It is all that the bot remembers.
type marker struct {
	Head string   `json:"head,omitempty"` // of a review: its commit
	IDs  []string `json:"ids,omitempty"`  // of the findings
	// Files has a checksum of each file that the findings name: a run that does not show a finding again shows
	// nothing, as long as these are the same.
	Files map[string]string `json:"files,omitempty"`
	Gone  bool              `json:"gone,omitempty"` // an answer: the findings are gone
	// Patches are checksums of the verified patches that the text shows.
	Patches []string `json:"patches,omitempty"`
	Comment int64    `json:"comment,omitempty"` // of an answer: the comment that asked for the patches
	Refused string   `json:"refused,omitempty"` // of an answer: the user, who may not ask for them
}

var markers = regexp.MustCompile(`<!-- interlock (\{[^\n]*\}) -->`)

// maxIDs is how many ids a marker has: all of some text are far fewer, unless a stranger has made them up.
const maxIDs = 1000

// String returns the marker as an HTML comment. JSON writes < and > as escapes, so nothing ends it early.
func (m marker) String() string {
	m.IDs = m.IDs[:min(len(m.IDs), maxIDs)]
	data, err := json.Marshal(m)
	if err != nil { // strings and maps of strings always have a form
		panic(err)
	}
	return "<!-- interlock " + string(data) + " -->"
}

// with returns m with the findings and patches of another marker as well.
func (m marker) with(o marker) marker {
	m.IDs, m.Patches = slices.Concat(m.IDs, o.IDs), slices.Concat(m.Patches, o.Patches)
	return m
}

// markerOf returns the last marker in a text that the bot has posted.
func markerOf(text string) (m marker, ok bool) {
	found := markers.FindAllStringSubmatch(text, -1)
	if len(found) == 0 {
		return marker{}, false
	}
	err := json.Unmarshal([]byte(found[len(found)-1][1]), &m)
	return m, err == nil
}

// ids returns the ids of all findings that were posted, except those of threads that the bot has resolved itself: where
// such a finding comes back, it is posted again.
func (p *Posted) ids() map[string]bool {
	ids := map[string]bool{}
	add := func(text string) {
		m, _ := markerOf(text)
		for _, id := range m.IDs {
			ids[id] = ids[id] || !m.Gone
		}
	}
	for _, body := range p.Bodies {
		add(body)
	}
	for _, t := range p.Threads {
		if !t.ByBot {
			add(t.Body)
		}
	}
	return ids
}

// IsAnswer reports whether a comment of the bot is an answer to a thread about findings that are gone.
func IsAnswer(body string) bool {
	m, ok := markerOf(body)
	return ok && m.Gone
}

// isAnswered reports whether the bot has answered a thread, in it or, where the forge has no replies, by a review.
func (p *Posted) isAnswered(t Thread, m marker) bool {
	return t.Answered || slices.ContainsFunc(p.Bodies, func(body string) bool {
		a, ok := markerOf(body)
		return ok && a.Gone && slices.Equal(a.IDs, m.IDs)
	})
}

// HasReviewed reports whether there is a review of the commit already.
func (p *Posted) HasReviewed(head string) bool {
	return slices.ContainsFunc(p.Bodies, func(body string) bool {
		m, ok := markerOf(body)
		return ok && m.Head == head && !m.Gone
	})
}
