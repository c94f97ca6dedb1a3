package hb

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// step is an operation of a random program of testdata/stationary.
type step struct {
	goroutine int
	what      string
	on, field int
}

// randomPrograms returns so many programs of so many operations each.
func randomPrograms(seed uint64, programs, operations int) [][]step {
	random := rand.New(rand.NewPCG(seed, 0))
	what := []string{
		"new", "release", "release", "acquire", "acquire", "write", "write", "write", "read", "read", "read",
		"writeAll", "readAll", "add", "count",
	}
	all := make([][]step, programs)
	for i := range all {
		for range operations {
			all[i] = append(all[i], step{random.IntN(3), what[random.IntN(len(what))], random.IntN(2), random.IntN(5)})
		}
	}
	return all
}

// access is an operation of a program by their numbers.
type access struct{ program, operation int }

// reportsOf runs the programs, and returns what each operation that is reported races with: "write" or "read".
func reportsOf(t *testing.T, binary string, programs [][]step, s Sampling) map[access]string {
	t.Helper()
	var script strings.Builder
	for i, operations := range programs {
		for k, o := range operations {
			fmt.Fprintln(&script, i, k, o.goroutine, o.what, o.on, o.field)
		}
	}
	cmd := exec.Command(binary)
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = append(append(os.Environ(), "INTERLOCK_OUT=", "INTERLOCK_HB=repeats"), s.Env()...)
	out, err := cmd.CombinedOutput()
	if n := strings.Count(string(out), "operation -1 -1\n"); n != len(programs) {
		t.Fatalf("%v: %d programs ended, want %d: %v\n%s", s, n, len(programs), err, out[max(0, len(out)-2000):])
	}
	reports := map[access]string{}
	for _, part := range strings.Split(string(out), "operation ")[1:] {
		var a access
		if _, err := fmt.Sscan(part, &a.program, &a.operation); err != nil {
			t.Fatalf("%v: %q", err, part)
		}
		if _, earlier, ok := strings.Cut(part, "\nPrevious "); ok {
			kind, _, _ := strings.Cut(strings.TrimPrefix(earlier, "atomic "), " ")
			reports[a] = kind
		}
	}
	return reports
}

// TestStationary holds -sample=sos to section 2.3.1 of the thesis: of the races that the engine finds, it finds each
// write-write and write-read race, and of the read-write races of a variable it misses the first one at the most.
func TestStationary(t *testing.T) {
	programs := randomPrograms(1, 300, 24)
	binary := build(t, "stationary", "build")
	all := reportsOf(t, binary, programs, Sampling{})
	some := reportsOf(t, binary, programs, Sampling{Stationary: true})

	// An operation races with a write, or with reads of a variable that has raced with reads before or not.
	missed, withWrites := 0, 0
	for i := range programs {
		raced := map[variable]bool{}              // with a read
		known := [3]map[variable]bool{{}, {}, {}} // by goroutine: reported in its present epoch
		wrote := [3]map[variable]bool{{}, {}, {}} // and written: what has read it since then is reported itself
		for k, o := range programs[i] {
			a, v := access{i, k}, o.variable()
			found := some[a] != "" || known[o.goroutine][v] || known[o.goroutine][variable{o.on, whole}]
			switch before := all[a]; {
			case before == "" && some[a] != "":
				t.Errorf("%v races with a %s with SOS alone: %v", o, some[a], programs[i][:k])
			case before == "write":
				if withWrites++; !found {
					t.Errorf("that %v races with a write is missed: %v", o, programs[i][:k])
				}
			case before == "read" && !found && !wrote[o.goroutine][v]:
				if missed++; raced[v] {
					t.Errorf("that %v races with a later read is missed: %v", o, programs[i][:k])
				}
			}
			raced[v] = raced[v] || all[a] == "read" && v.number != whole
			known[o.goroutine][v] = known[o.goroutine][v] || some[a] != ""
			wrote[o.goroutine][v] = wrote[o.goroutine][v] || strings.HasPrefix(o.what, "write")
			switch o.what {
			case "new":
				for _, m := range slices.Concat(known[:], wrote[:], []map[variable]bool{raced}) {
					maps.DeleteFunc(m, func(v variable, _ bool) bool { return v.object == o.on })
				}
			case "release", "add":
				clear(known[o.goroutine])
				clear(wrote[o.goroutine])
			}
		}
	}
	t.Logf("of %d operations that race, %d with writes, %d are missed", len(all), withWrites, missed)
	if missed == 0 || missed > len(all)/4 || withWrites < 1000 {
		t.Errorf("want thousands of races with writes, and some with reads that are missed")
	}
}

// variable is one of an object by its number, or whole for all of them.
type variable struct{ object, number int }

const whole = -1

func (o step) variable() variable {
	switch o.what {
	case "writeAll", "readAll":
		return variable{o.on, whole}
	case "add", "count":
		return variable{o.on, 5}
	}
	return variable{o.on, o.field}
}
