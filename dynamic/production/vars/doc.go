// Package vars publishes the state of the race watch by package expvar, by the name interlock. A build with an agent
// has those programs import it that link expvar already: it would otherwise show the command line of programs that have
// not asked for that.
//
// Nothing here is built in its place: a build constraint keeps all other files out.
package vars
