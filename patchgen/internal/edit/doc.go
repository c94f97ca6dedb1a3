// Package edit changes source text: edits of a file's bytes that keep its
// formatting and line ends, unified diffs, and writing files in one step.
package edit
