// Package pages shows the race watch of a process by HTTP: a page for people, its findings for tools, and switches. It
// is part of programs that are built with an agent, and imports the standard library and package status alone.
//
//	handler.go  which request is answered by what, and who may send it
//	page.go     the page
//	findings.go findings as JSON, and in the form of the race detector
//	profile.go  findings as a profile for pprof
//	open.go     where the pages hang: on the program's mux, or on a listener of their own
//
// Nothing here shows a value of a variable. A request that changes something is a POST, and is refused if the page of
// another site has sent it.
package pages
