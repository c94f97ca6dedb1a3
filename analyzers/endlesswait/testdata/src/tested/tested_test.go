package tested

import "testing"

// A test of other code passes as a rule: what is not known of the data is as it expects.
func TestLoad(t *testing.T) {
	done := make(chan bool)
	go func() {
		if err := Load(); err != nil {
			return
		}
		done <- true
	}()
	<-done
}

func TestStuck(t *testing.T) {
	done := make(chan bool)
	go func() {
		if err := Load(); err != nil {
			t.Error(err)
		}
	}()
	<-done // want `IL4003`
}
