//go:build !linux

package machine

import "os"

// Largest gives 0: other systems count in other units, or not at all.
func Largest(*os.ProcessState) float64 { return 0 }
