package bench

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
)

// held is loaded before all programs run and stored when they have: the
// section that a monitor may hold throughout.
var held int

func TestMain(m *testing.M) {
	n := held
	code := m.Run()
	held = n + 1
	status, _ := os.ReadFile("/proc/self/status") // elsewhere there is none
	for line := range strings.Lines(string(status)) {
		if peak, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println("peak memory:", strings.TrimSpace(peak))
		}
	}
	os.Exit(code)
}

func BenchmarkBTree(b *testing.B) {
	t := &BTree{}
	x := uint32(1)
	for b.Loop() {
		x = x*1664525 + 1013904223
		t.Insert(int(x >> 12))
	}
}

func BenchmarkLRU(b *testing.B) {
	c := NewLRU(1024)
	x := uint32(1)
	for b.Loop() {
		x = x*1664525 + 1013904223
		key := int(x >> 21)
		if _, ok := c.Get(key); !ok {
			c.Put(key, key)
		}
	}
}

func BenchmarkParser(b *testing.B) {
	src := []byte(`{"name": "bench", "list": [1, 2.5, -3e7, true, null], "nested": {"a": {"b": ["c", "d\"e"]}}, "n": 12345}`)
	for b.Loop() {
		if n, err := Parse(src); err != nil || n != 14 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkPipeline(b *testing.B) {
	for b.Loop() {
		if got := Pipeline(1000); got != 1001000 {
			b.Fatal(got)
		}
	}
}

func BenchmarkPool(b *testing.B) {
	for b.Loop() {
		p := NewPool(4)
		for i := range 1000 {
			p.Do(i)
		}
		if got := p.Close(); got != 1000 {
			b.Fatal(got)
		}
	}
}

func BenchmarkCache(b *testing.B) {
	var c Cache
	keys := make([]string, 256)
	for i := range keys {
		keys[i] = "key " + strconv.Itoa(i)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			c.Get(keys[i%len(keys)], func(s string) int { return len(s) })
		}
	})
}

func BenchmarkEcho(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Skip("no loopback: ", err)
	}
	defer l.Close()
	go Echo(l)
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	r := bufio.NewReader(conn)
	line := []byte("hello, is there anybody in there\n")
	for b.Loop() {
		if _, err := conn.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := r.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBTree(t *testing.T) {
	var tree BTree
	for i := range 5000 {
		if !tree.Insert(i * 7919 % 5003) {
			t.Fatalf("key %d is there twice", i)
		}
	}
	if tree.Len() != 5000 || !tree.Has(0) || tree.Has(5003) {
		t.Fatal("wrong contents, length", tree.Len())
	}
}

func TestLRU(t *testing.T) {
	c := NewLRU(2)
	c.Put(1, 10)
	c.Put(2, 20)
	c.Get(1)
	c.Put(3, 30)
	if _, ok := c.Get(2); ok {
		t.Error("2 was used least recently and is still there")
	}
	if v, ok := c.Get(1); !ok || v != 10 {
		t.Error("1 is gone")
	}
}
