// Package inprocess runs analyzers on one typed package in this process.
//
// The drivers of x/tools keep no facts from one run to the next: unitchecker
// writes them to files, checker.Analyze drops them. A process that analyses a
// package again and again, as an editor's server or the judge of patches does,
// needs them to outlive the types: so they are kept by the object's path within
// its package ([objectpath]), beside the object itself. [Facts.Same] reports
// whether another analysis of the package may leave its importers alone.
//
// Cost: that of the analyzers, which run side by side where they do not need
// each other.
package inprocess
