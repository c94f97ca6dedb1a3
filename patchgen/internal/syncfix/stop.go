package syncfix

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/interlock-go/interlock/analyzers/finding"
	"github.com/interlock-go/interlock/patchgen/internal/edit"
	"github.com/interlock-go/interlock/patchgen/internal/source"
	"github.com/interlock-go/interlock/patchgen/internal/strategy"
)

// stop ends a sender when the function that receives has returned: a channel
// that is closed then stands beside each send in a select.
//
//	stop := make(chan struct{})
//	defer close(stop)
//	go func() {
//		for _, x := range list {
//			select {
//			case ch <- x:
//			case <-stop:
//				return
//			}
//		}
//	}()
//
// A sender that goes on after its only send does so after the stop as well: the case is empty then.
//
// It applies where only the function that makes the channel receives, in its
// own body, and all senders are goroutines that it starts: when it returns,
// nobody is left to receive. Obligation: [validate.Unblocked].
func stop(p *Problem) (*strategy.Patch, error) {
	c, err := p.blockedOn(finding.Send)
	if err != nil {
		return nil, err
	}
	if err := c.diesWithFunction(); err != nil {
		return nil, err
	}
	for _, r := range c.receives {
		if c.file.FunctionOf(r) != c.function {
			return nil, fmt.Errorf("%s: another function receives too", c.file.At(r))
		}
	}
	name := "stop"
	if used := source.UsedNames(c.function); used[name] {
		if name = c.object.Name() + "Stop"; used[name] {
			return nil, fmt.Errorf("the new channel would be called stop or %s, and these names are taken", name)
		}
	}
	// ch <- v in a goroutine becomes a case of a select.
	edits := edit.New()
	for _, s := range c.sends {
		f := c.file.FunctionOf(s)
		if _, ok := c.isStarted(f); !ok {
			return nil, fmt.Errorf("%s: the sender is no goroutine of its own", c.file.At(s))
		}
		if clause, isCase := c.file.Parents[s].(*ast.CommClause); isCase && clause.Comm == ast.Stmt(s) {
			return nil, fmt.Errorf("%s: the send is a case of a select", c.file.At(s))
		}
		if results := f.Type.Results; results != nil && len(results.List) > 0 {
			return nil, fmt.Errorf("%s: the sender has results", c.file.At(s))
		}
		// What follows the send, such as the release of what the goroutine holds, is done whether it was received or not.
		leave := "\n\treturn"
		if !c.inLoop(s, f) && c.isLast(s, f, false) != nil {
			leave = ""
		}
		text := fmt.Sprintf("select {\ncase %s:\ncase <-%s:%s\n}", c.file.Text(s), name, leave)
		edits.Replace(c.file, s, strings.ReplaceAll(text, "\n", "\n"+c.file.Indent(s.Pos())))
	}
	edits.After(c.file, c.made, func() string {
		return fmt.Sprintf("%s := make(chan struct{})\ndefer close(%s)", name, name)
	})
	files, err := edits.Files()
	return &strategy.Patch{Files: files, Claim: c.claim()}, err
}

// diesWithFunction refuses channels that are not made once for each call of the function.
func (c *channel) diesWithFunction() error {
	if !slices.Contains(c.function.Body.List, ast.Stmt(c.made)) {
		return fmt.Errorf("%s: %s is made in a block of its own, which may run several times or not at all",
			c.file.At(c.made), c.object.Name())
	}
	hasGoto := false
	ast.Inspect(c.function.Body, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStmt)
		hasGoto = hasGoto || ok && b.Tok == token.GOTO
		return true
	})
	if hasGoto {
		return errors.New("the function uses goto")
	}
	return nil
}
