package bot

import (
	"strings"
	"unicode/utf8"

	"github.com/interlock-go/interlock/cmd/internal/report"
)

// maxText is how much of one text of a stranger a comment shows, in bytes.
const maxText = 2000

// zero is a space without width, which keeps a code host from reading two parts of a text as one.
const zero = "\u200b"

// unlinked splits the texts in which a host sees mentions and links to issues, commands and pages. It looks for them in
// the text that HTML stands for, so that entities do not help.
var unlinked = []string{"@", "@" + zero, "://", ":" + zero + "//", "::", ":" + zero + ":",
	"www.", "www" + zero + ".", "WWW.", "WWW" + zero + ".", "GH-", "GH" + zero + "-", "gh-", "gh" + zero + "-"}

// hypertext makes a text stand for itself in HTML.
var hypertext = strings.NewReplacer(append([]string{"&", "&amp;", "<", "&lt;", ">", "&gt;", "#", "#" + zero},
	unlinked...)...)

// markdown makes a text stand for itself in markdown.
var markdown = strings.NewReplacer(append([]string{
	"&", "&amp;", "<", "&lt;", ">", "&gt;", "#", "\\#" + zero,
	"\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "(", "\\(", ")", "\\)", "!", "\\!",
	"|", "\\|", "~", "\\~", "{", "\\{", "}", "\\}", "$", "\\$", "+", "\\+", "=", "\\=",
}, unlinked...)...)

// plain returns a text of strangers as one line of markdown.
func plain(s string) string { return markdown.Replace(oneLine(s)) }

// oneLine returns a text in one line, cut and without what acts on a terminal.
func oneLine(s string) string {
	return report.Clean(strings.Join(strings.Fields(cut(s, maxText)), " "))
}

// code returns a text of strangers as code in a line: hosts look for neither markdown nor mentions there.
func code(s string) string {
	s = oneLine(s)
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// block returns a text of strangers as a block of code that it cannot leave.
func block(language, s string) string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = report.Clean(line)
	}
	s = strings.Join(lines, "\n")
	fence := strings.Repeat("`", max(3, longest(s, '`')+1))
	return fence + language + "\n" + s + "\n" + fence + "\n"
}

// longest returns the length of the longest run of c in s.
func longest(s string, c byte) (most int) {
	n := 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// cut returns the first n bytes of s, with a mark where something was left out.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}
