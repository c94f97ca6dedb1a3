package covertool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

// MarkedSuffix names the file beside a rewritten one that holds its marked text.
// It serves the cover tool, which inserts counters at the places that are marked
// there: running it on the rewritten file would count the code that rewriting adds.
const MarkedSuffix = ".marked"

// weaveAll puts the text that the cover tool, called with args, has inserted into
// its output files into the rewritten files that stand in for its input, so that
// statements are counted that are the user's. A file where that cannot be done
// stays covered and is not monitored; each is named in the error.
func weaveAll(args []string, stands map[string]string) error {
	inputs, outputs, err := coverFiles(args)
	if err != nil {
		return err
	}
	var errs []error
	for i, in := range inputs {
		with, rewritten := stands[in]
		if !rewritten {
			continue
		}
		if err := weaveFile(in, with+MarkedSuffix, outputs[i], flagValue(args, "var")); err != nil {
			errs = append(errs, fmt.Errorf("%s is covered, and so not monitored: %w", in, err))
		}
	}
	return errors.Join(errs...)
}

// coverFiles returns the files that the cover tool reads, and the file that it
// writes for each.
func coverFiles(args []string) (inputs, outputs []string, err error) {
	if out := flagValue(args, "o"); out != "" {
		return args[len(args)-1:], []string{out}, nil
	}
	list := flagValue(args, "outfilelist")
	if list == "" {
		return nil, nil, nil // another job of the tool
	}
	data, err := os.ReadFile(list)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the list of covered files: %w", err)
	}
	outputs = strings.Split(strings.TrimSpace(string(data)), "\n")[1:] // the first is for the counters
	if len(outputs) > len(args) {
		return nil, nil, errors.New("the list of covered files is longer than the request")
	}
	return args[len(args)-len(outputs):], outputs, nil
}

// flagValue returns the value of a flag that has one, or "".
func flagValue(args []string, name string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if value, ok := strings.CutPrefix(strings.TrimLeft(arg, "-"), name+"="); ok {
			return value
		}
		if gocmd.FlagName(arg) == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

func weaveFile(original, marked, covered, counter string) error {
	var texts [3][]byte
	for i, name := range []string{original, marked, covered} {
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		texts[i] = data
	}
	text, err := weave(texts[0], texts[1], texts[2], counter)
	if err != nil {
		return err
	}
	return os.WriteFile(covered, text, 0o666)
}

// weave returns the marked text with the text that covered has more than original; the
// names of covered's counters begin with counter.
func weave(original, marked, covered []byte, counter string) ([]byte, error) {
	line, body, ok := bytes.Cut(covered, []byte("\n"))
	if !ok || !bytes.HasPrefix(line, []byte("//line ")) || counter == "" {
		return nil, errors.New("the cover tool writes in an unknown way")
	}
	inserted, tail, err := insertions(original, body, markedOffsets(marked, len(original)), counter)
	if err != nil {
		return nil, err
	}
	out := append(slices.Clone(line), '\n')
	rest := marked
	for m := markText.FindSubmatchIndex(rest); m != nil; m = markText.FindSubmatchIndex(rest) {
		offset, _ := strconv.Atoi(string(rest[m[2]:m[3]]))
		out = append(append(out, rest[:m[0]]...), inserted[offset]...)
		delete(inserted, offset) // code that stands there twice is counted once
		rest = rest[m[1]:]
	}
	if len(inserted) > 0 {
		return nil, errors.New("rewriting has moved what is counted")
	}
	return append(append(out, rest...), tail...), nil
}

var markText = regexp.MustCompile(strings.Replace(regexp.QuoteMeta(instrument.Mark(0)), "0", "([0-9]+)", 1))

// markedOffsets returns the offsets of the marks, in order, and the end.
func markedOffsets(marked []byte, end int) []int {
	offsets := []int{end}
	for _, m := range markText.FindAllSubmatch(marked, -1) {
		offset, _ := strconv.Atoi(string(m[1]))
		offsets = append(offsets, offset)
	}
	slices.Sort(offsets)
	return slices.Compact(offsets)
}

// insertions returns, by offset, the text that covered has more than original
// at one of the offsets, and the text that it has behind the original's end.
func insertions(original, covered []byte, offsets []int, counter string) (inserted map[int][]byte, tail []byte,
	err error) {
	// Counters, the braces that a counted else gets, and imports.
	count := `(?:_cover_atomic_\.)?(?:\w+\(&)?` + regexp.QuoteMeta(counter) + `[^;\n]*;`
	piece := regexp.MustCompile(`^(?:` + count + `(?: ` + count + `)*|; import \w+ "[^"]*")`)
	inserted = map[int][]byte{}
	rest := covered
	at := 0
	for i, offset := range offsets {
		if !bytes.HasPrefix(rest, original[at:offset]) {
			return nil, nil, fmt.Errorf("the cover tool inserts at an unknown place behind offset %d", at)
		}
		rest, at = rest[offset-at:], offset
		if i == len(offsets)-1 {
			break
		}
		text, next := rest, original[offset:offsets[i+1]]
		for {
			if m := piece.Find(rest); m != nil {
				rest = rest[len(m):]
			} else if len(rest) > 0 && bytes.IndexByte([]byte("{};"), rest[0]) >= 0 && !bytes.HasPrefix(rest, next) {
				rest = rest[1:]
			} else {
				break
			}
		}
		if text = text[:len(text)-len(rest)]; len(text) > 0 {
			inserted[offset] = text
		}
	}
	return inserted, rest, nil
}
