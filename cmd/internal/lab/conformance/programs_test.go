package conformance

import (
	"slices"
	"testing"
)

func TestParseProgram(t *testing.T) {
	for _, tt := range []struct {
		name, src   string
		ok          bool
		flags, args []string
		env         []string
	}{
		{"plain", "// run\n\npackage main\n", true, nil, nil, nil},
		{"constraint before", "//go:build !nosuchtag\n\n// run\n\npackage main\n", true, nil, nil, nil},
		{"constraint against us", "//go:build nosuchtag\n\n// run\n\npackage main\n", false, nil, nil, nil},
		{"flags and arguments", "// run -gcflags=-l=4 a b\n\npackage main\n", true,
			[]string{"-gcflags=-l=4"}, []string{"a", "b"}, nil},
		{"flag with a value apart", "// run -gcflags -l=4\n\npackage main\n", true, []string{"-gcflags=-l=4"}, nil, nil},
		{"quotes", "// run -gcflags='all=-N -l'\n\npackage main\n", true, []string{"-gcflags=all=-N -l"}, nil, nil},
		{"experiment", "// run -goexperiment fieldtrack\n\npackage main\n", true,
			nil, nil, []string{"GOEXPERIMENT=fieldtrack"}},
		{"another recipe", "// errorcheck\n\npackage main\n", false, nil, nil, nil},
		{"no recipe", "package main\n", false, nil, nil, nil},
	} {
		p, ok := parseProgram(tt.name, []byte(tt.src))
		if ok != tt.ok || !slices.Equal(p.Flags, tt.flags) || !slices.Equal(p.Args, tt.args) || !slices.Equal(p.Env, tt.env) {
			t.Errorf("%s: got %v, flags %q, arguments %q, environment %q", tt.name, ok, p.Flags, p.Args, p.Env)
		}
	}
}

func TestDifference(t *testing.T) {
	base := result{output: []byte("goroutine 1 at 0xc000\nsame\n"), exit: 2}
	for _, tt := range []struct {
		name string
		b    result
		same bool
	}{
		{"only addresses and numbers", result{output: []byte("goroutine 7 at 0xc123\nsame\n"), exit: 2}, true},
		{"another line", result{output: []byte("goroutine 1 at 0xc000\nother\n"), exit: 2}, false},
		{"a line more", result{output: []byte("goroutine 1 at 0xc000\nsame\n\n"), exit: 2}, false},
		{"another exit code", result{output: base.output}, false},
		{"a time-out", result{output: base.output, exit: 2, timedOut: true}, false},
	} {
		if got := difference(base, tt.b); (got == "") != tt.same {
			t.Errorf("%s: difference %q", tt.name, got)
		}
	}
}
