package driver

import "bytes"

// unmix returns the output of `go vet -json` with the objects on standard output:
// before Go 1.26 they come on standard error, among the lines for people.
func unmix(out output) output {
	objects, rest := bytes.NewBuffer(out.stdout), new(bytes.Buffer)
	inside := false
	for line := range bytes.Lines(out.stderr) {
		text := string(bytes.TrimSpace(line))
		inside = inside || text == "{" && line[0] == '{'
		if inside {
			objects.Write(line)
		} else {
			rest.Write(line)
		}
		inside = inside && !(text == "}" && line[0] == '}')
	}
	return output{objects.Bytes(), rest.Bytes()}
}
