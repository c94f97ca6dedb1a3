package conformance

// exceptions are programs that must differ, by name below GOROOT/test, with
// the one reason each.
var exceptions = map[string]string{
	"fixedbugs/bug348.go": "its trace shows f with (...) for arguments where f is inlined; f now calls the " +
		"monitor and is not",
	"fixedbugs/issue22083.go": "its trace shows Get with (...) for arguments where Get is inlined; Get now calls the " +
		"monitor and is not",
}
