package crossing

import (
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// The store behind a value that a goroutine fails by is named only where it is another goroutine's, and the last one.
func TestLastStore(t *testing.T) {
	stack := []finding.Frame{{File: "conn.go", Line: 3}, {File: "a.go", Line: 9}}
	for _, c := range []struct {
		name, steps string
		want        uint32 // site of the store; 0 for none
	}{
		{"by another", `
			g2 write s11 100 T:1 close:4
			g1 read s10 100 T:1 send:9`, 11},
		{"by itself", `
			g2 write s11 100 T:1 close:4
			g1 write s12 100 T:1 send:8
			g1 read s10 100 T:1 send:9`, 0},
		{"the latest of two", `
			g2 write s11 100 T:1 close:4
			g3 write s13 100 T:1 open:5
			g1 read s10 100 T:1 send:9`, 13},
		{"of other memory", `
			g2 write s11 200 T:1 close:4
			g1 read s10 100 T:1 send:9`, 0},
		{"after the read", `
			g1 read s10 100 T:1 send:9
			g2 write s11 100 T:1 close:4`, 0},
		{"read at another line", `
			g2 write s11 100 T:1 close:4
			g1 read s10 100 T:1 send:7`, 0},
		{"read by another", `
			g2 write s11 100 T:1 close:4
			g3 read s10 100 T:1 send:9`, 0},
	} {
		_, store, ok := LastStore(run(t, c.steps), 1, stack)
		if ok != (c.want != 0) || ok && store.Site != c.want {
			t.Errorf("%s: site %d, %v; want %d", c.name, store.Site, ok, c.want)
		}
	}
}
