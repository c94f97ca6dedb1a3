// Package suggest finds the nearest known word to one that is unknown.
package suggest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest returns the candidate that is most like the word, or "" if none is like it: it takes more than two fifths of
// its letters to get there. Of equals the first is returned.
func Nearest(word string, candidates []string) string {
	best, least := "", 0
	for _, c := range candidates {
		d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(c))
		if 5*d <= 2*max(len(word), len(c)) && (best == "" || d < least) {
			best, least = c, d
		}
	}
	return best
}

// Hint returns a question to put behind the word, such as ` (did you mean "check"?)`, or "".
func Hint(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return ` (did you mean "` + n + `"?)`
	}
	return ""
}
