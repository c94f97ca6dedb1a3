// Package summary gathers the facts of the passes about one package for the rest of the pipeline: findings,
// accesses that need no monitor, and how functions use locks.
//
// interlocksummary: hand the results of all checks on to interlock
//
// The result travels as one hidden diagnostic (category interlock-summary,
// message JSON) through the driver, and so through the go command's cache; it
// is there only with the flag -interlocksummary.emit. Problems, such as a
// directive that suppresses nothing or a pass that failed, are part of it,
// and are diagnostics of their own without the flag.
//
// Cost: linear in the findings of the passes, and in the accesses.
package summary
