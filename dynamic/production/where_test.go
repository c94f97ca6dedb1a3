package production

import (
	"errors"
	"testing"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// An agent has no address that other machines reach.
func TestWhere(t *testing.T) {
	for named, want := range map[string]string{
		"mux": "mux", "127.0.0.1:6061": "127.0.0.1:6061", "localhost:6061": "127.0.0.1:6061", "[::1]:80": "[::1]:80",
		"127.1.2.3:1": "127.1.2.3:1",
	} {
		if got, err := Where(named); got != want || err != nil {
			t.Errorf("%s: %s, %v", named, got, err)
		}
	}
	for _, named := range []string{
		"", "on", ":6061", "0.0.0.0:6061", "[::]:6061", "192.168.0.1:6061", "example.com:6061", "127.0.0.1", "127.0.0.1:0",
		"localhost:", "127.0.0.1:http", "localhost.example.com:6061",
	} {
		if got, err := Where(named); !errors.As(err, new(*gocmd.ConfigError)) {
			t.Errorf("%q: %s, %v", named, got, err)
		}
	}
}
