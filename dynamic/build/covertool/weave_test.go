package covertool

import (
	"strings"
	"testing"
)

func TestWeave(t *testing.T) {
	const (
		original = "package p\n\nfunc f() { if a { b() } else { c() } }\n"
		marked   = "package p/*interlock:9*/; import rt\n\n" +
			"func f() {/*interlock:21*/ /*interlock:22*/if a {/*interlock:28*/ /*interlock:29*/b() } " +
			"else/*interlock:39*/ /*interlock:40*/{/*interlock:41*/ /*interlock:42*/{ t := c(); t() } }/*interlock:47*/ }\n"
		covered = "//line p.go:1:1\npackage p; import _cover_atomic_ \"sync/atomic\"\n\n" +
			"func f() {N_0[0] = 2 ; N_0[1] = N_P ; N_0[3] = 1; if a {N_0[4] = 1; b() } " +
			"else{ N_0[5] = 1;{ c() }} }\n\nvar _ = _cover_atomic_.LoadUint32\n"
		want = "//line p.go:1:1\npackage p; import _cover_atomic_ \"sync/atomic\"; import rt\n\n" +
			"func f() {N_0[0] = 2 ; N_0[1] = N_P ; N_0[3] = 1; if a {N_0[4] = 1; b() } " +
			"else{ N_0[5] = 1;{ { t := c(); t() } }} }\n\nvar _ = _cover_atomic_.LoadUint32\n"
	)
	got, err := weave([]byte(original), []byte(marked), []byte(covered), "N_")
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	for name, tt := range map[string]struct{ marked, covered, counter, want string }{
		"no line":       {marked, strings.TrimPrefix(covered, "//line "), "N_", "unknown way"},
		"no counter":    {marked, covered, "", "unknown way"},
		"other counter": {marked, covered, "M_", "unknown place"},
		"a mark less": {strings.Replace(marked, "/*interlock:28*/", "", 1), covered, "N_",
			"unknown place behind offset 22"},
		"other text": {marked, strings.Replace(covered, "b()", "d()", 1), "N_", "unknown place behind offset 29"},
	} {
		if _, err := weave([]byte(original), []byte(tt.marked), []byte(tt.covered), tt.counter); err == nil ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestCoverFiles(t *testing.T) {
	in, out, err := coverFiles(strings.Fields("-mode=set -var N -o out.go in.go"))
	if err != nil || len(in) != 1 || in[0] != "in.go" || out[0] != "out.go" {
		t.Errorf("%v %v %v", in, out, err)
	}
	if in, _, err := coverFiles(strings.Fields("-func=c.out")); in != nil || err != nil {
		t.Errorf("%v %v", in, err)
	}
	if _, _, err := coverFiles(strings.Fields("-outfilelist=/absent in.go")); err == nil {
		t.Error("a list that is not there")
	}
}
