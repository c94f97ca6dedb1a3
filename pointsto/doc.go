// Package pointsto analyses whole programs, on request: which objects
// more than one goroutine may reach, and which code goroutines may run at the
// same time, so that the monitor can pass by memory that only one of them touches.
// Every other part of the tool works without it.
//
// RTA finds the code that may run, and VTA, which needs no call graph to begin
// with, the callees of its calls. The flow of pointers through that code is a
// graph of values and the contents of abstract locations. A location
// is a class of memory addresses: a field of a named type (for generic
// types, of an instance), the elements of slices of one type (of interfaces, of
// the slices between which values flow), a variable. Fields are distinguished by
// their type and not by their object, so the graph needs no points-to sets: all
// questions are about paths in it (an inclusion-based analysis with locations that are
// unified, after Steensgaard, only where pointers to them are kept). Marks run
// along the edges, against the flow those on where an object may go to,
// with the flow those on its origin. An object that a started goroutine gets is shared, and so
// is all that can be reached from it. Contexts (initialisation, the main
// goroutine, started ones) run along the calls and show which code may run
// beside which; tests follow each other unless they call T.Parallel.
//
// Three things make a site one that needs no monitor: no second goroutine can
// reach its object; all goroutines that access its variable, on shared
// objects, follow each other; or nobody writes the variable once others can
// reach its object.
//
// External code, which the analysis does not see (assembly, cgo, the runtime,
// all that goes through reflection or unsafe), may do anything with the values that
// it gets, and every value that comes from it is shared. The beliefs about particular
// functions without their source are the table of models in models.go.
//
// Missed: a proof is as good as the models, and as good as the
// rule that two accesses touch the same memory only if they have the same location.
// Code breaks that rule that computes addresses within an object by numbers alone. A
// site in code that a program runs which was not loaded is not judged; it stays
// monitored. The only false statement about a site is that it must stay monitored,
// which costs time and hides nothing.
//
// Cost: close to linear in the instructions that are reached: locations are unified, and marks
// run along the edges once each. A call through a variable may reach each function of its type
// with an address that is taken, as far as VTA can tell, so the calls of many closures of one type cost
// their square.
package pointsto
