package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// progress tells on standard error how far the work is: a bar that is drawn
// over on a terminal, now and then a plain line in a log. Safe for concurrent
// use.
type progress struct {
	w        io.Writer
	terminal bool
	every    time.Duration    // least time between two lines of a log
	now      func() time.Time // the clock

	mu    sync.Mutex
	state string    // guarded by mu; what the program is at, where it is working
	last  time.Time // guarded by mu; of the last line of a log
	drawn int       // guarded by mu; width of the bar on the terminal
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, every: 10 * time.Second, now: time.Now}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		p.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
	}
	p.last = p.now()
	return p
}

// at says that done of total things are done. A log gets at most a line every
// few seconds.
func (p *progress) at(done, total int, what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.draw(bar(done, total) + " " + what)
		return
	}
	p.state = fmt.Sprintf("%d of %d %s", done, total, what)
	p.tick()
}

// tick writes the state to the log, if it is time. requires: mu
func (p *progress) tick() {
	if now := p.now(); now.Sub(p.last) >= p.every {
		p.last = now
		fmt.Fprintf(p.w, "interlock: %s\n", p.state)
	}
}

// working is say for what may take long and reports little on the way: until
// the function that it returns is called, a log gets a line every few seconds,
// with what at has said last. Short work leaves no line.
func (p *progress) working(what string) (done func()) {
	p.say(what)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state, p.last = what, p.now()
	if p.terminal {
		return func() {}
	}
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
	return func() { close(stop); <-ended }
}

// say shows a line that the next call of at replaces; a log does not get it.
func (p *progress) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.terminal {
		p.draw(what)
	}
}

// line writes a line that stays.
func (p *progress) line(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	fmt.Fprintf(p.w, "interlock: "+format+"\n", args...)
}

// clear takes the bar away, so that others may write.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// draw replaces the bar. requires: mu
func (p *progress) draw(s string) {
	if runes := []rune(s); len(runes) > 78 { // a wrapped line could not be drawn over
		s = string(runes[:78])
	}
	pad := max(0, p.drawn-len([]rune(s)))
	fmt.Fprintf(p.w, "\r%s%s", s, strings.Repeat(" ", pad))
	p.drawn = len([]rune(s))
}

// erase removes the bar. requires: mu
func (p *progress) erase() {
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
