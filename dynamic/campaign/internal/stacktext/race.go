package stacktext

import (
	"regexp"
	"strconv"
	"strings"
)

// RaceSide is one of the two accesses in a report of the race detector of the Go distribution.
type RaceSide struct {
	Write, Atomic bool
	GID           int64
	Stack         string // as runtime.Stack prints one
}

const raceBegins = "WARNING: DATA RACE\n"

var (
	raceAccess = regexp.MustCompile(
		`^(?:Previous )?(Read|read|Write|write) at 0x[0-9a-f]+ by (main goroutine|goroutine (\d+)):$`)
	raceCreated = regexp.MustCompile(`^Goroutine (\d+) \(.*\) created at:$`)
)

// Races reads the reports in the output of the race detector, the earlier access of each first. A report that was
// cut short is left out.
func Races(text string) (all [][2]RaceSide) {
	for _, report := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), raceBegins)[1:] {
		report, _, whole := strings.Cut(report, "\n==================")
		var sides []RaceSide
		created := map[int64]string{} // by goroutine
		for _, part := range strings.Split(report, "\n\n") {
			head, frames, _ := strings.Cut(part, "\n")
			if m := raceAccess.FindStringSubmatch(head); m != nil {
				sides = append(sides, newRaceSide(m[1], m[3], frames))
			} else if m := raceCreated.FindStringSubmatch(head); m != nil {
				id, _ := strconv.ParseInt(m[1], 10, 64)
				// One frame is the go statement; the others have led to it.
				function, rest, _ := strings.Cut(runtimeFrames(frames), "\n")
				at, _, _ := strings.Cut(rest, "\n")
				created[id] = "created by " + strings.TrimSuffix(function, "(...)") + "\n" + at + "\n"
			}
		}
		if !whole || len(sides) != 2 {
			continue
		}
		for i := range sides {
			sides[i].Stack += created[sides[i].GID]
		}
		all = append(all, [2]RaceSide{sides[1], sides[0]})
	}
	return all
}

// newRaceSide returns an access by its verb, its goroutine's number, "" for the main one, and the lines of its stack.
func newRaceSide(verb, gid, frames string) RaceSide {
	s := RaceSide{Write: strings.EqualFold(verb, "write"), GID: 1}
	if gid != "" {
		s.GID, _ = strconv.ParseInt(gid, 10, 64)
	}
	s.Atomic = strings.HasPrefix(strings.TrimSpace(frames), "sync/atomic.")
	s.Stack = "goroutine " + strconv.FormatInt(s.GID, 10) + " [running]:\n" + runtimeFrames(frames)
	return s
}

// runtimeFrames returns the lines of a stack as the runtime prints them.
func runtimeFrames(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		at, isPlace := strings.CutPrefix(line, "      ")
		if isPlace {
			b.WriteString("\t" + at)
		} else {
			b.WriteString(strings.Replace(strings.TrimPrefix(line, "  "), "()\n", "(...)\n", 1))
		}
	}
	return strings.TrimSuffix(b.String(), "\n") + "\n"
}
