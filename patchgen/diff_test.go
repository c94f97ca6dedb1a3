package patchgen

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/patchgen/internal/source"
)

// TestDiffRandom has git apply the diff of random edits, line ends at the end
// of the file missing or not.
func TestDiffRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() []string {
		var out []string
		for range r.IntN(40) {
			out = append(out, string(rune('a'+r.IntN(6))))
		}
		return out
	}
	for range 40 {
		a := text()
		b := slices.Clone(a)
		for range 1 + r.IntN(4) {
			if at := r.IntN(len(b) + 1); r.IntN(2) == 0 || at == len(b) {
				b = slices.Insert(b, at, "new")
			} else {
				b = slices.Delete(b, at, at+1)
			}
		}
		m := &source.Module{Files: map[string]*source.File{"f": {Source: join2(a, r.IntN(3) > 0)}}}
		files := map[string][]byte{"f": join2(b, r.IntN(3) > 0)}
		if len(m.Files["f"].Source) == 0 || len(files["f"]) == 0 {
			continue // git takes an empty side for a new or deleted file
		}
		diff, err := Diff(m.Old(files), files)
		if err != nil {
			t.Fatal(err)
		}
		if diff != "" {
			checkApplies(t, &Module{Module: m}, diff, files)
		}
	}
}

func join2(lines []string, newline bool) []byte {
	s := strings.Join(lines, "\n")
	if newline && s != "" {
		s += "\n"
	}
	return []byte(s)
}

func ExampleDiff() {
	diff, err := Diff(map[string][]byte{"a.go": []byte("package a\n")}, map[string][]byte{"a.go": []byte("package b\n")})
	fmt.Print(diff, err)
	// Output:
	// --- a/a.go
	// +++ b/a.go
	// @@ -1,1 +1,1 @@
	// -package a
	// +package b
	// <nil>
}
