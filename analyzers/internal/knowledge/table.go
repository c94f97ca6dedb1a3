package knowledge

// A property is a column of the table of the library.
type property uint32

const (
	// ordersNothing: neither waits for another goroutine nor signals to one. That log and fmt lock inside is no order.
	// A function that reads from its argument, or writes to it, may wait: the argument may be the end of an io.Pipe.
	ordersNothing property = 1 << iota
	// noEffect: does nothing that another goroutine would take for an effect; to log twice does no harm. It errs
	// towards silence: fmt.Fprint to a shared writer is an effect.
	noEffect
	// neverWaits: neither waits nor does I/O by itself. Calling back is the caller's matter, see [CallsBack].
	neverWaits
	// waitsOutside: waits for the network, a disk, another process, or for a time.
	waitsOutside
	// handsOverNothing: neither sends, receives, closes, starts a goroutine nor stores by sync/atomic, except through
	// the functions that it is handed.
	handsOverNothing
	// keepsNothing: neither keeps an argument nor synchronises with it.
	keepsNothing
	// onlyKeeps: holds, counts or returns its arguments, and writes to none of them.
	onlyKeeps
	// argumentsListed: writes to no argument, except those that the rows of its functions list.
	argumentsListed
	// locksItself: several goroutines may use its objects at the same time.
	locksItself
	// lasting: changes state that it is not handed, or makes a value that has to be ended.
	lasting
	// ownCode: the functions that it returns are its own: context.WithCancel returns no function that it was handed.
	ownCode
	// callsByName: may call any exported method of an argument.
	callsByName
	// callsNoMethod: stores or compares its arguments, and calls no methods of theirs.
	callsNoMethod
	// runsCallback: calls the functions that it is handed before it returns, in the same goroutine.
	runsCallback
	// startsCallback: another goroutine calls the functions that it is handed.
	startsCallback
	// startsLate: of those with startsCallback, the time of that call is not known.
	startsLate
	// neverReturns: does not return to its caller.
	neverReturns
	// endsTest: makes a test fail, or ends it if it never returns.
	endsTest
	// assemblyComputes: its functions in assembly keep no pointer, and write to nothing except their arguments.
	assemblyComputes
)

// pure packages compute results from their arguments.
const pure = ordersNothing | noEffect | neverWaits | handsOverNothing | keepsNothing

// row is one line of the table: a package, or functions of one. A property that a row leaves open is that of
// the row of its package.
type row struct {
	pkg string
	// names are the functions Do, the methods Once.Do, those of a type Once.*, those of any type *.Do, or all methods
	// *.*, with spaces between them. Empty for the row of the package.
	names  string
	is     property // they have these properties
	not    property // they lack these properties of their package
	writes argument // the argument that they write to
}

// argument is the number of an argument from 1 on, the receiver of a method being the first; 0 for none.
type argument int

// anyArgument stands for all arguments.
const anyArgument argument = -1

// anyModule begins the row of packages with the same last element, in whichever module.
const anyModule = ".../"

// library is the table: facts of the Go standard library (1.26) and of golang.org/x, read in their
// documentation. A function that it lacks, a pass takes for the worst where it skips something, and for the
// best where it reports something.
var library = []row{
	{pkg: "bufio", is: ordersNothing},
	{pkg: "bufio", names: "Reader.* Writer.* Scanner.Scan", not: ordersNothing},

	{pkg: "bytes", is: pure | argumentsListed | runsCallback | assemblyComputes},
	{pkg: "bytes", names: "Buffer.ReadFrom Buffer.WriteTo Reader.WriteTo", not: ordersNothing},

	{pkg: "cmp", is: pure | argumentsListed},

	{pkg: "container/heap", is: pure&^(noEffect|keepsNothing) | onlyKeeps},
	{pkg: "container/list", is: pure&^(noEffect|keepsNothing) | onlyKeeps | callsNoMethod},
	{pkg: "container/ring", is: pure&^(noEffect|keepsNothing) | onlyKeeps | callsNoMethod},

	{pkg: "context", is: ordersNothing | noEffect | argumentsListed | onlyKeeps | locksItself | lasting | ownCode},
	{pkg: "context", names: "AfterFunc", is: startsCallback},
	{pkg: "context", names: "Background TODO WithCancel WithCancelCause WithDeadline WithTimeout WithValue",
		is: neverWaits},

	{pkg: "crypto/md5", is: pure},
	{pkg: "crypto/rand", is: ordersNothing},
	{pkg: "crypto/sha1", is: pure},
	{pkg: "crypto/sha256", is: pure},
	{pkg: "crypto/tls", names: "Config.Clone Conn.ConnectionState", is: callsNoMethod},
	{pkg: "crypto/tls", names: "Conn.Handshake Conn.Read Conn.Write", is: waitsOutside},

	{pkg: "database/sql", names: "DB.Query DB.QueryContext DB.Exec DB.ExecContext DB.Ping Tx.Query Tx.Exec Tx.Commit",
		is: waitsOutside},

	{pkg: "encoding/base64", is: pure},
	{pkg: "encoding/binary", is: pure | argumentsListed},
	{pkg: "encoding/binary", names: "Read", not: ordersNothing | neverWaits | handsOverNothing, writes: 3},
	{pkg: "encoding/binary", names: "Write", not: ordersNothing | neverWaits | handsOverNothing, writes: 1},
	{pkg: "encoding/binary", names: "PutVarint PutUvarint AppendVarint AppendUvarint Encode Append", writes: 1},
	{pkg: "encoding/binary", names: "Decode", writes: 3},
	{pkg: "encoding/binary", names: "*.PutUint16 *.PutUint32 *.PutUint64 *.AppendUint16 *.AppendUint32 *.AppendUint64",
		writes: 2},
	{pkg: "encoding/hex", is: pure},
	{pkg: "encoding/json", is: ordersNothing | keepsNothing | argumentsListed},
	{pkg: "encoding/json", names: "Unmarshal", writes: 2},
	{pkg: "encoding/json", names: "Decoder.Decode Decoder.More Decoder.Token Encoder.Encode", not: ordersNothing},

	{pkg: "errors", is: pure | argumentsListed | onlyKeeps},
	{pkg: "errors", names: "As", writes: 2},

	{pkg: "fmt", is: ordersNothing | noEffect | neverWaits | keepsNothing | argumentsListed},
	{pkg: "fmt", names: "Append Appendf Appendln Errorf Sprint Sprintf Sprintln", is: handsOverNothing},
	{pkg: "fmt", names: "Print Printf Println", not: neverWaits},
	{pkg: "fmt", names: "Fprint Fprintf Fprintln", not: ordersNothing | neverWaits, writes: 1},
	{pkg: "fmt", names: "Sscan Sscanf Sscanln", writes: anyArgument},
	{pkg: "fmt", names: "Scan Scanf Scanln", not: neverWaits, writes: anyArgument},
	{pkg: "fmt", names: "Fscan Fscanf Fscanln", not: ordersNothing | neverWaits, writes: anyArgument},

	{pkg: "golang.org/x/sync/errgroup", names: "Group.Go Group.TryGo", is: startsCallback},
	{pkg: "golang.org/x/sys/cpu", is: assemblyComputes},
	{pkg: "golang.org/x/sys/unix", is: assemblyComputes},

	{pkg: "hash", is: ordersNothing},
	{pkg: "hash/adler32", is: pure},
	{pkg: "hash/crc32", is: pure | assemblyComputes},
	{pkg: "hash/crc64", is: pure},
	{pkg: "hash/fnv", is: pure},
	{pkg: "hash/maphash", is: pure},

	{pkg: "html", is: ordersNothing},
	{pkg: "html/template", names: "Template.Execute Template.ExecuteTemplate", is: callsByName},

	{pkg: "internal/bytealg", is: assemblyComputes},
	{pkg: "internal/chacha8rand", is: assemblyComputes},
	{pkg: "internal/cpu", is: assemblyComputes},
	{pkg: "internal/poll", is: assemblyComputes},
	{pkg: "internal/runtime/atomic", is: assemblyComputes},
	{pkg: "internal/runtime/math", is: assemblyComputes},
	{pkg: "internal/runtime/sys", is: assemblyComputes},
	{pkg: "internal/syscall/unix", is: assemblyComputes},

	{pkg: "io", is: argumentsListed},
	{pkg: "io", names: "Copy CopyN CopyBuffer ReadAtLeast ReadFull", writes: anyArgument},
	{pkg: "io", names: "ReadAll WriteString", writes: 1},
	{pkg: "io/fs", names: "WalkDir", is: runsCallback},

	{pkg: "log", is: ordersNothing | noEffect | keepsNothing | argumentsListed | onlyKeeps | locksItself},
	{pkg: "log", names: "Fatal Fatalf Fatalln Panic Panicf Panicln", is: neverReturns},
	{pkg: "log", names: "*.Fatal *.Fatalf *.Fatalln *.Panic *.Panicf *.Panicln", is: neverReturns},
	{pkg: "log", names: "SetOutput *.SetOutput", not: keepsNothing},
	{pkg: "log/slog", is: ordersNothing | noEffect | keepsNothing | onlyKeeps},

	{pkg: "log/slog", names: "SetDefault", not: keepsNothing},

	{pkg: "maps", is: pure&^keepsNothing | argumentsListed | runsCallback},
	{pkg: "maps", names: "Copy DeleteFunc Insert", writes: 1},

	{pkg: "math", is: pure | argumentsListed | assemblyComputes},
	{pkg: "math/big", is: ordersNothing | handsOverNothing | assemblyComputes},
	{pkg: "math/bits", is: pure | argumentsListed | assemblyComputes},
	{pkg: "math/cmplx", is: pure},
	{pkg: "math/rand", is: pure},
	{pkg: "math/rand/v2", is: pure},

	{pkg: "net", names: "Dial DialTimeout DialTCP Dialer.Dial Dialer.DialContext LookupHost LookupIP", is: waitsOutside},
	{pkg: "net", names: "Conn.Read Conn.Write Buffers.WriteTo Listener.Accept TCPListener.Accept", is: waitsOutside},

	{pkg: "net/http", names: "Get Post PostForm Head Client.Do Client.Get Client.Post RoundTripper.RoundTrip " +
		"Server.Shutdown", is: waitsOutside},
	{pkg: "net/http", names: "HandleFunc *.HandleFunc", is: startsCallback | startsLate},
	{pkg: "net/netip", is: pure | argumentsListed},
	{pkg: "net/url", is: ordersNothing},

	{pkg: "os", is: keepsNothing | argumentsListed},
	{pkg: "os", names: "Exit", is: neverReturns},
	{pkg: "os", names: "ReadFile WriteFile File.Read File.ReadAt File.Write File.WriteAt File.WriteString File.Sync",
		is: waitsOutside},
	{pkg: "os/exec", names: "Cmd.Run Cmd.Wait Cmd.Output Cmd.CombinedOutput", is: waitsOutside},

	{pkg: "path", is: pure | argumentsListed},
	{pkg: "path/filepath", is: ordersNothing | noEffect | keepsNothing | argumentsListed},
	{pkg: "path/filepath", names: "Walk WalkDir", is: runsCallback},

	{pkg: "reflect", is: noEffect | keepsNothing | argumentsListed},
	{pkg: "reflect", names: "Copy Swapper", writes: 1},
	{pkg: "reflect", names: "ValueOf", is: callsByName, not: keepsNothing},
	{pkg: "reflect", names: "Select *.Send *.TrySend *.Recv *.TryRecv *.Close", not: keepsNothing},
	{pkg: "reflect", names: "*.Call *.CallSlice *.Method *.MethodByName", is: callsByName},
	{pkg: "regexp", is: ordersNothing},
	{pkg: "regexp", names: "MatchReader Regexp.MatchReader Regexp.FindReaderIndex Regexp.FindReaderSubmatchIndex",
		not: ordersNothing},

	{pkg: "runtime", is: ordersNothing | keepsNothing | onlyKeeps},
	{pkg: "runtime", names: "Goexit", is: neverReturns, not: ordersNothing},
	{pkg: "runtime", names: "KeepAlive", is: handsOverNothing},
	{pkg: "runtime", names: "SetFinalizer AddCleanup", is: startsCallback | startsLate, not: keepsNothing},
	{pkg: "runtime/debug", is: keepsNothing},

	{pkg: "slices", is: pure&^keepsNothing | argumentsListed | runsCallback},
	{pkg: "slices", names: "Sort SortFunc SortStableFunc Reverse Insert Delete DeleteFunc Compact CompactFunc Replace",
		writes: 1},
	{pkg: "sort", is: pure | argumentsListed | runsCallback},
	{pkg: "sort", names: "*.Sort", writes: 1},
	{pkg: "sort", names: "Sort Stable Slice SliceStable Ints Strings Float64s", writes: 1},

	{pkg: "strconv", is: pure | argumentsListed},
	{pkg: "strings", is: pure | argumentsListed | runsCallback | assemblyComputes},
	{pkg: "strings", names: "Reader.WriteTo Replacer.WriteString", not: ordersNothing},

	{pkg: "sync", is: noEffect | neverWaits | onlyKeeps | locksItself | lasting | assemblyComputes},
	{pkg: "sync", names: "OnceFunc OnceValue OnceValues *.Lock *.RLock *.Wait Pool.Get", not: neverWaits},
	{pkg: "sync", names: "Once.Do", is: runsCallback, not: neverWaits},
	{pkg: "sync", names: "Pool.Put", is: callsNoMethod},
	{pkg: "sync", names: "Map.*", is: handsOverNothing | callsNoMethod},
	{pkg: "sync", names: "Map.Range", is: handsOverNothing | runsCallback, not: neverWaits},
	{pkg: "sync", names: "WaitGroup.Go", is: startsCallback, not: neverWaits},

	{pkg: "sync/atomic", is: noEffect | neverWaits | keepsNothing | onlyKeeps | locksItself | lasting | assemblyComputes},
	{pkg: "sync/atomic", names: "*.Load LoadInt32 LoadInt64 LoadUint32 LoadUint64 LoadUintptr LoadPointer",
		is: handsOverNothing | argumentsListed, not: lasting},

	{pkg: "syscall", is: assemblyComputes},
	{pkg: "syscall", names: "Exit", is: neverReturns},

	{pkg: "testing", is: ordersNothing | keepsNothing | onlyKeeps},
	{pkg: "testing", names: "*.Error *.Errorf *.Fail", is: endsTest},
	{pkg: "testing", names: "*.Fatal *.Fatalf *.FailNow *.Skip *.Skipf *.SkipNow", is: endsTest | neverReturns},
	{pkg: "testing", names: "*.Parallel *.Cleanup *.Fuzz Benchmark", not: ordersNothing},
	{pkg: "testing", names: "*.Run", is: runsCallback, not: ordersNothing},
	{pkg: "testing", names: "*.RunParallel", is: startsCallback, not: ordersNothing},

	{pkg: "text/template", is: ordersNothing},
	{pkg: "text/template", names: "Template.Execute Template.ExecuteTemplate", is: callsByName, not: ordersNothing},

	{pkg: "time", is: ordersNothing | noEffect | neverWaits | keepsNothing | argumentsListed | locksItself | lasting},
	{pkg: "time", names: "AfterFunc", is: startsCallback},
	{pkg: "time", names: "Sleep", is: waitsOutside, not: neverWaits},
	{pkg: "time", names: "LoadLocation", not: neverWaits},
	{pkg: "time", names: "Date Now Parse ParseDuration Since Unix UnixMilli Until Time.* Duration.* Month.* Weekday.*",
		is: handsOverNothing, not: lasting},
	{pkg: "time", names: "Time.GobDecode Time.UnmarshalBinary Time.UnmarshalJSON Time.UnmarshalText",
		is: handsOverNothing},

	{pkg: "unicode", is: pure | argumentsListed},
	{pkg: "unicode/utf16", is: pure},
	{pkg: "unicode/utf8", is: pure | argumentsListed},
	{pkg: "unicode/utf8", names: "AppendRune EncodeRune", writes: 1},
	{pkg: "unique", is: ordersNothing},
	{pkg: "unsafe", is: pure},

	// Assertions for tests: an assertion of assert returns after it has failed, one of require does not.
	{pkg: ".../assert", names: "Fail Failf *.Fail *.Failf", is: endsTest},
	{pkg: ".../assert", names: "FailNow FailNowf *.FailNow *.FailNowf", is: endsTest | neverReturns},
	{pkg: ".../require", names: "Fail Failf FailNow FailNowf *.Fail *.Failf *.FailNow *.FailNowf",
		is: endsTest | neverReturns},
}
