// Package run makes and reads runs of test binaries: the settings that all runs
// of a campaign share, the noise of one run, the state of a package over its
// runs, and the command line that makes a run again. It decides nothing about
// findings.
package run
