// Package streams has goroutines that read from a stream, and wait for another one that writes there.
package streams

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

func Lines(produce func(io.Writer) error) (n int, err error) {
	pr, pw := io.Pipe()
	go func() {
		err = produce(pw) // ok: the scanner reads up to the end
		pw.Close()
	}()
	sc := bufio.NewScanner(pr)
	for sc.Scan() {
		n++
	}
	return n, err
}

func Answer(ask func() int) (n, calls int) {
	pr, pw := io.Pipe()
	go func() {
		calls++ // ok: Fscan waits for the answer
		fmt.Fprintln(pw, ask())
	}()
	fmt.Fscan(pr, &n)
	return n, calls
}

func Encode(v, out any) (err error) {
	pr, pw := io.Pipe()
	var failed error
	go func() {
		failed = json.NewEncoder(pw).Encode(v) // ok
		pw.Close()
	}()
	dec := json.NewDecoder(pr)
	if err = dec.Decode(out); err != nil {
		return err
	}
	if dec.Decode(new(any)) != io.EOF {
		return err
	}
	return failed
}

func First(f func(io.Writer)) (string, int) {
	pr, pw := io.Pipe()
	calls := 0
	go func() {
		calls++ // ok
		f(pw)
		pw.Close()
	}()
	defer pr.Close()
	s, _ := bufio.NewReader(pr).ReadString('\n')
	return s, calls
}

func Printed(f func(io.Writer)) int {
	_, pw := io.Pipe()
	calls := 0
	go func() {
		calls++ // want `variable calls is shared with the goroutine that captures it`
		f(pw)
	}()
	fmt.Fprintln(os.Stderr, "started")
	return calls
}

func Filled(f func(io.Writer)) (string, int) {
	_, pw := io.Pipe()
	calls := 0
	go func() {
		calls++ // want `variable calls is shared with the goroutine that captures it`
		f(pw)
	}()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%p", f)
	return b.String(), calls
}
