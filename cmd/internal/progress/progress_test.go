package progress

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressInALogIsThrottled(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	if p.terminal {
		t.Fatal("a buffer is taken for a terminal")
	}
	clock := time.Unix(0, 0)
	p.now = func() time.Time { return clock }
	p.last = clock
	for i := range 100 {
		clock = clock.Add(time.Second)
		p.At(i+1, 100, "runs")
		p.Say("not for logs")
	}
	if got := strings.Count(buf.String(), "\n"); got != 10 {
		t.Errorf("%d lines in 100 s, want one each 10 s:\n%s", got, buf.String())
	}
	if !strings.HasSuffix(buf.String(), "interlock: 100 of 100 runs\n") || strings.Contains(buf.String(), "\r") {
		t.Errorf("got %q", buf.String())
	}
}

// What stands still is said less often.
func TestProgressThatStandsStill(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	clock := time.Unix(0, 0)
	p.now, p.last = func() time.Time { return clock }, clock
	for range 130 {
		clock = clock.Add(time.Second)
		p.At(1, 2, "runs")
	}
	if got := strings.Count(buf.String(), "\n"); got != 3 {
		t.Errorf("%d lines in 130 s, want three, after 10, 70 and 130 s:\n%s", got, buf.String())
	}
}

func TestProgressOnATerminalLeavesNothingBehind(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	p.terminal = true
	p.At(1, 4, strings.Repeat("long ", 40))
	p.Say("short")
	p.Line("a line that stays")
	p.At(4, 4, "runs")
	p.Clear()
	if got := screen(buf.String()); got != "interlock: a line that stays\n" {
		t.Errorf("the screen shows %q", got)
	}
}

// screen returns what a terminal shows: a carriage return goes back to the
// start of the line. Blanks at the ends of lines do not show.
func screen(s string) string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		var cells []rune
		for part := range strings.SplitSeq(line, "\r") {
			for i, r := range []rune(part) {
				if i < len(cells) {
					cells[i] = r
				} else {
					cells = append(cells, r)
				}
			}
		}
		if len(cells) > 80 {
			return "a line wraps: " + string(cells)
		}
		out = append(out, strings.TrimRight(string(cells), " "))
	}
	return strings.Join(out, "\n")
}

func TestBar(t *testing.T) {
	for _, tt := range []struct {
		done, total int
		want        string
	}{
		{0, 4, "[                    ] 0/4"},
		{1, 4, "[=====               ] 1/4"},
		{9, 4, "[====================] 9/4"},
		{0, 0, "[====================] 0/0"},
	} {
		if got := bar(tt.done, tt.total); got != tt.want {
			t.Errorf("bar(%d, %d) = %q", tt.done, tt.total, got)
		}
	}
}

// Long work says now and then what it is at; short work says nothing.
func TestWorkingSaysWhatItIsAt(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	written := func() string {
		p.mu.Lock()
		defer p.mu.Unlock()
		return buf.String()
	}
	p.Working("short work")()
	if got := written(); got != "" {
		t.Errorf("short work wrote %q", got)
	}
	p.every = time.Millisecond
	done := p.Working("loading the packages")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(written(), "interlock: loading the packages\n"); {
		if time.Now().After(deadline) {
			t.Fatal("long work wrote nothing in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	p.At(2, 7, "packages checked")
	for deadline := time.Now().Add(time.Minute); !strings.Contains(written(), "interlock: 2 of 7 packages checked\n"); {
		if time.Now().After(deadline) {
			t.Fatal("what at said was not written in a minute")
		}
		time.Sleep(time.Millisecond)
	}
	done()
	if before := written(); before != written() {
		t.Error("something was written after the end")
	}
}

// Long work names its current step in a log.
func TestWorkingPassesOnWhatIsSaid(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	p.every = time.Millisecond
	done := p.Working("making patches")
	p.Say("patch 1 of 2: go vet")
	wrote := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Contains(buf.String(), "interlock: patch 1 of 2: go vet\n")
	}
	for end := time.Now().Add(10 * time.Second); !wrote(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no line says what is done: %q", buf.String())
		}
	}
	done()
	p.Say("not for logs")
	time.Sleep(5 * time.Millisecond)
	if strings.Contains(buf.String(), "not for logs") {
		t.Errorf("got %q", buf.String())
	}
}

// Work within other work neither postpones the next line nor ends the lines of the outer one.
func TestWorkingWithinWork(t *testing.T) {
	var buf bytes.Buffer
	p := New(&buf)
	p.every = time.Millisecond
	waitFor := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			p.mu.Lock()
			has := strings.Contains(buf.String(), text)
			p.mu.Unlock()
			if has {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("no %q in a minute", text)
			}
		}
	}
	outer := p.Working("outer")
	waitFor("interlock: outer\n")
	inner := p.Working("inner")
	waitFor("interlock: inner\n")
	inner()
	p.Say("outer again")
	waitFor("interlock: outer again\n")
	outer()
	p.Say("not for logs")
	time.Sleep(10 * time.Millisecond)
	if strings.Contains(buf.String(), "not for logs") {
		t.Errorf("a line came behind the end: %s", buf.String())
	}
}
