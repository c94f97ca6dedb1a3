package basic

import (
	"errors"
	"fmt"
	"sync"
)

func open() error { return errors.New("open") }

func Shadow() error {
	err := open()
	go func() {
		err = open() // want `variable err is shared with the goroutine that captures it: .* its starter goes on to use it`
		fmt.Println(err)
	}()
	err = open()
	return err
}

func Result() (n int, err error) {
	go func() {
		n = 1 // want `variable n is shared`
	}()
	return 2, nil
}

func Own() error {
	err := open()
	go func() {
		err := open() // ok
		fmt.Println(err)
	}()
	err = open()
	return err
}

func Waits() error {
	var err error
	done := make(chan bool)
	go func() {
		err = open() // ok: waited for
		done <- true
	}()
	<-done
	return err
}

func Group() error {
	var err error
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		err = open() // ok: waited for
	}()
	wg.Wait()
	return err
}

func OnlyReads() {
	name := "a"
	name += "b"
	go func() {
		fmt.Println(name) // ok: nobody writes it any more
	}()
	fmt.Println(name)
}

func Locked() int {
	var mu sync.Mutex
	n := 0
	go func() {
		mu.Lock()
		n++ // ok
		mu.Unlock()
	}()
	mu.Lock()
	defer mu.Unlock()
	return n
}

func Helper() int {
	n := 0
	done := make(chan bool)
	go func() {
		n = 1 // ok: the helper waits
		close(done)
	}()
	until(done)
	return n
}

func until(done chan bool) { <-done }
