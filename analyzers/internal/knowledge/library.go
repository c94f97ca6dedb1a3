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

	"github.com/stretchr/testify/require": {"Fail", "Failf", "FailNow", "FailNowf"},
	"github.com/stretchr/testify/assert":  {"FailNow", "FailNowf"},
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

// neverWait is by package: its functions and methods neither wait nor do I/O, except those
// that are listed.
var neverWait = map[string][]string{
	"bytes": nil, "strings": nil, "strconv": nil, "errors": nil, "unsafe": nil, "path": nil,
	"math": nil, "math/bits": nil, "math/cmplx": nil, "math/rand": nil, "math/rand/v2": nil,
	"unicode": nil, "unicode/utf8": nil, "unicode/utf16": nil, "cmp": nil,
	"sort": nil, "slices": nil, "maps": nil, "container/list": nil, "container/ring": nil, "container/heap": nil,
	"sync/atomic": nil, "encoding/binary": {"Read", "Write"}, "encoding/hex": nil, "encoding/base64": nil,
	"hash/fnv": nil, "hash/crc32": nil, "hash/crc64": nil, "hash/adler32": nil, "hash/maphash": nil,
	"crypto/md5": nil, "crypto/sha1": nil, "crypto/sha256": nil, "net/netip": nil,
	"time": {"Sleep", "LoadLocation"},
	"sync": {"Wait", "Do", "Get", "Range", "OnceFunc", "OnceValue", "OnceValues", "Lock", "RLock", "Go"},
	"fmt": {"Print", "Printf", "Println", "Fprint", "Fprintf", "Fprintln", "Scan", "Scanf", "Scanln",
		"Fscan", "Fscanf", "Fscanln"},
}

// NeverWaits reports whether a function or method neither waits nor does I/O by itself. What
// it calls back is the caller's matter, see [CallsBack].
func NeverWaits(pkg, name string) bool {
	except, listed := neverWait[pkg]
	return listed && !slices.Contains(except, name)
}

// calledBack names methods by the packages that call them on what they are handed.
var calledBack = []string{"Len", "Less", "Swap", "Push", "Pop", "String", "Error", "Format", "GoString", "LogValue",
	"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// CallsBack reports whether a method is one that functions of [NeverWaits] call on what they
// are handed.
func CallsBack(method string) bool { return slices.Contains(calledBack, method) }

// byName names functions that call exported methods of what they are handed, whatever these are called.
var byName = map[string][]string{
	"text/template": {"Execute", "ExecuteTemplate"},
	"html/template": {"Execute", "ExecuteTemplate"},
	"reflect":       {"ValueOf", "Call", "CallSlice", "Method", "MethodByName"},
}

// CallsByName reports whether a function or method may call any exported method of what it is handed.
func CallsByName(pkg, name string) bool { return slices.Contains(byName[pkg], name) }

// ReturnsOwnCode reports whether the functions that the package's functions return are its own: context.WithCancel
// returns no function that it has been handed.
func ReturnsOwnCode(pkg string) bool { return pkg == "context" }

// anyArgument stands for all that a function is handed.
const anyArgument = -1

// writtenArguments is by package: its functions write to nothing that they are handed, except
// those that are listed with the argument that they write to.
var writtenArguments = map[string]map[string]int{
	"errors": {"As": 1}, "strings": {}, "strconv": {}, "unicode": {}, "unicode/utf8": {"AppendRune": 0, "EncodeRune": 0},
	"path": {}, "path/filepath": {}, "math": {}, "math/bits": {}, "cmp": {}, "log": {}, "time": {}, "context": {},
	"net/netip": {}, "encoding/json": {"Unmarshal": 1}, "bytes": {}, "os": {}, "reflect": {"Copy": 0, "Swapper": 0},
	"fmt": {"Sscan": anyArgument, "Sscanf": anyArgument, "Sscanln": anyArgument,
		"Scan": anyArgument, "Scanf": anyArgument, "Scanln": anyArgument,
		"Fscan": anyArgument, "Fscanf": anyArgument, "Fscanln": anyArgument,
		"Fprint": 0, "Fprintf": 0, "Fprintln": 0},
	"io": {"Copy": anyArgument, "CopyN": anyArgument, "CopyBuffer": anyArgument, "ReadAtLeast": anyArgument,
		"ReadFull": anyArgument, "ReadAll": 0, "WriteString": 0},
	"sort": {"Sort": 0, "Stable": 0, "Slice": 0, "SliceStable": 0, "Ints": 0, "Strings": 0, "Float64s": 0},
	"slices": {"Sort": 0, "SortFunc": 0, "SortStableFunc": 0, "Reverse": 0, "Insert": 0, "Delete": 0, "DeleteFunc": 0,
		"Compact": 0, "CompactFunc": 0, "Replace": 0},
	"maps": {"Copy": 0, "DeleteFunc": 0, "Insert": 0},
	// The methods of a byte order have it as argument 0.
	"encoding/binary": {"Read": 2, "Write": 0, "PutUint16": 1, "PutUint32": 1, "PutUint64": 1, "PutVarint": 0,
		"PutUvarint": 0, "AppendUint16": 1, "AppendUint32": 1, "AppendUint64": 1, "AppendVarint": 0, "AppendUvarint": 0,
		"Encode": 0, "Append": 0, "Decode": 2},
}

// WritesArgument reports whether a function writes to what its i-th argument refers to. The
// table does not know every package, and no methods.
func WritesArgument(pkg, name string, i int) (writes, known bool) {
	table, known := writtenArguments[pkg]
	at, listed := table[name]
	return listed && (at == i || at == anyArgument), known
}

var lockingPackages = []string{"sync", "sync/atomic", "log", "time", "context"}

// LocksItself reports whether objects of the package may be used by several goroutines at the
// same time, whatever their methods do.
func LocksItself(pkg string) bool { return slices.Contains(lockingPackages, pkg) }

var keepingPackages = []string{
	"errors", "log", "log/slog", "testing", "context", "runtime", "sync", "sync/atomic",
	"container/list", "container/heap", "container/ring",
}

// OnlyKeeps reports whether the package's functions hold, count or return what
// they are given, and write to none of it.
func OnlyKeeps(pkg string) bool { return slices.Contains(keepingPackages, pkg) }
