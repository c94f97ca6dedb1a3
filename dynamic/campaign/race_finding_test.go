package campaign

import "testing"

func TestScalar(t *testing.T) {
	for _, tt := range []struct {
		kind string
		bits uint64
		want string
	}{
		{"int", 1<<64 - 5, "-5"},
		{"int32", 1<<32 - 2, "-2"},
		{"int8", 0xff, "-1"},
		{"uint8", 0xff, "255"},
		{"bool", 1, "true"},
		{"float64", 0x3ff8000000000000, "1.5"},
		{"float32", 0x3fc00000, "1.5"},
		{"pointer", 0, "nil"},
		{"pointer", 8, "a pointer other than nil"},
	} {
		if got := scalar(tt.kind, tt.bits); got != tt.want {
			t.Errorf("%s %#x: got %s, want %s", tt.kind, tt.bits, got, tt.want)
		}
	}
}
