// Package guards holds the shared passes that know which lock guards a
// variable: [Annotations], by comments, and [Analyzer], which infers
// it from the accesses of the package and lists those without it.
//
// The inference counts accesses; its thresholds are those of package crosspkg,
// which judges exported variables over all packages by the same rule.
//
// Cost: the accesses of a variable are judged one by one; for each that lacks
// the guard, all that hold it are compared, so a square of the accesses of one
// variable.
package guards
