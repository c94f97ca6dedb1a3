// Package pointsto analyses whole programs, on request: which objects
// more than one goroutine may reach, and which code goroutines may run at the
// same time, so that the monitor can pass by what only one of them touches.
// Every other part of the tool works without it.
//
// The method. RTA finds the code that may run, and VTA, which needs no call
// graph to begin with, whom its calls may call. The flow of pointers through
// that code is a graph: a node is a value, or the contents of a place, and a
// place is a class of memory locations: a field of a named type (for generic
// types, of an instance), the elements of slices of one type (of interfaces: of
// the slices between which values flow), a variable. Fields are distinguished by
// their type and not by their object, so the graph needs no points-to sets: all
// questions are about paths in it (an inclusion-based analysis whose places are
// unified, after Steensgaard, only where pointers to them are kept). Marks run
// along the edges: against the flow those that say where an object may go to,
// with the flow what it may be. What a started goroutine gets is shared, and so
// is all that can be reached from it. Contexts (initialisation, the main
// goroutine, started ones) run along the calls and say which code may run
// beside which; tests follow each other unless they call T.Parallel.
//
// Three things make a site one that needs no monitor: no second goroutine can
// reach its object; all goroutines that access its variable, on shared
// objects, follow each other; or nobody writes the variable once others can
// reach its object.
//
// Code that is not seen (assembly, cgo, what the runtime does, all that goes
// through reflection or unsafe) may do anything with what it gets, and
// whatever comes from it is shared. What is believed of particular functions
// without their source is the table of models in models.go.
//
// What may be missed: a proof is as good as the models, and as good as the
// rule that two locations overlap only if they have the same place, which
// code breaks that computes addresses within an object by numbers alone. A
// site in code that one of several programs runs and the analysis was not told
// of is not judged; it stays monitored. What may be said falsely of a site is
// only that it must stay monitored, which costs time and hides nothing.
//
// Cost: close to linear in the instructions that are reached: places are unified, and marks run along the edges once
// each.
package pointsto
