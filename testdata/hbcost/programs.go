package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
)

// numbers returns n numbers, the same ones each time.
func numbers(n int) []int {
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]int, n)
	for i := range all {
		all[i] = r.IntN(1 << 30)
	}
	return all
}

// tree is an unbalanced search tree.
type tree struct {
	mu   sync.Mutex
	root *node
	n    int
}

type node struct {
	key         int
	left, right *node
}

func (t *tree) insert(key int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := &t.root
	for *at != nil {
		if (*at).key == key {
			return
		}
		if key < (*at).key {
			at = &(*at).left
		} else {
			at = &(*at).right
		}
	}
	*at = &node{key: key}
	t.n++
}

func insertIntoTree() {
	var t tree
	var wg sync.WaitGroup
	keys := numbers(100_000)
	for part := range slices.Chunk(keys, len(keys)/4) {
		wg.Go(func() {
			for _, key := range part {
				t.insert(key)
			}
		})
	}
	wg.Wait()
}

type order struct {
	ID     int               `json:"id"`
	Name   string            `json:"name"`
	Prices []float64         `json:"prices"`
	Tags   map[string]string `json:"tags"`
}

func encodeAndDecode() {
	in := order{ID: 7, Name: "seven", Prices: []float64{1.5, 2.25, 3}, Tags: map[string]string{"a": "b", "c": "d"}}
	for range 20_000 {
		text, err := json.Marshal(in)
		if err != nil {
			panic(err)
		}
		var out order
		if err := json.Unmarshal(text, &out); err != nil {
			panic(err)
		}
	}
}

func sortNumbers() {
	all := numbers(200_000)
	for range 5 {
		slices.Sort(slices.Clone(all))
	}
}

func sendAndReceive() {
	c, done := make(chan int), make(chan int)
	go func() {
		sum := 0
		for i := range c {
			sum += i
		}
		done <- sum
	}()
	for i := range 400_000 {
		c <- i
	}
	close(c)
	<-done
}

func shareMutex() {
	for range 25 {
		var mu sync.Mutex
		var wg sync.WaitGroup
		sum := 0
		for i := range 2000 {
			wg.Go(func() {
				mu.Lock()
				sum += i
				mu.Unlock()
			})
		}
		wg.Wait()
	}
}

func startMany(rounds, n int) {
	for range rounds {
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {})
		}
		wg.Wait()
	}
}

func lockAndUnlock() {
	var mu sync.Mutex
	n := 0
	for range 10_000_000 {
		mu.Lock()
		n++
		mu.Unlock()
	}
}

var kept []byte

func allocate() {
	for i := range 2_000_000 {
		kept = make([]byte, 16+i%256)
	}
}

func writeToBuffer() {
	line := []byte("a line of text that is written again and again\n")
	for range 200 {
		var b bytes.Buffer
		for range 10_000 {
			b.Write(line)
			b.WriteByte('\n')
		}
	}
}

func countWords() {
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog and runs ", 500))
	for range 40 {
		count := map[string]int{}
		for i, w := range words {
			count[w]++
			count[fmt.Sprint(i)]++
		}
	}
}

func request() {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		w.Write(bytes.ToUpper(body))
	}))
	defer s.Close()
	for range 2000 {
		r, err := http.Post(s.URL, "text/plain", strings.NewReader("some text that comes back"))
		if err != nil {
			panic(err)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			panic(err)
		}
		r.Body.Close()
	}
}
