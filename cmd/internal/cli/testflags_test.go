package cli

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSplitTestFlags(t *testing.T) {
	for _, tt := range []struct {
		in            string
		build, binary []string
		timeout       time.Duration
		verbose       bool
		cover         []string
	}{
		{in: ""},
		{in: "-run X -v", binary: []string{"-test.run=X", "-test.v"}, verbose: true},
		{in: "--run=X -v=false", binary: []string{"-test.run=X", "-test.v=false"}},
		{in: "-test.run=X", binary: []string{"-test.run=X"}},
		{in: "-tags a,b -race -short", build: []string{"-tags=a,b", "-race"}, binary: []string{"-test.short"}},
		{in: "-timeout 90s", timeout: 90 * time.Second},
		{in: "-timeout 0", timeout: -1},
		{in: "-vet=off -json"},
		{in: "-cover -coverprofile c.out -race", build: []string{"-race"}, cover: []string{"-cover", "-coverprofile=c.out"}},
		{in: "-update golden -run X", binary: []string{"-update", "golden", "-test.run=X"}},
		{in: "-run X -args -run ./... --", binary: []string{"-test.run=X", "-run", "./...", "--"}},
	} {
		got, err := splitTestFlags(strings.Fields(tt.in))
		if err != nil {
			t.Errorf("%q: %v", tt.in, err)
		}
		if !slices.Equal(got.build, tt.build) || !slices.Equal(got.binary, tt.binary) || got.timeout != tt.timeout || got.verbose != tt.verbose || !slices.Equal(got.cover, tt.cover) {
			t.Errorf("%q: got %+v", tt.in, got)
		}
	}
	for in, want := range map[string]string{
		"./...":         "packages stand before it",
		"-run":          "-run after -- needs a value",
		"-timeout soon": "want a duration",
	} {
		if _, err := splitTestFlags(strings.Fields(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", in, err, want)
		}
	}
}
