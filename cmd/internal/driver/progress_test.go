package driver_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/interlock-go/interlock/cmd/internal/driver"
)

// Each package of the request is counted once, external tests by themselves.
func TestProgress(t *testing.T) {
	var got []string
	_, err := driver.Vet(t.Context(), driver.Options{
		Dir: unpack(t, "module"), Patterns: []string{"./..."}, Tool: tool, Env: []string{"GOFLAGS=", "GOWORK=off"},
		Progress: func(done, total int) { got = append(got, fmt.Sprintf("%d of %d", done, total)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"0 of 3", "1 of 3", "2 of 3", "3 of 3"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
