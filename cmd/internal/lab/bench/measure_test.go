package bench

import (
	"strings"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/matrix"
)

// A variant that could not be measured shows as such, not as no overhead.
func TestTableShowsWhatIsMissing(t *testing.T) {
	r := matrix.Figures{}
	r.Add("Tree", "plain", 100)
	r.Add("Tree", "watch", 0.25)
	d := &document{
		variants: []*variant{{name: "plain"}, {name: "watch"}, {name: "-race", skipped: "no C compiler"}}, times: r,
		rounds: 1, benchtime: "1s",
	}
	got := d.markdown()
	for _, want := range []string{
		"| Tree | 100 | 0.25 (0.25 to 0.25) | - |", "not measured: no C compiler", "| **median** |  | **0.25** | - |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the table lacks %q:\n%s", want, got)
		}
	}
}
