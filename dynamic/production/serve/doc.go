// Package serve opens the pages of the race watch where the build says: a build with an agent has each program import
// it. See package pages.
//
// Nothing here is built in its place: a build constraint keeps all other files out.
package serve
