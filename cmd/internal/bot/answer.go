package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// command is the first line of a comment that asks for the patches. Nothing else of the comment counts.
const command = "/interlock apply"

// Asks reports whether a comment asks for the patches.
func Asks(comment string) bool {
	first, _, _ := strings.Cut(comment, "\n")
	return strings.TrimSuffix(first, "\r") == command
}

// Outcome is the end of a job that applies patches.
type Outcome struct {
	Joint
	Commit  string // that the branch has now; "" if nothing was pushed
	Problem string // the reason why nothing was pushed, of the host or of the trial
	Diff    string // of the commit, where the host has refused it
}

// maxListed is how many findings a message lists.
const maxListed = 50

// Text returns the answer: the patches that were applied, and the others with their reasons.
func (o *Outcome) Text() string {
	var b strings.Builder
	switch {
	case o.Commit != "":
		fmt.Fprintf(&b, "Applied in %s: one commit. The patches were built and tested together.\n\n", o.Commit)
	case o.Problem != "":
		fmt.Fprintf(&b, "Nothing was applied: %s\n\n", o.Problem)
	default:
		b.WriteString("Nothing was applied: no open comment of Interlock shows a verified patch that fits to this " +
			"commit.\n\n")
	}
	var patched, left []string
	for _, f := range o.Patched {
		patched = append(patched, line(cause{f}))
	}
	for _, l := range o.Left {
		left = append(left, line(cause{l.Finding})+": "+plain(l.Reason))
	}
	writeList(&b, patched, maxBody/3)
	if len(left) > 0 {
		b.WriteString("\nNot applied:\n\n")
		writeList(&b, left, 2*maxBody/3)
	}
	if o.Diff != "" {
		writeRefused(&b, o.Diff)
	}
	return b.String()
}

// writeList writes entries of a list, until the text has so many bytes.
func writeList(b *strings.Builder, entries []string, most int) {
	for i, text := range entries {
		if b.Len()+len(text) > most {
			fmt.Fprintf(b, "- and %d more\n", len(entries)-i)
			return
		}
		fmt.Fprintf(b, "- %s\n", text)
	}
}

// writeRefused writes the diff that the host has refused, as far as a comment has room.
func writeRefused(b *strings.Builder, diff string) {
	text := "\nThis is the whole change, to be taken by `git apply`:\n\n" + block("diff", diff)
	if b.Len()+len(text) > maxBody {
		text = "\nThe change is too long for a comment: the review shows each patch.\n"
	}
	b.WriteString(text)
}

// Said returns a text of a program or a host as code in a sentence.
func Said(text string) string { return code(text) }

// Message returns the message of the commit. Its words are the bot's own, except for names of files, in which nothing
// acts: no reference to an issue, no mention, no command to a CI system.
func Message(findings []*finding.Finding, why string) string {
	var b strings.Builder
	if len(findings) == 1 {
		b.WriteString("Correct a concurrency bug that Interlock found\n\n")
	} else {
		fmt.Fprintf(&b, "Correct %d concurrency bugs that Interlock found\n\n", len(findings))
	}
	for i, f := range findings {
		if i == maxListed {
			fmt.Fprintf(&b, "and %d more\n", len(findings)-i)
			break
		}
		fmt.Fprintf(&b, "%s at %s: %s\n", f.Code, inert.Replace(oneLine(f.Places()[0].String())), f.Code.Title())
	}
	if why != "" {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
	return b.String()
}

// inert splits the texts that hosts and CI systems obey in a message.
var inert = strings.NewReplacer(append([]string{"#", "#" + zero, "[", "[" + zero}, unlinked...)...)

// Reply is an answer to a comment that asked for the patches.
type Reply struct {
	Comment int64  // id
	Refused string // the user, if the answer is that this one may not ask
}

// IsPosted reports whether one of the bot's comments is the answer, or has refused the same user before.
func (r Reply) IsPosted(answers []string) bool {
	return slices.ContainsFunc(answers, func(body string) bool {
		m, ok := markerOf(body)
		return ok && (m.Comment == r.Comment || r.Refused != "" && m.Refused == r.Refused)
	})
}

// Post posts the answer, once: where the forge does not answer, it reads the comments first. wait waits before another
// try.
func (r Reply) Post(ctx context.Context, forge Forge, text string, wait func(time.Duration)) error {
	body := text + "\n" + marker{Comment: r.Comment, Refused: r.Refused}.String() + "\n"
	for try := 1; ; try++ {
		answers, err := forge.Answers(ctx)
		if err == nil {
			if r.IsPosted(answers) {
				return nil
			}
			err = forge.Answer(ctx, body)
		}
		if !errors.Is(err, ErrTransient) || try == maxTries || ctx.Err() != nil {
			return err
		}
		wait(time.Second << try)
	}
}
