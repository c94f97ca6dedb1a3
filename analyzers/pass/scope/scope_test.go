package scope

import "testing"

func TestBelow(t *testing.T) {
	for _, tt := range []struct {
		module, pkg string
		want        bool
	}{
		{"m.org/a", "m.org/a", true},
		{"m.org/a", "m.org/a/b", true},
		{"m.org/a", "m.org/a_test", true},
		{"m.org/a", "m.org/a/b_test", true},
		{"m.org/a", "m.org/ab", false},
		{"m.org/a", "m.org", false},
		{"m.org/a", "strings", false},
	} {
		if got := isInModule(tt.module, tt.pkg); got != tt.want {
			t.Errorf("package %s of module %s: %v", tt.pkg, tt.module, got)
		}
	}
}
