package order

import "github.com/interlock-go/interlock/analyzers/pass/excuse"

// Kind is a kind of operation, or a set of kinds.
type Kind uint

const (
	Start   Kind = 1 << iota // a go statement
	Send                     // on a channel, as is Receive
	Receive                  // or a loop over the channel
	Close
	Add // to a WaitGroup, of a number that may be negative
	Done
	Wait // for a WaitGroup
	Join // for an errgroup
	Once
	Await // a condition, which is a sync.Cond
	Wake
	Load // an atomic
	Store
	Update
	Settle // synctest.Wait
)

// Atomics are the operations of package sync/atomic.
const Atomics = Load | Store | Update

// Groups are the waits for goroutines that count themselves.
const Groups = Wait | Join

// Event is what orders two operations: a goroutine that waits for an event of an object goes on after the goroutine
// that signals one.
type Event byte

const (
	Message    Event = iota + 1 // sent or closed; received
	Receipt                     // received; sent, where no buffer takes the message
	Ended                       // WaitGroup, Once, Cond, errgroup
	Unlock                      // a lock released; taken
	Stored                      // an atomic stored; loaded
	Halted                      // the function of a timer has run; or has been kept from it
	Polled                      // code of which nothing is known; asked for, not waited for
	Unknown                     // code of which nothing is known
	Everything                  // more events than are kept apart
)

// row is one line of the table.
type row struct {
	kind           Kind
	signals, waits Event
	name, reason   string
	fixture        string   // "" where none shows it
	methods        []string // and functions, on their first argument; nil where the language has it
}

// fixture is a package of which all is ordered, by each kind of operation.
const fixture = "unordered/testdata/src/ordered"

// table has a row for each kind. The load of an atomic orders only the code that a branch on its value decides.
var table = []row{
	{Start, 0, 0, "start", "a goroutine comes after the statement that starts it", "", nil},
	{Send, Message, Receipt, "send", "a send comes before the receive of its value", fixture, nil},
	{Receive, Receipt, Message, "receive", "a receive comes before the end of a send without a buffer", fixture, nil},
	{Close, Message, 0, "close", "a close comes before the receives that return because of it", fixture, nil},
	{Add, Ended, 0, "add", "Add of a negative number is Done", fixture, []string{"(*sync.WaitGroup).Add"}},
	{Done, Ended, 0, "done",
		"Done comes before the Wait that it ends", fixture, []string{"(*sync.WaitGroup).Done"}},
	{Wait, 0, Ended, "wait",
		"Wait comes after all calls of Done", fixture, []string{"(*sync.WaitGroup).Wait"}},
	{Join, 0, Ended, "join",
		"Wait comes after the functions of the group", "", []string{"(*golang.org/x/sync/errgroup.Group).Wait"}},
	{Once, Ended, Ended, "once",
		"the function of a Once has returned when Do returns", fixture, []string{"(*sync.Once).Do"}},
	{Await, 0, Ended, "await",
		"the Wait of a Cond comes after a Signal or Broadcast", fixture, []string{"(*sync.Cond).Wait"}},
	{Wake, Ended, 0, "wake",
		"Signal and Broadcast come before the Wait that they end", fixture,
		[]string{"(*sync.Cond).Signal", "(*sync.Cond).Broadcast"}},
	{Load, 0, Stored, "load", "a load comes after the store of the value that it finds", fixture, nil},
	{Store, Stored, 0, "store", "a store comes before the loads that find its value", fixture, nil},
	{Update, Stored, Stored, "update", "Add, Swap and CompareAndSwap load and store", fixture, nil},
	{Settle, 0, Everything, "settle",
		"synctest.Wait returns when all others of the bubble wait, or have ended", fixture,
		[]string{"testing/synctest.Wait"}},
}

var (
	rows   = map[Kind]*row{}
	byName = map[string]Kind{}
)

func init() {
	for i := range table {
		rows[table[i].kind] = &table[i]
		for _, name := range table[i].methods {
			byName[name] = table[i].kind
		}
	}
}

// String returns the name of the row of k.
func (k Kind) String() string { return rows[k].name }

// Events returns the event that an operation of kind k signals, and the one that it waits for; 0 for none.
func (k Kind) Events() (signals, waits Event) { return rows[k].signals, rows[k].waits }

// Operations lists the rows with a fixture, as excuses: to know an operation removes findings of places that it orders.
func Operations() (list []excuse.Excuse) {
	for _, r := range table {
		if r.fixture != "" {
			list = append(list, excuse.Excuse{Name: r.name, Reason: r.reason, Fixture: r.fixture})
		}
	}
	return list
}
