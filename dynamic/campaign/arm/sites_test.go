package arm

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestWindowsAt(t *testing.T) {
	at := func(place string) ([]uint32, error) {
		ids := map[string][]uint32{"a.go:3:5": {1}, "b.go:7": {2, 4}}[place]
		if ids == nil {
			return nil, errors.New("no monitored access")
		}
		return ids, nil
	}
	only, holds, err := WindowsAt("a.go:3:5,b.go:7@20ms", at)
	want := map[uint32]time.Duration{2: 20 * time.Millisecond, 4: 20 * time.Millisecond}
	if err != nil || !slices.Equal(only, []uint32{1, 2, 4}) || !maps.Equal(holds, want) {
		t.Errorf("%v, %v, %v", only, holds, err)
	}
	for _, bad := range []string{"c.go:1", "b.go:7@", "b.go:7@0s", "b.go:7@2s", "b.go:7@20"} {
		_, _, err := WindowsAt(bad, at)
		if err == nil || strings.Contains(bad, "@") != strings.Contains(err.Error(), "20ms") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
