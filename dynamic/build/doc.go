// Package build carries an instrumented build past the go command without
// touching the user's tree: it loads the packages of the main modules with
// their types, lays the rewritten files over the originals (-overlay), brings
// the monitor in through a go.work of its own (GOWORK), and has the go command
// build test binaries from both.
//
//	m, err := build.Load(ctx, build.Options{Dir: dir, Patterns: patterns})
//	ws, err := build.Prepare(ctx, m, plan)   // defer ws.Close()
//	tests, err := ws.BuildTests(ctx)
//
// Two things stay behind: the monitor's source and the test binaries, both in the
// user's cache directory, so that a second build compiles and links nothing.
// Everything else lives in one temporary folder that [Workspace.Close] removes;
// the folder of a killed process is removed when the next one starts.
//
// Missed: files that cgo translates are left as they are, and so
// is every file that does not compile once rewritten; [Workspace.LeftAlone]
// lists both. Nothing here makes findings, so nothing is reported falsely; but
// the build differs from the user's own in three ways that are made up for as
// far as the go command allows: a go.work is in force (its go line would change
// GODEBUG defaults, so the module's own are written out), vendor folders are
// reached through replace lines, and vet does not run.
package build
