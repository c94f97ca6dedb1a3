package knowledge

import "slices"

// The tables of this file are facts of the Go standard library (1.26) and of
// golang.org/x/sync, read in their documentation. What a table lacks, a pass takes
// for the worst where it skips something, and for the best where it reports something.

// Callback is what a function does with a function that it is handed.
type Callback int

const (
	// Called means that it runs before the call returns, in the same goroutine.
	Called Callback = iota + 1
	// Started means that another goroutine runs it.
	Started
)

// callbacks is by package, then by name; "*" stands for the whole package.
var callbacks = map[string]map[string]Callback{
	"sort":                       {"*": Called},
	"slices":                     {"*": Called},
	"maps":                       {"*": Called},
	"strings":                    {"*": Called},
	"bytes":                      {"*": Called},
	"path/filepath":              {"Walk": Called, "WalkDir": Called},
	"io/fs":                      {"WalkDir": Called},
	"sync":                       {"Do": Called, "Range": Called, "Go": Started},
	"testing":                    {"Run": Called, "RunParallel": Started},
	"time":                       {"AfterFunc": Started},
	"context":                    {"AfterFunc": Started},
	"runtime":                    {"SetFinalizer": Started, "AddCleanup": Started},
	"net/http":                   {"HandleFunc": Started},
	"golang.org/x/sync/errgroup": {"Go": Started, "TryGo": Started},
}

// CallbackOf returns what a function or method does with functions that it is
// handed; ok is false for one that the table lacks, whose callbacks escape.
func CallbackOf(pkg, name string) (does Callback, ok bool) {
	does, ok = callbacks[pkg][name]
	if !ok {
		does, ok = callbacks[pkg]["*"]
	}
	return does, ok
}

// lateStarts are functions whose callback runs at a time that nothing is known of.
var lateStarts = []string{"runtime.SetFinalizer", "runtime.AddCleanup", "net/http.HandleFunc"}

// StartsAtOnce reports whether a function, by pkg.Name, that runs its callback in
// another goroutine may do so as soon as it is called.
func StartsAtOnce(name string) bool { return !slices.Contains(lateStarts, name) }

// containers are types of the standard library that leave all locking to their
// user, with the methods that only read.
var containers = map[string][]string{
	"*bytes.Buffer":        {"Available", "AvailableBuffer", "Bytes", "Cap", "Len", "String"},
	"*strings.Builder":     {"Cap", "Len", "String"},
	"*container/list.List": {"Back", "Front", "Len"},
	"*container/ring.Ring": {"Do", "Len", "Move", "Next", "Prev"},
	"*math/rand.Rand":      {},
	"*math/rand/v2.Rand":   {},
}

// Container reports whether a type, as types.TypeString writes it, leaves all
// locking to its user, and whether the method changes the object.
func Container(typ, method string) (changes, ok bool) {
	reading, ok := containers[typ]
	return !slices.Contains(reading, method), ok
}

var orderless = []string{
	"fmt", "log", "log/slog", "errors", "strings", "strconv", "bytes", "bufio", "time", "sort", "slices", "maps", "math",
	"math/rand", "math/rand/v2", "math/bits", "math/big", "context", "unicode", "unicode/utf8", "path", "path/filepath",
	"testing",
	"container/list", "container/heap", "container/ring", "encoding/json", "encoding/binary", "encoding/hex",
	"encoding/base64", "hash", "hash/fnv", "hash/crc32", "crypto/rand", "crypto/sha256", "crypto/md5", "html", "regexp",
	"text/template", "net/url", "unsafe", "unique", "cmp",
}

// orderingTests are functions of package testing that run others, or wait for them.
var orderingTests = []string{"Run", "RunParallel", "Parallel", "Cleanup", "Fuzz", "Benchmark"}

// OrdersNothing reports whether a function of the package neither waits for
// another goroutine nor signals to one. That log and fmt lock inside is no order.
func OrdersNothing(pkg, name string) bool {
	return slices.Contains(orderless, pkg) && !(pkg == "testing" && slices.Contains(orderingTests, name)) ||
		pkg == "runtime" && name != "Goexit"
}

// QuietMethod reports whether the method of an interface, whose type is written
// as types.TypeString does, orders nothing.
func QuietMethod(typ, method string) bool {
	switch typ {
	case "context.Context", "error", "testing.TB":
		return true
	}
	return QuietName(method)
}

var neverReturn = map[string][]string{
	"os":      {"Exit"},
	"syscall": {"Exit"},
	"runtime": {"Goexit"},
	"log":     {"Fatal", "Fatalf", "Fatalln", "Panic", "Panicf", "Panicln"},
	"testing": {"Fatal", "Fatalf", "FailNow", "Skip", "Skipf", "SkipNow"},
}

// NeverReturns reports whether a function or method never returns to its caller.
func NeverReturns(pkg, name string) bool { return slices.Contains(neverReturn[pkg], name) }

// outside is by pkg.Func or pkg.Type.Method, interfaces like others.
var outside = []string{
	"time.Sleep",

	"net.Dial", "net.DialTimeout", "net.DialTCP", "net.Dialer.Dial", "net.Dialer.DialContext",
	"net.LookupHost", "net.LookupIP",
	"net.Conn.Read", "net.Conn.Write", "net.TCPConn.Read", "net.TCPConn.Write", "net.UnixConn.Read",
	"net.UnixConn.Write", "net.Buffers.WriteTo", "net.Listener.Accept", "net.TCPListener.Accept",
	"crypto/tls.Conn.Handshake", "crypto/tls.Conn.Read", "crypto/tls.Conn.Write",

	"net/http.Get", "net/http.Post", "net/http.PostForm", "net/http.Head",
	"net/http.Client.Do", "net/http.Client.Get", "net/http.Client.Post",
	"net/http.RoundTripper.RoundTrip", "net/http.Server.Shutdown",

	"os/exec.Cmd.Run", "os/exec.Cmd.Wait", "os/exec.Cmd.Output", "os/exec.Cmd.CombinedOutput",

	"database/sql.DB.Query", "database/sql.DB.QueryContext", "database/sql.DB.Exec", "database/sql.DB.ExecContext",
	"database/sql.DB.Ping", "database/sql.Tx.Query", "database/sql.Tx.Exec", "database/sql.Tx.Commit",

	"os.ReadFile", "os.WriteFile", "os.File.Read", "os.File.ReadAt", "os.File.Write", "os.File.WriteAt",
	"os.File.WriteString", "os.File.Sync",
}

// WaitsOutside reports whether a call waits for something outside of the
// program: the network, a disk, another process, time. The name is pkg.Func or
// pkg.Type.Method.
func WaitsOutside(name string) bool { return slices.Contains(outside, name) }

var quietPackages = []string{
	"sync", "sync/atomic", "fmt", "log", "log/slog", "errors", "strings", "strconv", "bytes", "time", "sort", "slices",
	"maps", "math", "context", "unicode", "path", "path/filepath", "reflect",
}

// QuietPackage reports whether a call of the package's functions does nothing
// that another goroutine would take for an effect; to log twice does no harm.
// It errs towards silence: fmt.Fprint to a shared writer is an effect.
func QuietPackage(pkg string) bool { return slices.Contains(quietPackages, pkg) }

var constantTypes = []string{
	"*regexp.Regexp", "*text/template.Template", "*html/template.Template", "reflect.Type",
	"*log.Logger", "*log/slog.Logger", "*time.Location", "*net/url.URL", "*math/big.Int",
}

// ConstantType reports whether values of the type, as types.TypeString writes
// it, stay as they were made, or are used alike whichever of two is taken.
func ConstantType(name string) bool { return slices.Contains(constantTypes, name) }

var sorting = []string{
	"Slice", "SliceStable", "Ints", "Strings", "Sort", "SortFunc", "SortStableFunc", "Reverse", "Delete", "DeleteFunc",
}

// WritesFirstArgument reports whether a function changes the elements of the
// slice that is its first argument.
func WritesFirstArgument(pkg, name string) bool {
	return (pkg == "sort" || pkg == "slices") && slices.Contains(sorting, name)
}

var keepingPackages = []string{
	"errors", "log", "log/slog", "testing", "context", "runtime", "sync", "sync/atomic",
	"container/list", "container/heap", "container/ring",
}

// OnlyKeeps reports whether the package's functions hold, count or return what
// they are given, and write to none of it.
func OnlyKeeps(pkg string) bool { return slices.Contains(keepingPackages, pkg) }
