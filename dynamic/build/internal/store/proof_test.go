package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/interlock-go/interlock/dynamic/cache"
)

func TestProofs(t *testing.T) {
	p := OpenProofs(t.TempDir())
	one, other := map[string][]byte{"a": []byte("1")}, map[string][]byte{"a": []byte("2")}
	if p.Add(one); !p.Has(one) || p.Has(other) {
		t.Errorf("the files that were proven: %v, others: %v", p.Has(one), p.Has(other))
	}
	// What is too old counts no more, and goes when something is added.
	old := time.Now().Add(-2 * cache.Age)
	file := filepath.Join(p.dir, contentHash(one))
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if p.Has(one) {
		t.Error("a proof counts for ever")
	}
	p.Add(other)
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("an old proof was not removed: %v", err)
	}
	// Without a cache nothing is kept.
	if none := OpenProofs(""); none.Has(other) {
		t.Error("something is proven without a cache")
	} else if none.Add(other); none.Has(other) {
		t.Error("something is kept without a cache")
	}
}
