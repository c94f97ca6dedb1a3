package pages

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// document is the page as JSON.
type document struct {
	Status   status.Status     `json:"status"`
	Findings []json.RawMessage `json:"findings"` // as a file of evidence has them
}

// records returns the records of races; an empty list rather than none.
func records(races []status.Race) []json.RawMessage {
	all := make([]json.RawMessage, 0, len(races))
	for _, r := range races {
		all = append(all, json.RawMessage(r.Record))
	}
	return all
}

func writeJSON(to http.ResponseWriter, value any) {
	text, err := json.Marshal(value)
	if err != nil { // a record that is no JSON is a bug
		http.Error(to, err.Error(), http.StatusInternalServerError)
		return
	}
	to.Header().Set("Content-Type", "application/json")
	to.Write(append(text, '\n'))
}

// writeRaces writes races in the form of the race detector's reports, for tools that read these. A value that changed
// by a write that was not seen has one stack, and is left out.
func writeRaces(to io.Writer, races []status.Race) {
	n := 0
	for _, r := range races {
		if len(r.Sides) < 2 {
			continue
		}
		n++
		fmt.Fprint(to, "==================\nWARNING: DATA RACE\n")
		for i, s := range r.Sides {
			verb := mode(s)
			if i > 0 {
				verb = "Previous " + strings.ToLower(verb)
			}
			fmt.Fprintf(to, "%s at 0x%012x by goroutine %d:\n", verb, s.Addr, s.Goroutine)
			for _, f := range s.Frames {
				fmt.Fprintf(to, "  %s()\n      %s:%d +0x0\n", clean(f.Function), clean(f.File), f.Line)
			}
			fmt.Fprintln(to)
		}
		fmt.Fprint(to, "==================\n")
	}
	if n > 0 {
		fmt.Fprintf(to, "Found %d data race(s)\n", n)
	}
}

// mode returns the race detector's word for an access.
func mode(s status.Side) string {
	switch {
	case s.Atomic && s.Write:
		return "Atomic write"
	case s.Atomic:
		return "Atomic read"
	case s.Write:
		return "Write"
	}
	return "Read"
}

// clean replaces what could end a line: the name of a file may have any character.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, text)
}
