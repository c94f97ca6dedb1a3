package page

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const costs = "# Costs\n\nHow it is\nmeasured.\n\n- one\n- two,\n  on two lines\n\n## A\n\n" +
	"| a | b |\n|---|--:|\n| 1\\|2 | <3> |\n| 4 | |\n\nAfter it.\n\n### B\n\n| c |\n|---|\n"

func TestParse(t *testing.T) {
	want := Document{Title: "Costs", Sections: []Section{
		{Text: []string{"How it is measured.", "one", "two, on two lines"}},
		{
			Heading: "A", Text: []string{"After it."},
			Tables: []Grid{{[]string{"a", "b"}, [][]string{{"1|2", "<3>"}, {"4", ""}}}},
		},
		{Heading: "B", Tables: []Grid{{Columns: []string{"c"}}}},
	}}
	if got := Parse(costs); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// The JSON has all of a document, each row and each paragraph on a line.
func TestEncode(t *testing.T) {
	d := Parse(costs)
	d.Sections[2].Tables[0].Rows = [][]string{{"1"}}
	data, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if want := "\n\t\t\t\t\t[\"1|2\",\"<3>\"],\n"; !strings.Contains(string(data), want) {
		t.Errorf("no line %q in %s", want, data)
	}
	var back Document
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, d) {
		t.Errorf("got %+v, %v, want %+v", back, err, d)
	}
}

// A section replaces the one with its heading, and leaves the others.
func TestUpdate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.json")
	for _, text := range []string{"# Costs\n\n## A\n\none\n", "## B\n\ntwo\n", "## A\n\nthree\n"} {
		if err := Update(file, text); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got Document
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	want := []Section{{Heading: "A", Text: []string{"three"}}, {Heading: "B", Text: []string{"two"}}}
	if !reflect.DeepEqual(got.Sections, want) {
		t.Errorf("got %+v, want %+v", got.Sections, want)
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	Table(&b, "None", []string{"a"}, nil)
	Table(&b, "Some", []string{"a", "b"}, [][]string{{"1|2", "3"}})
	if want := "\n## Some\n\n| a | b |\n|---|---|\n| 1\\|2 | 3 |\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
}
