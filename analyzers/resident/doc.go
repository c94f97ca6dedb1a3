// Package resident keeps a module analysed in this process, so that the second
// analysis of a package costs no more than the package itself.
//
// [Load] asks the go command which packages there are, and reads those of other modules from export data. The
// module's own packages are typed from source, on demand: [Module.Analyse] brings one package up to date,
// behind those of the module that it imports. The part of a package that is kept is small: its exported types,
// the facts of the passes, the summary of its findings, and the notes for people ([Note]). Syntax, bodies and
// SSA form are dropped.
//
// A package is typed against the API of the packages that it imports: the types
// that they had when their API last changed. An edit that leaves the API as it was
// therefore touches no other package; one that changes it has all importers typed
// anew, as two generations of one type must not meet. An importer is analysed
// again where its types or the facts that it can see have changed.
//
// Whether a file has changed is decided by its content each time, so that nobody
// has to report edits that were made elsewhere.
//
// Tests are analysed where somebody asks for them ([Module.AnalyseTests]), as the go
// command compiles them: the package together with its own tests, and the package that
// tests it from outside, which may import others that import the tested one.
//
// An analysis that is not wanted any more ends within its passes, by their next look at the context. Passes
// keep their facts of code that did not change in the memory that a package has here ([ir.Session]); it is
// dropped where an import of the package changes.
//
// Cost: for an unchanged package, reading its files; for a changed one, type check
// and passes of the package, linear in its size.
package resident
