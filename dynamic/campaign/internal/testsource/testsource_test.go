package testsource

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/build"
)

func TestTimesOfTests(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long")
	}
	for _, tt := range []struct {
		name, code, test string
		want             time.Duration
		bearable         int
	}{
		{"none", "var n = 5", "", 0, 2000},
		{"sleep", "var _ = 3 * time.Second", "func f() { time.Sleep(5 * time.Millisecond) }", 5 * time.Millisecond, faint},
		{"implicit", "", "func f() { time.Sleep(6e7) }", 60 * time.Millisecond, 600},
		{"named", "const wait = time.Second", "func f() { <-time.After(20 * time.Millisecond) }", 20 * time.Millisecond, 200},
		{"of a number", "func f(n int) time.Duration { return time.Duration(n) * time.Minute }", "", time.Minute, 2000},
		{"arithmetic", "var _ = 7 * time.Nanosecond", "", 0, 2000},
	} {
		for _, test := range []string{"m", "m_test"} {
			t.Run(tt.name+" in "+test, func(t *testing.T) {
				const start = "\n\nimport \"time\"\n\nvar _ = time.Now\n\n"
				dir := t.TempDir()
				for name, text := range map[string]string{
					"go.mod": "module m\n\ngo 1.22\n", "m.go": "package m" + start + tt.code + "\n",
					"m_test.go": "package " + test + start + tt.test + "\n",
				} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				m, err := build.Load(t.Context(), build.Options{Dir: dir})
				if err != nil {
					t.Fatal(err)
				}
				if got := shortest(m.Packages, "m"); got != tt.want {
					t.Errorf("shortest %v, want %v", got, tt.want)
				}
				if got := Bearable(m.Packages, "m", 2000); got != tt.bearable {
					t.Errorf("bearable %d, want %d", got, tt.bearable)
				}
			})
		}
	}
}
