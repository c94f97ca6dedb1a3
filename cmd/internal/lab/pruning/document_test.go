package pruning

import (
	"strings"
	"testing"
	"time"

	"github.com/interlock-go/interlock/atomicsets"
	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// Each reason has its share, and what the rewriter leaves is not among them.
func TestDocument(t *testing.T) {
	r := &row{subject: subject{"example.com/queue/v2", "v2.1.0", "./..."}, lines: 1000}
	r.modular = figures{
		atomicsets.Stats{
			Sites: 200, Monitored: 150,
			Skipped: []atomicsets.Skipped{{Reason: plan.Fresh, Sites: 40}, {Reason: plan.CgoFile, Sites: 10}},
		},
		3,
		command.Usage{Wall: time.Second, CPU: 2 * time.Second, Megabytes: 100},
	}
	r.whole = figures{
		atomicsets.Stats{
			Sites: 200, Monitored: 50,
			Skipped: []atomicsets.Skipped{{Reason: plan.Fresh, Sites: 40}, {Reason: plan.WholeLocal, Sites: 100}},
		},
		2,
		command.Usage{Wall: time.Minute, CPU: time.Minute, Megabytes: 2000},
	}
	got := document([]*row{r})
	for _, want := range []string{
		"| example.com/queue/v2@v2.1.0 ./... | 1000 | 200 | by package | 150 | 20.0 % | 3 | 1.0 | 2.0 | 100 |",
		"| | | | whole program | 50 | 70.0 % | 2 | 60.0 | 60.0 | 2000 |",
		"| reason | queue/v2 | -whole |",
		"| goroutine-local: no other goroutine of the program can reach it | 0.0 % | 50.0 % |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line %q in\n%s", want, got)
		}
	}
}
