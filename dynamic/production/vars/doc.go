// Package vars publishes the state of the race watch by package expvar, by the name interlock. A build with an agent
// has those programs import it that link expvar already: it would otherwise show the command line of programs that
// have not asked for that. A program that publishes the name interlock itself is ended by package expvar: build it
// without an agent.
//
// Nothing here is built in its place: a build constraint keeps all other files out.
package vars
