package finding

// Weight is how much a doubt counts, when one draft is chosen among several.
type Weight string

const (
	// Light: the possible harm costs time, or concerns code outside of the module.
	Light Weight = "light"
	// Heavy: if the assumption is false, goroutines race or wait for ever with the patch.
	Heavy Weight = "heavy"
)

// Doubt is an obligation of a patch that could not be shown, and is not known to fail either.
type Doubt struct {
	Obligation string `json:"obligation"`     // such as "waits" or "covered"
	File       string `json:"file,omitempty"` // with the patch; slash path relative to the module's root
	Line       int    `json:"line,omitempty"`
	Weight     Weight `json:"weight"`
	Text       string `json:"text"` // a sentence, which names the place and the consequence if it is so
}

// CompareDoubts orders lists of doubts: the one with fewer heavy ones first, then the one with fewer.
func CompareDoubts(a, b []Doubt) int {
	heavy := func(list []Doubt) (n int) {
		for _, d := range list {
			if d.Weight == Heavy {
				n++
			}
		}
		return n
	}
	if n := heavy(a) - heavy(b); n != 0 {
		return n
	}
	return len(a) - len(b)
}
