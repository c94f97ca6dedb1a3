package locks

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt"
)

// holds is the plan of the run: between which two acquisitions a goroutine is held, until
// others wait for its first lock, and have the second one. Written at start only.
var holds map[[2]uint64]*hold

type hold struct {
	most time.Duration // that it lasts
	left atomic.Int32  // how often it is still to be made
}

// holdsOfPair is how often a process holds a goroutine at one pair of acquisitions.
const holdsOfPair = 3

// readHolds reads "site>site:microseconds,...". It leaves out a part that it cannot read, with a
// line on stderr: the campaign has written it.
func readHolds(text string) {
	holds = map[[2]uint64]*hold{}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		pair, length, _ := strings.Cut(part, ":")
		from, to, _ := strings.Cut(pair, ">")
		a, err1 := strconv.ParseUint(from, 10, 64)
		b, err2 := strconv.ParseUint(to, 10, 64)
		us, err3 := strconv.ParseUint(length, 10, 31)
		if err1 != nil || err2 != nil || err3 != nil {
			rt.Warn("INTERLOCK_HOLD has a bad part " + strconv.Quote(part))
			continue
		}
		h := &hold{most: time.Duration(us) * time.Microsecond}
		h.left.Store(holdsOfPair)
		holds[[2]uint64{a, b}] = h
	}
}

// nap is how long a goroutine that is held sleeps between looks.
const nap = 200 * time.Microsecond

// holdBefore holds the goroutine, which has the locks held and is about to acquire another, if the
// plan says so: until that would close a circle of waits.
func holdBefore(me self, held []request, want request) {
	for _, have := range held {
		h := holds[[2]uint64{have.site, want.site}]
		if h == nil || h.left.Add(-1) < 0 || rt.InBubble() {
			continue
		}
		me.wait(want) // others see that it will acquire that and nothing before
		met := false
		for end := rt.Now() + int64(h.most); rt.Now() < end && !met; met = cycleFrom(me.id, want) != nil {
			time.Sleep(nap)
		}
		writeHeld(me.id, have, want, met)
		return
	}
}

func writeHeld(id int64, have, want request, met bool) {
	b := strconv.AppendBool([]byte(`,"met":`), met)
	b = strconv.AppendInt(append(b, `,"locks":[{"gid":`...), id, 10)
	b = appendRequest(append(b, `,"holds":`...), have)
	b = appendRequest(append(b, `,"wants":`...), want)
	rt.Write("held", append(b, "}]"...))
}
