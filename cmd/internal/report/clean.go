package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// maxShown is how much of a line of source is shown: generated and hostile files have lines of megabytes.
const maxShown = 160

// Clean returns s with all characters visible that would act on a terminal: control characters, the marks that turn
// the direction of text, and bytes that are not UTF-8.
func Clean(s string) string {
	if !strings.ContainsFunc(s, acts) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case acts(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case acts(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	return b.String()
}

// acts reports whether a terminal or a browser obeys r instead of showing it.
func acts(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// cut returns the beginning of s, with a mark where something was left out.
func cut(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + " …"
}

// untabbed returns s with four spaces for each tab.
func untabbed(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// columns returns how many columns of a terminal s takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			n++
		}
		if !unicode.Is(unicode.Mn, r) {
			n++
		}
	}
	return n
}
