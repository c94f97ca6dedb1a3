package strangers

import "slices"

// stranger is a released module, and how it is tried.
type stranger struct {
	path, version string
	packages      []string // all, if there are none
	flags         []string // of go test
	// Modules of the same repository that it replaces by a relative path: folder -> version.
	nested map[string]string
	vendor bool   // tried with its imports in its vendor folder
	why    string // it is not run whole, or not as it is
}

// patterns lists the packages to try.
func (m stranger) patterns() []string {
	if len(m.packages) == 0 {
		return []string{"./..."}
	}
	return m.packages
}

// patternsAndFlags adds the flags of the tests, in the form that Interlock takes.
func (m stranger) patternsAndFlags() []string {
	if len(m.flags) == 0 {
		return m.patterns()
	}
	return slices.Concat(m.patterns(), []string{"--"}, m.flags)
}
