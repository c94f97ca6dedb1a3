package house

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// straight are packages in which data and calls go one way from file to file.
var straight = []string{"./cmd/internal/cli", "./dynamic/campaign", "./dynamic/campaign/arm",
	"./dynamic/campaign/judge", "./dynamic/campaign/run"}

func TestNoFilesInACircle(t *testing.T) {
	circles, err := Circles(root, straight...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range circles {
		t.Errorf("these files use each other in a circle: %v", c)
	}
}

// A circle is found, of methods too; a chain of files is none.
func TestCircles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26\n",
		"a.go":   "package m\n\ntype T struct{}\n\nfunc (T) A() { b() }\n",
		"b.go":   "package m\n\nfunc b() { c() }\n",
		"c.go":   "package m\n\nfunc c() { T{}.A() }\n",
		"top.go": "package m\n\nfunc Top() { b() }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	circles, err := Circles(dir, "./...")
	if err != nil {
		t.Fatal(err)
	}
	if len(circles) != 1 || !slices.Equal(circles[0].Files, []string{"a.go", "b.go", "c.go"}) {
		t.Errorf("%v, want one circle of a.go, b.go and c.go", circles)
	}
}
