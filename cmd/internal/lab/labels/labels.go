// Package labels holds the verdicts that people came to on reading static findings against the source of the modules,
// and counts them by code. Files beside this one keep them: findings.json the labelled findings, apart.json the
// attempts to tell true ones from false ones by their form, fixes.json the fix commits that were compared.
package labels

import (
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// Verdict is the judgement of a reader.
type Verdict string

// A true finding describes a step that two goroutines can make with nothing to order them; for locks, a wait for ever.
const (
	Harmful Verdict = "harmful" // true, and something goes wrong then
	Benign  Verdict = "benign"  // true, and no outcome is wrong
	Test    Verdict = "test"    // true in a test's own code only
	True    Verdict = "true"    // true; the reader did not judge the harm
	False   Verdict = "false"   // something orders the two, or only one goroutine does it
	Unclear Verdict = "unclear" // an hour of reading did not decide
	Differ  Verdict = "differ"  // two readers came to different verdicts
)

var verdicts = []Verdict{Harmful, Benign, Test, True, False, Unclear, Differ}

// Label is one finding with its verdict.
type Label struct {
	Draw    int     `json:"draw"` // from 1: the element of Labels.Draws that says how the finding came to be read
	Module  string  `json:"module"`
	Code    string  `json:"code"`
	Place   string  `json:"place"`
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why"`
	// Class is that of the finding, where code and place do not show it; see package levels. "lead" is a finding of that
	// status, which has no level, whatever its class.
	Class string `json:"class,omitempty"`
}

// Labels is the file findings.json.
type Labels struct {
	// How each set was chosen and read, and which mends it led to: findings of later draws were printed by checks
	// that had been tuned on the earlier ones.
	Draws    []string `json:"draws"`
	Findings []Label  `json:"findings"`
}

//go:embed findings.json
var findings []byte

// Read returns the labelled findings. An unknown verdict, or a draw that is not there, is an error.
func Read() (*Labels, error) {
	all := new(Labels)
	if err := json.Unmarshal(findings, all); err != nil {
		return nil, fmt.Errorf("findings.json: %w", err)
	}
	for i, f := range all.Findings {
		switch {
		case !slices.Contains(verdicts, f.Verdict):
			return nil, fmt.Errorf("findings.json: finding %d has the verdict %q: want one of %q", i+1, f.Verdict, verdicts)
		case f.Draw < 1 || f.Draw > len(all.Draws):
			return nil, fmt.Errorf("findings.json: finding %d is of draw %d, of %d", i+1, f.Draw, len(all.Draws))
		}
	}
	return all, nil
}

// paths are modules that the labels name in short.
var paths = map[string]string{
	"badger":                           "github.com/dgraph-io/badger/v4@v4.5.0",
	"consul-template v0.39.1":          "github.com/hashicorp/consul-template@v0.39.1",
	"cron":                             "github.com/robfig/cron@v3.0.0-rc1+incompatible",
	"ergo v1.999.310":                  "ergo.services/ergo@v1.999.310",
	"go-redis":                         "github.com/redis/go-redis/v9@v9.7.0",
	"gocbcore v10.8.1":                 "github.com/couchbase/gocbcore/v10@v10.8.1",
	"nats":                             "github.com/nats-io/nats-server/v2@v2.10.22",
	"opcua v0.8.0":                     "github.com/gopcua/opcua@v0.8.0",
	"paho.golang v0.23.0":              "github.com/eclipse/paho.golang@v0.23.0",
	"pulsar-client-go v0.19.0":         "github.com/apache/pulsar-client-go@v0.19.0",
	"rabbitmq-stream-go-client v1.8.3": "github.com/rabbitmq/rabbitmq-stream-go-client@v1.8.3",
	"raft":                             "github.com/hashicorp/raft@v1.7.1",
	"speed v4.0.0":                     "github.com/performancecopilot/speed/v4@v4.0.0",
}

// ModulePath returns the module of the finding as the go command names it, with its version; "" where the label has a
// name alone that is not known.
func (l Label) ModulePath() string {
	if strings.Contains(l.Module, "@") {
		return l.Module
	}
	return paths[l.Module]
}

// Run runs the tool: it prints the number of verdicts by code, of all draws or of one.
func Run(_ context.Context, args []string) (held bool, err error) {
	flags := flag.NewFlagSet("lab labels", flag.ExitOnError)
	draw := flags.Int("draw", 0, "count the findings of draw `number` only, and print how they were drawn")
	classes := flags.String("classes", "", "write the classes of findings with their counts to `file`, for package levels")
	flags.Parse(args)
	all, err := Read()
	if err != nil {
		return false, err
	}
	if *classes != "" {
		return true, all.writeClasses(*classes)
	}
	if *draw < 0 || *draw > len(all.Draws) {
		return false, fmt.Errorf("-draw %d: there are %d draws", *draw, len(all.Draws))
	}
	if *draw > 0 {
		fmt.Println(all.Draws[*draw-1])
	}
	_, err = os.Stdout.WriteString(all.formatTable(*draw))
	return true, err
}

// formatTable counts the verdicts on the findings of a draw, or of all for 0, in a row a code.
func (l *Labels) formatTable(draw int) string {
	counts := map[string]map[Verdict]int{}
	var codes []string
	for _, f := range l.Findings {
		if draw != 0 && f.Draw != draw {
			continue
		}
		if counts[f.Code] == nil {
			counts[f.Code] = map[Verdict]int{}
			codes = append(codes, f.Code)
		}
		counts[f.Code][f.Verdict]++
	}
	slices.Sort(codes)
	columns := []string{"code"}
	for _, v := range verdicts {
		columns = append(columns, string(v))
	}
	var rows [][]string
	for _, code := range codes {
		row := []string{code}
		for _, v := range verdicts {
			row = append(row, fmt.Sprint(counts[code][v]))
		}
		rows = append(rows, row)
	}
	var b strings.Builder
	page.Table(&b, "Verdicts by code", columns, rows)
	return b.String()
}
