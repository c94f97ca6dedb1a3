package arm

import (
	"errors"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
)

func TestParseHeuristic(t *testing.T) {
	balance := plan.Variable{Package: "m/bank", Type: "Account", Name: "balance"}
	total := plan.Variable{Package: "m/bank", Name: "total"}
	p := &plan.Plan{Sites: []plan.Site{
		{ID: 1, Variable: balance, Decision: plan.Monitor},
		{ID: 2, Variable: total, Decision: plan.Monitor},
		{ID: 3, Variable: balance, Decision: plan.Monitor},
		{ID: 4, Variable: plan.Variable{Package: "m/bank", Name: "skipped"}, Decision: plan.Skip},
	}}
	at := func(place string) ([]uint32, error) {
		if place == "a.go:3" {
			return []uint32{1, 3}, nil
		}
		return nil, errors.New("no such place")
	}
	for text, want := range map[string]string{
		"":                                "",
		"auto":                            "",
		"guided":                          "",
		"random":                          "random",
		"contest":                         "contest",
		"drfinder":                        "drfinder",
		"!drfinder:3":                     "use auto, guided",
		"pct":                             "pct,depth=3",
		"pct:2":                           "pct,depth=2",
		"!pct:0":                          "no depth of bugs",
		"!pct:many":                       "no depth of bugs",
		"variable:Account.balance":        "variable:1",
		"variable:m/bank.Account.balance": "variable:1",
		"variable:Account.balance,total":  "variable:1,2",
		"location:a.go:3":                 "location:1,3",
		"!variable:Account.balanc":        "no monitored variable",
		"!variable:balance":               "there is Account.balance",
		"!variable:skipped":               "no monitored variable",
		"!variable:":                      "no monitored variable",
		"!location:b.go:1":                "no such place",
		"!variable":                       "use auto, guided",
		"!everywhere":                     "use auto, guided, random",
	} {
		in, bad := strings.CutPrefix(text, "!")
		h, err := ParseHeuristic(p, in, at)
		switch {
		case bad && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: got error %v, want %q", in, err, want)
		case !bad && (err != nil || h.Noise != want):
			t.Errorf("%q: got %q, %v, want %q", in, h.Noise, err, want)
		}
	}
}
