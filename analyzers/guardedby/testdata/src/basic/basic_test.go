package basic

import "testing"

func TestGet(t *testing.T) {
	c := New("x")
	done := make(chan bool)
	go func() { c.Add(1); done <- true }()
	<-done
	c.total++ // ok: accesses in tests are neither reported nor evidence
	if c.total != 2 {
		t.Fatal(c.total)
	}
}
