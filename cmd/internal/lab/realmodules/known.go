package realmodules

// known are tests that go another way instrumented for a reason that is no
// fault of the rewriting, by module and test, with the reason each.
var known = map[string]string{}
