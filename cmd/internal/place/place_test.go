package place

import (
	"testing"

	"github.com/sourcegraph/go-diff/diff"
)

func TestOfDiff(t *testing.T) {
	for text, want := range map[string]int{
		"--- a/x\n+++ b/x\n@@ -1,x +1 @@\n a\n":                3,
		"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ nonsense\n": 6,
		"--- a/x\n":      1,
		"@@ -1 +1 @@\n?": 2,
	} {
		_, err := diff.ParseMultiFileDiff([]byte(text))
		if err == nil {
			t.Logf("%q is read", text) // what the library bears needs no place
			continue
		}
		if got, fault := OfDiff([]byte(text), err); got != want || fault == nil {
			t.Errorf("%q: line %d, want %d: %v", text, got, want, err)
		}
	}
}

func TestAt(t *testing.T) {
	for offset, want := range map[int64][2]int{
		-1: {1, 1}, 0: {1, 1}, 1: {1, 1}, 2: {1, 2}, 3: {2, 1}, 4: {2, 1}, 99: {2, 2},
	} {
		if line, column := At([]byte("ab\ncd"), offset); line != want[0] || column != want[1] {
			t.Errorf("offset %d: line %d, column %d, want %v", offset, line, column, want)
		}
	}
}
