package gocmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// refused holds build flags that cannot be combined with an instrumented
// build, with the way out.
var refused = map[string]string{
	"overlay": "the instrumented build needs the overlay for itself; apply your overlay to a copy of the tree",
	"modfile": "the go command refuses -modfile together with a go.work; put the other go.mod in place on a " +
		"copy of the tree",
	"cover":        "coverage is measured in a run of its own; give the flag to `interlock test` after --",
	"coverpkg":     "coverage is measured in a run of its own; give the flag to `interlock test` after --",
	"covermode":    "coverage is measured in a run of its own; give the flag to `interlock test` after --",
	"coverprofile": "coverage is measured in a run of its own; give the flag to `interlock test` after --",
	"c":            "Interlock builds and runs the test binaries itself; leave it out",
	"o":            "Interlock builds and runs the test binaries itself; leave it out",
	"C":            "change to the folder before Interlock is started",
	"exec":         "Interlock starts the test binaries itself; leave it out",
	"n":            "Interlock runs the go command itself, and shows nothing of it; leave it out",
	"x":            "Interlock runs the go command itself, and shows nothing of it; leave it out",
	"work":         "Interlock runs the go command itself, in a folder that it removes; leave it out",
	"json":         "Interlock reads what the compiler says; leave it out",
	"compiler":     "the monitor needs the gc compiler; leave it out",
	"gccgoflags":   "the monitor needs the gc compiler; leave it out",
}

// FlagName returns the name of a flag: "mod" of "-mod=vendor" and "--mod".
func FlagName(flag string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(flag, "-"), "-")
	name, _, _ = strings.Cut(name, "=")
	return name
}

// refusal returns why the flag cannot be combined with an instrumented build,
// with the way out, or "".
func refusal(flag string) string {
	switch {
	case !strings.HasPrefix(flag, "-"):
		return "" // the value of the flag before it
	case strings.TrimLeft(flag, "-") == "compiler=gc":
		return ""
	}
	return refused[FlagName(flag)]
}

// RefuseFlags refuses flags that cannot be combined. where names their origin for
// the message.
func RefuseFlags(where string, flags []string) error {
	for _, f := range flags {
		if way := refusal(f); way != "" {
			return &ConfigError{fmt.Sprintf("%s holds %s", where, f), way}
		}
	}
	return nil
}

// CheckFlags returns an error if one of the build flags of a request cannot be
// obeyed, with the reason and the next step.
func CheckFlags(flags []string) error {
	for _, f := range flags {
		way := refusal(f)
		if WritesGoMod(f) {
			way = "Interlock leaves go.mod and go.sum as they are; bring them up to date with `go mod tidy`, and leave it out"
		}
		if way != "" {
			return errors.New(way)
		}
	}
	return nil
}

// WithoutMod drops -mod: a go.work allows no other than its default, and
// vendor folders are reached through replace lines.
func WithoutMod(flags []string) []string {
	var kept []string
	for i := 0; i < len(flags); i++ {
		if FlagName(flags[i]) != "mod" || !strings.HasPrefix(flags[i], "-") {
			kept = append(kept, flags[i])
		} else if !strings.Contains(flags[i], "=") {
			i++ // the value stands apart
		}
	}
	return kept
}

// StripDebug adds -s -w to the linker flags, as `go test` does for a binary
// that it throws away: linking is faster and the binary half the size. Flags
// for single packages (pattern=flags) are left as they are. Linker flags on
// the command line replace those of GOFLAGS, so these are repeated.
func StripDebug(flags, goFlags []string) []string {
	for _, f := range slices.Backward(slices.Concat(goFlags, flags)) {
		value, ok := strings.CutPrefix(strings.TrimLeft(f, "-"), "ldflags=")
		switch {
		case !ok || !strings.HasPrefix(f, "-"):
			continue
		case value != "" && value[0] != '-':
			return flags
		}
		return append(slices.Clip(flags), strings.TrimSpace("-ldflags="+value+" -s -w"))
	}
	return append(slices.Clip(flags), "-ldflags=-s -w")
}

// SplitFlags splits GOFLAGS as the go command does: at white space, with single or
// double quotes around a word that holds some.
func SplitFlags(s string) ([]string, error) {
	var words []string
	for s = strings.TrimLeft(s, " \t\r\n"); s != ""; s = strings.TrimLeft(s, " \t\r\n") {
		if q := s[0]; q == '"' || q == '\'' {
			end := strings.IndexByte(s[1:], q)
			if end < 0 {
				return nil, &ConfigError{"GOFLAGS holds an unterminated quote", "close it"}
			}
			words, s = append(words, s[1:1+end]), s[2+end:]
			continue
		}
		end := strings.IndexAny(s, " \t\r\n")
		if end < 0 {
			end = len(s)
		}
		words, s = append(words, s[:end]), s[end:]
	}
	return words, nil
}

// JoinFlags is the reverse of [SplitFlags].
func JoinFlags(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		switch {
		case !strings.ContainsAny(w, " \t\r\n'\""):
			quoted[i] = w
		case !strings.Contains(w, "'"):
			quoted[i] = "'" + w + "'"
		default:
			quoted[i] = `"` + w + `"`
		}
	}
	return strings.Join(quoted, " ")
}

// WritesGoMod reports whether the flag is -mod=mod.
func WritesGoMod(flag string) bool {
	return strings.TrimLeft(flag, "-") == "mod=mod" && strings.HasPrefix(flag, "-")
}
