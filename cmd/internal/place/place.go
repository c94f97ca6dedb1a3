// Package place finds the place of a fault in a text that somebody else has written. Lines and columns count from 1,
// and columns count bytes.
package place

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/sourcegraph/go-diff/diff"
)

// OfJSON returns the place of a fault that decoding the text has met; read is how far the decoder had read, for faults
// that have no place of their own.
func OfJSON(text []byte, err error, read int64) (line, column int) {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &syntax) {
		read = syntax.Offset
	} else if errors.As(err, &wrong) {
		read = wrong.Offset
	}
	return At(text, read)
}

// At returns the place of the last byte before the offset.
func At(text []byte, offset int64) (line, column int) {
	before := text[:max(0, min(offset, int64(len(text))))]
	column = len(before) - (bytes.LastIndexByte(before, '\n') + 1)
	return 1 + bytes.Count(before, []byte("\n")), max(1, column)
}

// hunk matches the line that begins a hunk.
var hunk = regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)

// OfDiff returns the line of a fault that reading a unified diff has met, and the fault without it. The library names
// no line for the numbers of a hunk.
//
//	@@ -1,x +1 @@
func OfDiff(text []byte, err error) (line int, fault error) {
	var parse *diff.ParseError
	if errors.As(err, &parse) {
		return max(1, parse.Line), parse.Err
	}
	for l := range bytes.Lines(text) {
		if line++; bytes.HasPrefix(l, []byte("@@")) && !hunk.Match(l) {
			return line, err
		}
	}
	return 1, err
}
