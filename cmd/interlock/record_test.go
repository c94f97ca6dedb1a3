package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

const killed = `
-- go.mod --
module example.com/killed

go 1.24
-- killed.go --
package killed

// Counter counts.
type Counter struct{ n int }

func (c *Counter) Inc() { c.n++ }
-- killed_test.go --
package killed

import (
	"os"
	"testing"
	"time"
)

func TestInc(t *testing.T) {
	starts, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer starts.Close()
	if _, err := starts.WriteString("started\n"); err != nil {
		t.Fatal(err)
	}
	c := new(Counter)
	done := make(chan bool)
	go func() { c.Inc(); done <- true }()
	c.Inc()
	<-done
	time.Sleep(20 * time.Millisecond)
}
`

// A campaign that is killed again and again, at random moments of its runs, is completed by the same command: no
// process that was recorded is run again, and none is missing.
func TestRecordSurvivesKills(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a campaign many times")
	}
	t.Parallel()
	runs, kills := 12, 2
	if os.Getenv("INTERLOCK_TEST_LONG") != "" {
		runs, kills = 40, 20
	}
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(killed)).Files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, starts := filepath.Join(dir, "r.db"), filepath.Join(t.TempDir(), "starts")
	started := func() int {
		text, _ := os.ReadFile(starts)
		return bytes.Count(text, []byte("\n"))
	}
	// The seed is chosen by the first start, and the others take it over.
	start := func() (*exec.Cmd, io.Reader, *bytes.Buffer) {
		cmd := exec.Command(binary, "test", "-engine=watch", fmt.Sprintf("-runs=%d", runs), "-replays=1", "-record="+file)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "XDG_CACHE_HOME="+cache, "STARTS="+starts)
		out := new(bytes.Buffer)
		cmd.Stdout = out
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stderr, out
	}
	before := map[string]string{}
	for i := range kills {
		// A process of the campaign starts once the one before it was recorded.
		already := started()
		cmd, stderr, _ := start()
		said := make(chan []byte, 1)
		go func() { text, _ := io.ReadAll(stderr); said <- text }()
		for started() < already+3 {
			select {
			case text := <-said:
				t.Fatalf("kill %d: the campaign ended before it had started three processes:\n%s", i+1, text)
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		cmd.Process.Kill()
		<-said
		cmd.Wait()
		after := processesIn(t, file)
		for name, ended := range before {
			if after[name] != ended {
				t.Fatalf("kill %d: %s was recorded as of %s, and is now as of %q", i+1, name, ended, after[name])
			}
		}
		before = after
	}
	if len(before) == 0 || len(before) > runs {
		t.Errorf("%d processes were recorded before the last kill, want some, and some left", len(before))
	}
	// The last start completes it, and makes none again.
	cmd, stderr, out := start()
	text, _ := io.ReadAll(stderr)
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("%v, want exit code 1:\n%s%s", err, text, out)
	}
	if want := fmt.Sprintf("1 finding: 1 confirmed in %d runs\n", runs); !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	after := processesIn(t, file)
	for name, ended := range before {
		if after[name] != ended {
			t.Errorf("%s was run again", name)
		}
	}
	for run := 1; run <= runs; run++ {
		if name := fmt.Sprintf("run-%04d-001", run); after[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	shown, err := exec.Command(binary, "campaign", "show", file).CombinedOutput()
	if want := fmt.Sprintf("%d of %d runs", runs, runs); err != nil || bytes.Count(shown, []byte("\n")) != 2 ||
		!bytes.Contains(shown, []byte(want)) || !bytes.Contains(shown, []byte("finished")) {
		t.Errorf("want one campaign with %q and one finding: %v\n%s", want, err, shown)
	}
}

// processesIn returns when each process of a record ended, by its name. Twice the same name is an error.
func processesIn(t *testing.T, file string) map[string]string {
	t.Helper()
	lines, err := exec.Command(binary, "campaign", "export", file).Output()
	if err != nil {
		t.Fatalf("exporting what the kill has left: %v\n%s", err, err.(*exec.ExitError).Stderr)
	}
	all := map[string]string{}
	for line := range bytes.Lines(lines) {
		var row struct {
			Table, Name string
			Ended       json.Number
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		if row.Table != "processes" {
			continue
		}
		if all[row.Name] != "" {
			t.Errorf("%s is there twice", row.Name)
		}
		all[row.Name] = row.Ended.String()
	}
	return all
}
