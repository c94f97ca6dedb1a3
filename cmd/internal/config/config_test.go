package config

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var known = Flags{"check": {"fail-on", "possible", "tags"}, "test": {"fail-on", "runs", "deps", "tags"}}

func TestSettings(t *testing.T) {
	text := "# all\nfail-on: none\ndeps: [a, b/...]\ntest:\n  runs: 20\n  fail-on: confirmed,noise\n"
	c, err := parse([]byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range c.For("test", known["test"]) {
		got = append(got, s.Flag+"="+strings.Join(s.Values, "+"))
	}
	want := []string{"fail-on=none", "deps=a+b/...", "runs=20", "fail-on=confirmed,noise"}
	if !slices.Equal(got, want) {
		t.Errorf("test: %q, want %q", got, want)
	}
	if all := c.For("check", known["check"]); len(all) != 1 || all[0].Flag != "fail-on" {
		t.Errorf("check: %v", all)
	}
}

// A word that is a command and a flag is the flag where it has a value.
func TestCommandAndFlag(t *testing.T) {
	known := Flags{"baseline": {"tags"}, "check": {"baseline", "tags"}}
	c, err := parse([]byte("baseline: off\n"), known)
	if err != nil || len(c.Common) != 1 || c.Common[0].Flag != "baseline" {
		t.Errorf("%+v, %v", c, err)
	}
	c, err = parse([]byte("baseline:\n  tags: x\n"), known)
	if err != nil || len(c.Commands["baseline"]) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"# nothing\n":              "",
		"check:\n":                 "",
		"fial-on: none":            `1:1: unknown key "fial-on" (did you mean "fail-on"?)`,
		"chekc:\n  possible: true": `1:1: unknown key "chekc" (did you mean "check"?)`,
		"check:\n  runs: 1":        `2:3: unknown key "runs" of check; known are fail-on, possible, tags`,
		"xyzzy: 1": `1:1: unknown key "xyzzy"; known are check, deps, fail-on, possible, runs, tags, ` +
			"test",
		"tags: a\ntags: b":               `2:1: "tags" stands there twice`,
		"tags: {a: b}":                   "1:7: tags: want one value",
		"- a":                            "1:1: want keys with values",
		"check: 1":                       "1:8: want keys with values",
		"tags:":                          "want one value",
		"# one\ntags: [a":                "2:7: this is not YAML (sequence end token ']' not found)",
		"test:\n  tags: \"a":             "2:9: this is not YAML (could not find end character of double-quoted text)",
		"tags: a\n---\ntags: b":          "3:1: a second document begins here",
		"? tags\n: a":                    "1:1: want the name of a flag or a command",
		"tags: *x":                       "1:7: tags: want one value",
		"a:\n\tb: 1\n":                   "2:1: a tab, where YAML indents with spaces alone",
		"a:\n b: x: y\n":                 "2:5: this is not YAML (mapping value is not allowed in this context)",
		"tags: a\n\x1b[31m: x":           "",
		"check: &a\n  tags: x\ntest: *a": "",
	} {
		_, err := parse([]byte(text), known)
		if want == "" {
			if err != nil && !strings.Contains(text, "\x1b") && !strings.Contains(text, "&") {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// place matches line and column, by which an error begins.
var place = regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*: `)

func FuzzParse(f *testing.F) {
	f.Add([]byte("fail-on: none\ntest:\n  deps: [a, b]\n"))
	f.Add([]byte("check: &a\n  tags: x\ntest: *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parse(data, known)
		if err == nil {
			c.For("test", known["test"])
		} else if !place.MatchString(err.Error()) {
			t.Errorf("an error without a place: %v", err)
		}
	})
}
