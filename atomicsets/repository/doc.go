// Package repository reads and writes the repository file: the atomic sections
// of a module as text that people review (AtomRace's external repository of
// atomicities). It lies at the root of the main module and is named [Name].
//
//	# A pool hands out each connection once.
//	section invariant example.com/m (*Pool).Take
//		entry read: p.idle
//		end write #2 allows read: p.idle
//		end read map in (*Pool).grow allows read unobserved: p.byName[name]
//		end read dropped: p.idle
//			why: violated in run 7 (seed 42), which the oracle calls correct
//		pinned: taken and counted as one
//
// Lines that begin with # are comments; they stay with the section below them.
//
// A section is keyed by its kind, package, function and entry ([Key]), an end within it by its access
// ([Access]): mode, the part of the expression that is accessed if not itself (map, elements), the function of
// a callee that it lies in, expression, and where the function has several accesses alike, a number that counts
// them in the order of the text, from #1, which is not written. No line numbers, so that keys survive edits
// elsewhere; an edit of the access itself makes another section.
//
// An end allows the kinds of remote access that it names (`allows none` for
// none) between entry and end. Refinement and people say more of an end:
//
//   - dropped: everything is allowed, for the reason on the line `why:` below
//     it, which is required. An end that allows both kinds is dropped.
//   - unobserved: no run has come from the entry to it. It keeps its A set, and is
//     left out of the plan until somebody removes the word.
//
// A section with all ends dropped or unobserved is not in the plan but stays in the file. `pinned: reason`
// keeps a section as a person has written it: neither refinement nor refresh changes or removes it. `why:
// reason` at the section itself says why its accesses belong together; user sections must have it.
package repository
