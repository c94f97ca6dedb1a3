// Package house holds the rules of this repository as tests, and nothing
// else: who may import whom (the table of docs/architecture.md is read as
// data), what the injected monitor may import, which folders there are, what
// a check must have, what must not stand in a file.
//
// The tests parse the files in process: a test that asked the go command
// would be answered from the test cache.
package house
