package torture

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/interlock-go/interlock/cmd/internal/lab/internal/command"
)

// help has the functions that programs call. They synchronise nothing.
const help = `package torture

import (
	"runtime"
	"testing"
	"time"
)

// check compares the result of a correct program.
func check[T comparable](t *testing.T, got, want T) {
%s}

// pause lets others run. Now and then it sleeps, so that a goroutine that waits
// through long windows takes little of the processor.
func pause() {
	if time.Now().UnixMicro()&3 == 0 {
		time.Sleep(20 * time.Microsecond)
		return
	}
	runtime.Gosched()
}

// use takes a value that was read, and sink a pointer.
//
//go:noinline
func use(int) {}

//go:noinline
func sink(any) {}
`

// compares is the body of check in correct programs; the result of racy ones
// says nothing.
const compares = `	if got != want {
		t.Helper()
		t.Errorf("%v, want %v", got, want)
	}
`

// helpC has the functions that programs with C code call.
const helpC = `package torture

// #include <stdlib.h>
// static void add_to(int *block, int i) { block[i]++; }
import "C"

import "unsafe"

func newBlock() unsafe.Pointer      { return C.calloc(8, 4) }
func freeBlock(b unsafe.Pointer)    { C.free(b) }
func addTo(b unsafe.Pointer, i int) { C.add_to((*C.int)(b), C.int(i)) }
`

// layOut writes a module of one package with the programs to dir.
func layOut(dir string, programs []*program) error {
	// Only correct programs check their results.
	body := compares
	if programs[0].racy {
		body = ""
	}
	files := map[string]string{
		"go.mod":  string(command.GoMod("torture")),
		"help.go": fmt.Sprintf(help, body),
	}
	// A program that is no test file is called from one.
	tests := ""
	for _, p := range programs {
		files[p.fileName()] = p.source
		if p.cgo {
			files["help_c.go"] = helpC
		}
		if !strings.HasSuffix(p.fileName(), "_test.go") {
			tests += fmt.Sprintf("func %s(t *testing.T) { %s(t) }\n\n", p.testName(), p.entryName())
		}
	}
	if tests != "" {
		files["all_test.go"] = "package torture\n\nimport \"testing\"\n\n" + tests
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var errs []error
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}
