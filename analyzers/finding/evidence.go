package finding

// Kinds of evidence that make a class of their own, in the words behind the code in [Finding.Class].
const (
	InTests = " in tests" // the finding's first place stands in a test
	Outside = " outside"  // a wait for the world outside of the program, such as a write to a connection
	// Writers: several functions write the variable under the guard, and one at most without.
	Writers = " several writers"
	// ForMany: as Writers, in methods of a type of which a comment says that several goroutines may use it.
	ForMany = " for several goroutines"
	// LeftBehind: in the simulation of a function, all goroutines but the one that waits have returned, with the
	// function itself.
	LeftBehind = " left behind"
	// SharedType: nothing but the type, by its locks and atomics, says that goroutines share the variable.
	SharedType = " shared type"
)
