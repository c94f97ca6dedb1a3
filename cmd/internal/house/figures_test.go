package house

import (
	"slices"
	"testing"
)

// slack is by how much a limit may be above its figure, in percent: one that is higher holds nothing.
const slack = 3

func TestFigures(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	limits, err := ReadLimits(root)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, limits, tree.Figures())
}

func TestRoomSizes(t *testing.T) {
	readTree(t)
	tree, _ := tree()
	sizes, err := ReadRoomSizes(root)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, sizes, tree.RoomSizes())
}

// holds fails where a value is above its limit, where a limit is far above its value, and where one of the two is
// missing.
func holds(t *testing.T, limits, values map[string]int) {
	t.Helper()
	for name, value := range values {
		most, ok := limits[name]
		switch {
		case !ok:
			t.Errorf("docs/architecture.md has no limit for %s, which is %d", name, value)
		case value > most:
			t.Errorf("%s: %d, docs/architecture.md allows %d: bring it down, or say in the commit why the limit rises",
				name, value, most)
		case most > value+max(2, value*slack/100):
			t.Errorf("%s: %d, docs/architecture.md allows %d: lower the limit", name, value, most)
		}
	}
	for name := range limits {
		if _, ok := values[name]; !ok {
			t.Errorf("docs/architecture.md limits %s, which is not there", name)
		}
	}
}

func TestCrowded(t *testing.T) {
	src := "package p\n\n" +
		"type T struct {\n\ta, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p int\n}\n\n" +
		"type U struct{ a int }\n\n" +
		"// whose is it, and what is it?\nfunc f(a bool) bool {\n" +
		"\tif a && (a || !(a && a)) && a || a {\n\t}\n\treturn a && a || a && a || a\n}\n"
	file, err := surveyFile("p.go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{3}; !slices.Equal(file.Structs, want) {
		t.Errorf("structs at %v, want %v", file.Structs, want)
	}
	if want := []int{11}; !slices.Equal(file.Conditions, want) {
		t.Errorf("conditions at %v, want %v", file.Conditions, want)
	}
	if want := []int{9}; !slices.Equal(file.Relatives, want) {
		t.Errorf("relatives at %v, want %v", file.Relatives, want)
	}
}
