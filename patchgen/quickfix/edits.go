package quickfix

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sourcegraph/go-diff/diff"

	"github.com/interlock-go/interlock/patchgen"
)

// Edit replaces whole lines of a file.
type Edit struct {
	Line int    // the first one, from 0
	Gone int    // how many lines go
	New  string // what comes in their place, with line ends
}

// Edits returns the edits that make one text of another, as small as the lines allow, in
// order: marks and cursors elsewhere stay where they are. name is the file's, for errors.
func Edits(name string, from, to []byte) (list []Edit, err error) {
	printed, err := patchgen.Diff(map[string][]byte{name: from}, map[string][]byte{name: to})
	if err != nil || printed == "" {
		return nil, err
	}
	file, err := diff.ParseFileDiff([]byte(printed))
	if err != nil {
		return nil, fmt.Errorf("reading the patch of %s: %w", name, err)
	}
	for _, h := range file.Hunks {
		line := int(h.OrigStartLine) - 1
		for body := slices.Collect(bytes.Lines(h.Body)); len(body) > 0; {
			if body[0][0] == ' ' {
				line, body = line+1, body[1:]
				continue
			}
			// A run of lines that go and come is one edit.
			e := Edit{Line: line}
			for len(body) > 0 && body[0][0] != ' ' {
				if body[0][0] == '-' {
					e.Gone++
				} else if body[0][0] == '+' {
					e.New += string(body[0][1:])
				}
				body = body[1:]
			}
			list = append(list, e)
			line += e.Gone
		}
	}
	return list, nil
}
