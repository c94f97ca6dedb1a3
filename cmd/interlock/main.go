// Interlock finds concurrency bugs in Go programs, proves them by catching
// them in the act, and proposes checked patches. See `interlock help`.
package main

import (
	"os"

	"github.com/interlock-go/interlock/cmd/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
