package ir

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/interlock-go/interlock/analyzers/internal/knowledge"
)

// OrdersNothing reports whether a call of fn neither waits for another goroutine nor signals to one: by the table of
// the library, or because what package fmt reads from, or writes to, is memory or leads out of the program.
func OrdersNothing(fn *ssa.Function, args []ssa.Value) bool {
	formats := PackagePath(fn) == "fmt" && strings.HasPrefix(fn.Name(), "F") && len(args) > 0
	return formats && isPlainStream(args[0]) || knowledge.OrdersNothing(Declared(fn))
}

// isPlainStream reports whether no other goroutine has the other end of a reader or writer.
func isPlainStream(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.ChangeInterface:
		return types.TypeString(v.X.Type(), nil) == "net/http.ResponseWriter"
	case *ssa.MakeInterface:
		switch types.TypeString(v.X.Type(), nil) {
		case "*bytes.Buffer", "*bytes.Reader", "*strings.Builder", "*strings.Reader":
			return true
		}
		load, ok := v.X.(*ssa.UnOp)
		if !ok {
			return false
		}
		g, ok := load.X.(*ssa.Global)
		return ok && (g.String() == "os.Stdout" || g.String() == "os.Stderr")
	}
	return false
}
