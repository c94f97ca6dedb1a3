// Package house measures this repository and holds its rules as tests: the imports
// of each room (the table of docs/architecture.md is read as data) and of the
// injected monitor, which folders there are, the parts of a check,
// how large a package and how dense a function may be, and which words are not
// used.
//
// Survey reads a tree and Write prints its tables; `make house` calls both.
// Everything is parsed in process: a test that asked the go command would be
// answered from the test cache.
package house
