// Package source is the typed source of a module as patches need it: files
// with their text, functions, the accesses of a variable, and the paths that
// lead to memory. It answers from the syntax and the types alone.
//
// Two paths with the same key denote the same memory as long as nothing on
// the way is assigned in between; distinct paths may still be aliases.
package source
