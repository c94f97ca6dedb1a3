package build

import "strings"

// ConfigError reports that the request cannot be served as it stands and what to
// do about it, on one line. The command line ends with code 2.
type ConfigError struct {
	Problem string
	Next    string // what the user can do
}

func (e *ConfigError) Error() string { return e.Problem + "; " + e.Next }

// CompileError reports that the user's own code does not build. Output is what
// the go command printed, unchanged. The command line ends with code 3.
type CompileError struct {
	Output string
}

func (e *CompileError) Error() string {
	return "the packages do not compile:\n" + strings.TrimRight(e.Output, "\n")
}

// RewriteError reports that the original compiles and the rewritten code does
// not, even with the files that the compiler named left as they were: a fault
// of Interlock, never of the user. The command line ends with code 3.
type RewriteError struct {
	Output string // what the go command printed
	Kept   string // folder that holds the rewritten files and the output
}

func (e *RewriteError) Error() string {
	return "internal error: rewritten code does not compile, please report it with " + e.Kept + ":\n" +
		strings.TrimRight(e.Output, "\n")
}
