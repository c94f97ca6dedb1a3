// Package progress shows on standard error how far a command's work is.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Reporter shows how far the work is: a bar that is drawn over on a terminal, now
// and then a plain line in a log. It is safe for concurrent use.
type Reporter struct {
	w        io.Writer
	terminal bool
	every    time.Duration    // least time between two lines of a log
	now      func() time.Time // the clock

	mu    sync.Mutex
	state string    // guarded by mu; the current work
	wrote string    // guarded by mu; the last line of a log
	last  time.Time // guarded by mu; of that line
	drawn int       // guarded by mu; width of the bar on the terminal
	works bool      // guarded by mu; between an outermost call of Working and its end
}

// New returns a reporter that writes to w.
func New(w io.Writer) *Reporter {
	p := &Reporter{w: w, every: 10 * time.Second, now: time.Now}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	p.last = p.now()
	return p
}

// At shows that done of total things are done. A log gets at most a line every
// few seconds.
func (p *Reporter) At(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.draw(bar(done, total) + " " + what)
		return
	}
	p.state = fmt.Sprintf("%d of %d %s", done, total, what)
	p.tick()
}

// tick writes the state to the log, if it is time: a state that has not changed waits six times as long. requires: mu
func (p *Reporter) tick() {
	wait := p.every
	if p.state == p.wrote {
		wait *= 6
	}
	if now := p.now(); now.Sub(p.last) >= wait {
		p.last, p.wrote = now, p.state
		fmt.Fprintf(p.w, "interlock: %s\n", p.state)
	}
}

// Working is [Reporter.Say] for long work that reports little on the way: until the
// function that it returns is called, a log gets a line every few seconds, with the
// last text of At or Say. Short work leaves no line. A call within other work names only the step.
func (p *Reporter) Working(what string) (done func()) {
	p.Say(what)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = what
	if p.works || p.terminal {
		return func() {}
	}
	p.works, p.last = true, p.now()
	// The log is written to from time to time until the work is done.
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			case <-time.After(p.every):
				p.mu.Lock()
				p.tick()
				p.mu.Unlock()
			}
		}
	}()
	return func() {
		close(stop)
		<-ended
		p.mu.Lock()
		p.works = false
		p.mu.Unlock()
	}
}

// Say shows a line that the next call of At replaces. A log gets it only within [Reporter.Working], if that takes long.
func (p *Reporter) Say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.terminal:
		p.draw(what)
	case p.works:
		p.state = what
	}
}

// Line writes a line that stays.
func (p *Reporter) Line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintf(p.w, "interlock: "+format+"\n", args...)
}

// Clear removes the bar, so that others may write.
func (p *Reporter) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// draw replaces the bar. requires: mu
func (p *Reporter) draw(s string) {
	if runes := []rune(s); len(runes) > 78 { // a wrapped line could not be drawn over
		s = string(runes[:78])
	}
	pad := max(0, p.drawn-len([]rune(s)))
	fmt.Fprintf(p.w, "\r%s%s", s, strings.Repeat(" ", pad))
	p.drawn = len([]rune(s))
}

// erase removes the bar. requires: mu
func (p *Reporter) erase() {
	if p.drawn > 0 {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", p.drawn))
		p.drawn = 0
	}
}

func bar(done, total int) string {
	const width = 20
	filled := width
	if total > 0 {
		filled = min(width, done*width/total)
	}
	return fmt.Sprintf("[%s%s] %d/%d", strings.Repeat("=", filled), strings.Repeat(" ", width-filled), done, total)
}

// Count returns n with the noun in the right number: "1 finding", "2 findings".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
