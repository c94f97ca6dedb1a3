// Package atomicsets makes the plan: it joins the sites of a module with the facts that the static passes know
// about them, and says for each site whether the monitor watches it or why it does not need to, and which
// atomic sections it watches.
//
// Sections come from findings ([AddSections]). The repository file then decides on them ([Apply]): see package
// repository for its lines and the keys of sections. [Keys] has the name in the file of a section or end of the
// plan, for writers of the file: [Refresh] adds the sections of the code, and refinement drops ends
// ([repository.End.Drop]) or marks them unobserved.
//
// Misses: a site that a static pass skips wrongly is not watched, so a skip needs a proof, not a
// guess. A section with accesses that are not monitored, or stand in one place several times, is left out.
// Nothing here makes findings.
//
// Cost: linear in the sites.
package atomicsets
