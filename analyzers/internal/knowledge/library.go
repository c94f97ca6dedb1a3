package knowledge

import (
	"go/types"
	"path"
	"slices"
	"strings"
	"sync"
)

// The functions of this file ask the table of library.

// facts are the properties of a package in the table, or of one function.
type facts struct {
	is, not property
	writes  argument
}

// named is the table by package, then by a name as the rows have it; that of the package itself is "".
var named = sync.OnceValue(func() map[string]map[string]facts {
	table := map[string]map[string]facts{}
	for _, r := range library {
		if table[r.pkg] == nil {
			table[r.pkg] = map[string]facts{}
		}
		names := strings.Fields(r.names)
		if r.names == "" {
			names = []string{""}
		}
		for _, name := range names {
			f := table[r.pkg][name]
			table[r.pkg][name] = facts{f.is | r.is, f.not | r.not, f.writes + r.writes}
		}
	}
	return table
})

// packageFacts returns the rows of a package, or of the packages of any module that end like it.
func packageFacts(pkg string) map[string]facts {
	if rows, ok := named()[pkg]; ok {
		return rows
	}
	return named()[anyModule+path.Base(pkg)]
}

// factsOf returns the facts of a function or method in the table: the most exact row counts, with those that
// the row of the package adds to it.
func factsOf(fn *types.Func) facts {
	if fn == nil || fn.Pkg() == nil {
		return facts{}
	}
	rows := packageFacts(fn.Pkg().Path())
	all := rows[""]
	for _, name := range rowNames(fn) {
		if f, ok := rows[name]; ok {
			return facts{all.is&^f.not | f.is, 0, f.writes}
		}
	}
	return all
}

// rowNames lists the names under which rows may have a function, the most exact first.
func rowNames(fn *types.Func) []string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return []string{fn.Name()}
	}
	typ := typeName(recv.Type())
	return []string{typ + "." + fn.Name(), "*." + fn.Name(), typ + ".*", "*.*"}
}

// typeName returns the name of a named type, or of the one that a pointer points to; "" for others.
func typeName(t types.Type) string {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// FullName returns a function's name with its package: net.Dial, net.Conn.Read; "" for nil.
func FullName(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil {
		return ""
	}
	return fn.Pkg().Path() + "." + rowNames(fn)[0]
}

func (f facts) hasProperty(p property) bool { return f.is&p != 0 }

// Callback is the use that a function makes of a function that it is handed.
type Callback int

const (
	// Called means that it runs before the call returns, in the same goroutine.
	Called Callback = iota + 1
	// Started means that another goroutine runs it.
	Started
)

// CallbackOf returns the use that a function or method makes of functions that it is handed; ok is false for
// one that the table lacks: there, callbacks escape.
func CallbackOf(fn *types.Func) (does Callback, ok bool) {
	switch f := factsOf(fn); {
	case f.hasProperty(startsCallback):
		return Started, true
	case f.hasProperty(runsCallback):
		return Called, true
	}
	return 0, false
}

// StartsAtOnce reports whether a function that runs its callback in another goroutine may do so as soon as it is
// called.
func StartsAtOnce(fn *types.Func) bool { return !factsOf(fn).hasProperty(startsLate) }

// OrdersNothing reports whether a function neither waits for another goroutine nor signals to one.
func OrdersNothing(fn *types.Func) bool { return factsOf(fn).hasProperty(ordersNothing) }

// NeverReturns reports whether a function or method never returns to its caller.
func NeverReturns(fn *types.Func) bool { return factsOf(fn).hasProperty(neverReturns) }

// EndsTest reports whether a function of package testing, or of one that asserts for tests, ends a test or makes it
// fail, and whether it does so at once.
func EndsTest(fn *types.Func) (ends, atOnce bool) {
	f := factsOf(fn)
	return f.hasProperty(endsTest), f.hasProperty(endsTest) && f.hasProperty(neverReturns)
}

// WaitsOutside reports whether a call waits for something outside of the
// program: the network, a disk, another process, time.
func WaitsOutside(fn *types.Func) bool { return factsOf(fn).hasProperty(waitsOutside) }

// QuietPackage reports whether a call of the package's functions does nothing
// that another goroutine would take for an effect.
func QuietPackage(pkg string) bool { return packageFacts(pkg)[""].hasProperty(noEffect) }

// NeverWaits reports whether a function or method neither waits nor does I/O by itself. For the methods of its
// arguments that it calls back, see [CallsBack].
func NeverWaits(fn *types.Func) bool { return factsOf(fn).hasProperty(neverWaits) }

// KeepsNothing reports whether a function neither keeps its arguments nor synchronises with them.
func KeepsNothing(fn *types.Func) bool { return factsOf(fn).hasProperty(keepsNothing) }

// CallsByName reports whether a function or method may call any exported method of an argument.
func CallsByName(fn *types.Func) bool { return factsOf(fn).hasProperty(callsByName) }

// ReturnsOwnCode reports whether the functions that a function returns are its package's own.
func ReturnsOwnCode(fn *types.Func) bool { return factsOf(fn).hasProperty(ownCode) }

// Lasts reports whether a function changes state that it is not handed, or makes a value that has to be ended,
// such as a timer.
func Lasts(fn *types.Func) bool { return factsOf(fn).hasProperty(lasting) }

// WritesArgument reports whether a function writes to memory behind its i-th argument; the receiver of a method
// is the first. The table does not know every package.
func WritesArgument(fn *types.Func, i int) (writes, known bool) {
	f := factsOf(fn)
	return f.writes == anyArgument || f.writes == argument(i)+1, f.hasProperty(argumentsListed)
}

// LocksItself reports whether objects of the package may be used by several goroutines at the same time.
func LocksItself(pkg string) bool { return packageFacts(pkg)[""].hasProperty(locksItself) }

// OnlyKeeps reports whether the package's functions hold, count or return their arguments, and write to none of them.
func OnlyKeeps(pkg string) bool { return packageFacts(pkg)[""].hasProperty(onlyKeeps) }

// CallsNoMethod reports whether a function stores or compares its arguments, and calls no methods of theirs.
func CallsNoMethod(fn *types.Func) bool { return factsOf(fn).hasProperty(callsNoMethod) }

// calledBack are methods that functions of [NeverWaits] call on their arguments.
var calledBack = []string{"Len", "Less", "Swap", "Push", "Pop", "String", "Error", "Format", "GoString", "LogValue",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// CallsBack reports whether a method is one that functions of [NeverWaits] call on their arguments.
func CallsBack(method string) bool { return slices.Contains(calledBack, method) }

// asked are the methods that functions of a package look for in values, besides those of the interface that is the type
// of their parameter.
var asked = map[string]string{
	"bufio":        "ReadFrom WriteString WriteTo",
	"context":      "AfterFunc String",
	"crypto/tls":   "Close Error Read Write",
	"database/sql": "Columns Error Is Scan Unwrap Value",
	"encoding/gob": "GobDecode GobEncode MarshalBinary MarshalText UnmarshalBinary UnmarshalText",
	"encoding/json": "Error IsZero MarshalJSON MarshalJSONTo MarshalText " +
		"UnmarshalJSON UnmarshalJSONFrom UnmarshalText",
	"encoding/xml": "MarshalText MarshalXML MarshalXMLAttr UnmarshalText UnmarshalXML UnmarshalXMLAttr",
	"errors":       "As Is Unwrap",
	"flag":         "Get IsBoolFlag Set String",
	"fmt":          "Error Format GoString Scan String",
	"io":           "Close Read ReadAt ReadFrom Seek Write WriteAt WriteString WriteTo",
	"log":          "Error Format GoString String",
	"log/slog":     "Error Format GoString LogValue MarshalJSON MarshalText String",
	"net":          "Close Error Read ReadFrom Timeout Write WriteTo",
	"net/http":     "Close Error Flush Hijack Read ReadFrom Timeout Unwrap Write WriteString WriteTo",
	"os":           "Read ReadFrom Write WriteTo",
	"testing":      "Error Format GoString String",
	// These look for none.
	"bytes": "", "cmp": "", "container/heap": "", "container/list": "", "container/ring": "", "iter": "",
	"maps": "", "math/rand": "", "math/rand/v2": "", "reflect": "", "slices": "", "sort": "",
	"strings": "", "sync": "", "sync/atomic": "", "time": "", "unique": "",
}

// askedElsewhere are those of all packages, which one that the table lacks may look for.
var askedElsewhere = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, names := range asked {
		for name := range strings.FieldsSeq(names) {
			all[name] = true
		}
	}
	for _, name := range calledBack {
		all[name] = true
	}
	return all
})

// Asks reports whether functions of a package may look for a method in a value of any type.
func Asks(pkg, method string) bool {
	if names, ok := asked[pkg]; ok {
		return slices.Contains(strings.Fields(names), method)
	}
	return askedElsewhere()[method]
}

// AsksNothing reports whether functions of a package look for no methods in values of any type.
func AsksNothing(pkg string) bool {
	names, ok := asked[pkg]
	return ok && names == ""
}

// shapes are how many parameters and results methods have that libraries look for.
var shapes = map[string][2]int{"Error": {0, 1}, "String": {0, 1}, "GoString": {0, 1}, "Format": {2, 0}, "Is": {1, 1},
	"As": {1, 1}, "Unwrap": {0, 1}, "LogValue": {0, 1}, "MarshalJSON": {0, 2}, "MarshalText": {0, 2},
	"UnmarshalJSON": {1, 1}, "UnmarshalText": {1, 1}, "Read": {1, 2}, "Write": {1, 2}, "Close": {0, 1},
	"WriteString": {1, 2}, "ReadFrom": {1, 2}, "WriteTo": {1, 2}, "Seek": {2, 2}, "ReadAt": {2, 2}, "WriteAt": {2, 2},
	"Get": {0, 1}, "Set": {1, 1}, "Value": {0, 2}, "Scan": {1, 1}, "AfterFunc": {1, 1}}

// HasAskedShape reports whether a method may be the one of its name for which libraries look.
func HasAskedShape(m *types.Func) bool {
	shape, known := shapes[m.Name()]
	if m.Name() == "Scan" && m.Signature().Params().Len() == 2 { // of fmt.Scanner
		return true
	}
	return !known || shape == [2]int{m.Signature().Params().Len(), m.Signature().Results().Len()}
}

// A kind is the row of the table for a type, by the text of types.TypeString.
type kind struct {
	container bool   // leaves all locking to its user
	reads     string // the methods of a container that only read, with spaces between them
	constant  bool   // values stay as they were made, or are used alike whichever of two is taken
	quiet     bool   // the methods of an interface order nothing
}

// kinds are the types that the table knows.
var kinds = map[string]kind{
	"*bytes.Buffer":           {container: true, reads: "Available AvailableBuffer Bytes Cap Len String"},
	"*container/list.List":    {container: true, reads: "Back Front Len"},
	"*container/ring.Ring":    {container: true, reads: "Do Len Move Next Prev"},
	"*math/rand.Rand":         {container: true},
	"*math/rand/v2.Rand":      {container: true},
	"*strings.Builder":        {container: true, reads: "Cap Len String"},
	"*html/template.Template": {constant: true},
	"*log.Logger":             {constant: true},
	"*log/slog.Logger":        {constant: true},
	"*math/big.Int":           {constant: true},
	"*net/url.URL":            {constant: true},
	"*regexp.Regexp":          {constant: true},
	"*text/template.Template": {constant: true},
	"*time.Location":          {constant: true},
	"reflect.Type":            {constant: true},
	"context.Context":         {quiet: true},
	"error":                   {quiet: true},
	"testing.TB":              {quiet: true},
}

// Container reports whether a type leaves all locking to its user, and whether the method changes the object.
func Container(typ, method string) (changes, ok bool) {
	k := kinds[typ]
	return !slices.Contains(strings.Fields(k.reads), method), k.container
}

// ConstantType reports whether values of the type stay as they were made, or are used alike whichever of two is taken.
func ConstantType(typ string) bool { return kinds[typ].constant }

// QuietMethod reports whether the method of an interface orders nothing.
func QuietMethod(typ, method string) bool { return kinds[typ].quiet || QuietName(method) }
