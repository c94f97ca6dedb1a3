package sampling

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/exact"
	"github.com/interlock-go/interlock/cmd/internal/lab/internal/page"
)

// The accesses that SOS and LIS leave out do not depend on the machine: they are counted, in a build of the
// engine that counts accesses where it is called.

// counting is the file that such a build has beside the engine's.
//
//go:embed count.go.txt
var counting string

// callsOfCounting are the places of the engine at which the build counts, by file: the text, and its replacement.
var callsOfCounting = map[string][][2]string{
	"hooks.go": {
		{"func raceread(addr uintptr) {\n\tgp := getg()\n", "$\thbCount(gp, addr, hbRead)\n"},
		{"func racewrite(addr uintptr) {\n\tgp := getg()\n", "$\thbCount(gp, addr, hbWrite)\n"},
		{"hbRead1(addr, hbPlace{pc: sys.GetCallerPC()})", "hbReadCounted(addr, hbPlace{pc: sys.GetCallerPC()})"},
		{"hbWrite1(addr, hbPlace{pc: sys.GetCallerPC()})", "hbWriteCounted(addr, hbPlace{pc: sys.GetCallerPC()})"},
		{"func hbRead1(addr uintptr, at hbPlace) {\n", "$\thbCount(getg(), addr, hbRead)\n" +
			"\thbReadCounted(addr, at)\n}\n\n//go:nosplit\nfunc hbReadCounted(addr uintptr, at hbPlace) {\n"},
		{"func hbWrite1(addr uintptr, at hbPlace) {\n", "$\thbCount(getg(), addr, hbWrite)\n" +
			"\thbWriteCounted(addr, at)\n}\n\n//go:nosplit\nfunc hbWriteCounted(addr uintptr, at hbPlace) {\n"},
		{"func hbRange(addr, size uintptr, kind hbKind, at hbPlace) {\n", "$\thbCountRange(getg(), addr, size, kind)\n"},
		{"\t\thbSetOwner(uintptr(p), size)\n", "$\t\thbUnsee(uintptr(p), size)\n"},
		{"func racefini() {\n", "$\thbPrintCounts()\n"},
	},
	"stationary.go": {{"func hbReserveOwners() {\n", "$\thbReserveSeen()\n"}},
}

// counts are the accesses of one program: reads first, then writes.
type counts struct {
	all, recorded, inLoop [2]int
	granules, shared      int
}

// runCounts builds the programs, counts their accesses and writes the document.
func runCounts(ctx context.Context, tmp, benchtime, out string) error {
	c, err := buildCounting(ctx, filepath.Join("testdata", "bench"), tmp)
	if err != nil {
		return err
	}
	all, err := c.countAll(ctx, benchtime)
	if err != nil {
		return err
	}
	return page.Write(out, countDocument(all, benchtime))
}

// buildCounting builds the tests of dir under an engine that counts.
func buildCounting(ctx context.Context, dir, tmp string) (c corpus, err error) {
	if c.dir, err = filepath.Abs(dir); err != nil {
		return c, err
	}
	for _, folder := range []string{"engine", "loops"} {
		if err := os.MkdirAll(filepath.Join(tmp, folder), 0o755); err != nil {
			return c, err
		}
	}
	counted, err := exact.CountLoops(c.dir, filepath.Join(tmp, "loops"))
	if err != nil {
		return c, err
	}
	flags, err := exact.Flags(ctx, filepath.Join(tmp, "engine"), counted)
	if err == nil {
		err = addCounting(filepath.Join(tmp, "engine"))
	}
	if err != nil {
		return c, err
	}
	fmt.Fprintf(os.Stderr, "sampling: building %s, and the standard library under an engine that counts\n", dir)
	c.counted = filepath.Join(tmp, "counted.test")
	_, err = command.Go(ctx, c.dir, []string{"CGO_ENABLED=0"},
		slices.Concat([]string{"test", "-c", "-vet=off", "-o", c.counted}, flags, []string{"."})...)
	return c, err
}

// addCounting changes the engine of an overlay in dir to one that counts.
func addCounting(dir string) error {
	overlay := filepath.Join(dir, "overlay.json")
	var replaced struct{ Replace map[string]string }
	text, err := os.ReadFile(overlay)
	if err == nil {
		err = json.Unmarshal(text, &replaced)
	}
	if err != nil {
		return err
	}
	// The calls go into the engine's files, and beside one of these the file that they call.
	runtime := ""
	for original, stand := range replaced.Replace {
		for name, calls := range callsOfCounting {
			if stand == "" || !strings.HasSuffix(filepath.Base(stand), name) {
				continue
			}
			if err := addCalls(stand, calls); err != nil {
				return err
			}
			runtime = filepath.Dir(original)
		}
	}
	file := filepath.Join(dir, "zcount.go")
	replaced.Replace[filepath.Join(runtime, "zinterlock_count.go")] = file
	_, body, _ := strings.Cut(counting, "\n")
	if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
		return err
	}
	if text, err = json.Marshal(replaced); err == nil {
		err = os.WriteFile(overlay, text, 0o644)
	}
	return err
}

// addCalls has a file of the engine count.
func addCalls(file string, calls [][2]string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	changed, err := withCalls(string(text), calls)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(file), err)
	}
	return os.WriteFile(file, []byte(changed), 0o644)
}

// withCalls returns the text of a file of the engine with a counting call at each place.
func withCalls(text string, calls [][2]string) (string, error) {
	for _, c := range calls {
		if !strings.Contains(text, c[0]) {
			return "", fmt.Errorf("the engine has no %q any more: correct the places where it is counted", c[0])
		}
		text = strings.ReplaceAll(text, c[0], strings.Replace(c[1], "$", c[0], 1))
	}
	return text, nil
}

var benchmarkName = regexp.MustCompile(`(?m)^Benchmark(\w+)$`)

// countAll runs each program of c in a process of its own, and returns its counts.
func (c corpus) countAll(ctx context.Context, benchtime string) (map[string]counts, error) {
	out, err := c.runBinary(ctx, c.counted, nil, "-test.list=^Benchmark")
	if err != nil {
		return nil, err
	}
	all := map[string]counts{}
	for _, m := range benchmarkName.FindAllStringSubmatch(out, -1) {
		fmt.Fprintf(os.Stderr, "sampling: counting the accesses of %s\n", m[1])
		out, err := c.runBinary(ctx, c.counted, []string{"INTERLOCK_HB_SAMPLE=sos,lis"},
			"-test.run=^$", "-test.bench=^Benchmark"+m[1]+"$", "-test.benchtime="+benchtime)
		if err != nil {
			return nil, err
		}
		if all[m[1]], err = readCounts(out); err != nil {
			return nil, fmt.Errorf("%s: %w: %.500s", m[1], err, out)
		}
	}
	return all, nil
}

// readCounts reads the counts that a process has printed at its end.
func readCounts(out string) (n counts, err error) {
	_, line, _ := strings.Cut(out, "interlock-counts ")
	_, err = fmt.Sscan(line, &n.all[0], &n.all[1], &n.recorded[0], &n.recorded[1], &n.inLoop[0], &n.inLoop[1], &n.granules,
		&n.shared)
	if err != nil {
		err = fmt.Errorf("reading the counts: %w", err)
	}
	return n, err
}

func percent(part, of int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(of, 1)))
}

// countDocument returns the tables of the thesis that are counts.
func countDocument(all map[string]counts, benchtime string) string {
	var b strings.Builder
	b.WriteString(page.Head("What SOS and LIS leave out", "sampling", fmt.Sprintf(`: accesses of the programs of
testdata/bench, and of the standard library in them, each for %s, of memory that goroutines may share. A granule is 8
bytes, from its allocation on. Loops are those of testdata/bench alone, with all that is called in them. These are
Tables 2.3 and 2.4 and Figures 2.1, 2.2 and 3.1 of Li's thesis (2012) for Go.`, benchtime)))
	var granules, accesses, loops [][]string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		n := all[name]
		granules = append(granules, []string{
			name, fmt.Sprint(n.granules), fmt.Sprint(n.granules - n.shared), fmt.Sprint(n.shared), percent(n.shared, n.granules),
		})
		accesses = append(accesses, []string{
			name, fmt.Sprint(n.all[0]), percent(n.recorded[0], n.all[0]), fmt.Sprint(n.all[1]), percent(n.recorded[1], n.all[1]),
			percent(n.recorded[0]+n.recorded[1], n.all[0]+n.all[1]),
		})
		loops = append(loops, []string{
			name, percent(n.inLoop[0], n.all[0]), percent(n.inLoop[1], n.all[1]),
			percent(n.all[0]+n.all[1]-n.inLoop[0]-n.inLoop[1], n.all[0]+n.all[1]),
		})
	}
	page.Table(&b, "Granules (Table 2.3, Figure 2.1)",
		[]string{"program", "all", "stationary", "non-stationary", "share"}, granules)
	page.Table(&b, "Accesses that SOS records (Table 2.4, Figure 2.2)",
		[]string{"program", "reads", "of these recorded", "writes", "of these recorded", "of all recorded"}, accesses)
	page.Table(&b, "Accesses in loops (Figure 3.1)",
		[]string{"program", "reads in loops", "writes in loops", "accesses left"}, loops)
	return b.String()
}
