package tested

import "os"

func Load() error {
	_, err := os.ReadFile("x")
	return err
}
