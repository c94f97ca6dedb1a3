package bot

import (
	"regexp"
	"slices"
	"strings"
)

// harmlessCommand is a call of `interlock test` that a shell reads as these words alone.
var harmlessCommand = regexp.MustCompile(`^interlock test( [A-Za-z0-9_./:,@=%+^-]+| '[^'\x00-\x1f]*')+$`)

// replayFlags are the flags that a replay command may have: none of them runs a program or writes a file.
var replayFlags = strings.Fields(`runs seed strength only hold isolate engine whole sections schedule sample deps budget
	depth events failfast run skip count tags timeout short cpu parallel race shuffle v`)

// isReplay reports whether a command from the file is one that readers may be asked to run.
func isReplay(command string) bool {
	if len(command) > 1000 || !harmlessCommand.MatchString(command) {
		return false
	}
	for word := range strings.FieldsSeq(command) {
		word = strings.Trim(word, "'")
		if !strings.HasPrefix(word, "-") {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if name != "" && !slices.Contains(replayFlags, name) {
			return false
		}
	}
	return true
}
