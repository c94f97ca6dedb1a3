// Package atomicsets makes the plan: it joins the sites of a module with what
// the static passes know about them, and says for each site whether the
// monitor watches it or why it does not need to.
//
// What may be missed: a site that a static pass skips wrongly is not watched,
// so a skip needs a proof, not a guess. Nothing here makes findings.
package atomicsets
