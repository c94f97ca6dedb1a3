package tests

import (
	"bytes"
	"strings"
	"testing"
)

// A function of the package starts the goroutine, and waits for it.
func TestSign(t *testing.T) {
	var b bytes.Buffer
	o := &Options{}
	if err := Sign(&b, strings.NewReader("x"), o); err == nil {
		t.Error("no error")
	}
	o.Keys = []string{"To"} // ok: Close has waited for the goroutine
	if err := Sign(&b, strings.NewReader("x"), o); err == nil {
		t.Error("no error")
	}
	o.Keys = nil
}
