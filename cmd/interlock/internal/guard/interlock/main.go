// Command interlock stands on PATH in place of interlock when the scripts of cmd/interlock run: it starts the real one,
// $GUARDED_BINARY, and fails if anything below $WORK is another afterwards that the command line does not name as an
// output; that is appended to $GUARD_REPORT too. Scripts start it as they would start interlock, from a shell too.
// Tests that are run may write to $WORK/.tmp, where scripts have their temporary files by default.
//
// It is a program of its own, since the scripts start it more than a thousand times, and a test binary under the race
// detector needs a tenth of a second to start.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/interlock-go/interlock/cmd/interlock/internal/guard"
)

func main() {
	args := os.Args[1:]
	code, faults := guard.Run(os.Getenv("GUARDED_BINARY"), os.Getenv("WORK"), args)
	if len(faults) > 0 {
		complain(os.Getenv("GUARD_REPORT"),
			fmt.Sprintf("guard: interlock %s:\n\t%s\n", strings.Join(args, " "), strings.Join(faults, "\n\t")))
	}
	os.Exit(code)
}

// complain writes the text to the report too, where no script can pass it by.
func complain(report, text string) {
	fmt.Fprint(os.Stderr, text)
	f, err := os.OpenFile(report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
	}
}
