// Package atomicsets makes the plan: it joins the sites of a module with what
// the static passes know about them, and says for each site whether the
// monitor watches it or why it does not need to, and which atomic sections it
// watches.
//
// Sections come from findings ([AddSections]). The repository file
// then decides on them ([Apply]): see package repository for what it says and how
// sections are keyed. [Keys] has the name in the file of a section or
// end of the plan, for those who write the file: [Refresh] adds what the code has, and
// refinement drops ends ([repository.End.Drop]) or marks them unobserved.
//
// What may be missed: a site that a static pass skips wrongly is not watched,
// so a skip needs a proof, not a guess. A section whose accesses are not
// monitored, or stand in one place several times, is left out. Nothing here makes
// findings.
//
// Cost: linear in the sites.
package atomicsets
