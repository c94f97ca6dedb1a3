package hb

import (
	"go/parser"
	"go/token"
	"testing"
)

// Each loop has a call at its head and one behind it, on the lines that are there; so have loops of literals, and
// with labels.
func TestCountLoops(t *testing.T) {
	const head = "; import interlockengine \"runtime\""
	for text, want := range map[string]string{
		"package p\n\nfunc f(n int) {\n\tfor i := range n {\n\t\tf(i)\n\t}\n\tf(0)\n}\n": "package p" + head +
			"\n\nfunc f(n int) { var interlockloop5, interlocklast5 uint32; \n\tfor i := range n { " +
			"if interlockloop5++; interlockloop5 > interlocklast5 { " +
			"interlocklast5 = interlockengine.InterlockLoop(interlockloop5, 5) }; \n\t\tf(i)\n\t}" +
			"; interlocklast5 = 0; interlockengine.InterlockLoopEnd(5)\n\tf(0)\n}\n",
		"package p\nfunc f() int {\nL:\n\tfor {\n\t\tfunc() { for range 3 {} }()\n\t\tcontinue L\n\t}\n}\n": "" +
			"package p" + head +
			"\nfunc f() int { var interlockloop5, interlocklast5 uint32; \nL:\n\tfor { " +
			"if interlockloop5++; interlockloop5 > interlocklast5 { " +
			"interlocklast5 = interlockengine.InterlockLoop(interlockloop5, 5) }; " +
			"\n\t\tfunc() { var interlockloop6, interlocklast6 uint32;  for range 3 { " +
			"if interlockloop6++; interlockloop6 > interlocklast6 { " +
			"interlocklast6 = interlockengine.InterlockLoop(interlockloop6, 6) }; }" +
			"; interlocklast6 = 0; interlockengine.InterlockLoopEnd(6) }()" +
			"\n\t\tcontinue L\n\t}\n}\n",
		"package p\nfunc f() { f() }\n":                              "",
		"package p\nimport \"C\"\nfunc f() { for {} }\n":             "",
		"package p\n//go:nosplit\nfunc f() { for { println(1) } }\n": "",
	} {
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "p.go", text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		got, next := CountLoops(fset, file, []byte(text), 5)
		if string(got) != want || (next == 5) != (want == "") {
			t.Errorf("%s: next is %d, want and got:\n%s\n%s", text, next, want, got)
		}
	}
}
