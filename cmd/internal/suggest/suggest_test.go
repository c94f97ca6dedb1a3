package suggest

import "testing"

func TestNearest(t *testing.T) {
	commands := []string{"check", "plan", "test", "fix", "explain"}
	for word, want := range map[string]string{
		"chekc": "check", "Check": "check", "tset": "", "tests": "test", "pan": "plan", "fxi": "", "explian": "explain",
		"zzz": "", "": "",
	} {
		if got := Nearest(word, commands); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
