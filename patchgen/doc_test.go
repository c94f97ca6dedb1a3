package patchgen

import (
	"os"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/patchgen/internal/strategy"
	"github.com/interlock-go/interlock/patchgen/internal/syncfix"
)

// Every strategy stands in the lists for readers: of this package, of its own, and of docs/patches.md.
func TestStrategiesAreListed(t *testing.T) {
	var all, places []string
	for _, s := range strategy.All {
		all = append(all, s.Name)
	}
	for _, s := range syncfix.All {
		all, places = append(all, s.Name), append(places, s.Name)
	}
	for _, list := range []struct {
		file, begin, end string
		names            []string
	}{
		{"doc.go", "//\t", " ", all},
		{"internal/syncfix/syncfix.go", "//\t", " ", places},
		{"../docs/patches.md", "| `", "` | ", all},
		{"../cmd/internal/report/internal/page/words.go", "\t{Name: \"", "\", Meaning:", all},
	} {
		text, err := os.ReadFile(list.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range list.names {
			if !strings.Contains(string(text), "\n"+list.begin+name+list.end) {
				t.Errorf("%s does not list the strategy %s", list.file, name)
			}
		}
	}
}
