package main

// exceptions are programs that must differ, by name below GOROOT/test, with
// the one reason each.
var exceptions = map[string]string{}
