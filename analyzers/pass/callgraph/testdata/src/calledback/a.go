// Package calledback has a call of a library for each way by which that may come back to the package. The comment of a
// call lists all that the library may call.
package calledback

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"text/template"
)

type fault struct{ cause error }

func (*fault) Error() string   { return "" }
func (*fault) Is(error) bool   { return false }
func (f *fault) Unwrap() error { return f.cause }

// base has a method that only what embeds it makes one of an error.
type base struct{}

func (base) As(any) bool { return false }

type wrapped struct{ base }

func (wrapped) Error() string { return "" }

func errorOfAnyType(err, target error) bool {
	return errors.Is(err, target) // = base.As, fault.Is, fault.Unwrap
}

// event has a method of that name which is no error's.
type event struct{}

func (event) Error(string) {}
func (event) Is() bool     { return true }

type scope struct{ context.Context }

func (scope) Value(any) any { return nil }

func parent(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx) // = scope.Value
}

type label int

func (label) String() string { return "" }
func (label) Len() int       { return 0 }

func anyValue(x any) string {
	return fmt.Sprint(x) // = fault.Error, label.String, wrapped.Error
}

func logf(args ...any) string {
	return fmt.Sprint(args...) // = label.String
}

func callsLogf() {
	logf(1, "a", label(1)) // = nobody
	logf(struct{ N int }{})
}

func number(n int) string {
	return fmt.Sprint(n) // = nobody
}

func newPool() *sync.Pool {
	return &sync.Pool{New: func() any { return 1 }}
}

func pooled(p *sync.Pool) any {
	p.Put(1)       // = nobody
	return p.Get() // = newPool$1
}

func signals(c *sync.Cond) {
	c.Signal() // = nobody
}

func less(a, b string) int { return strings.Compare(a, b) }

func compare() func(a, b string) int { return less }

func sorted(s []string, by func(x, y string) int, swap func(i, j int) bool) {
	slices.SortFunc(s, by) // = less
	sort.Slice(s, swap)    // = nobody
}

var page = template.Must(template.New("").Funcs(template.FuncMap{"n": plain}).Parse(""))

func plain() int { return 1 }

func show(w *strings.Builder) error {
	return page.Execute(w, nil) // = plain
}

type pages struct{ next func() (int, bool) }

func numbers(yield func(n int) bool) { yield(1) }

func pull() *pages {
	next, _ := iter.Pull(numbers) // = nobody
	next()                        // = numbers
	return &pages{next}
}

func (p *pages) pull() {
	p.next() // = numbers
}

type source struct{}

func (source) Read([]byte) (int, error)  { return 0, nil }
func (source) Write([]byte) (int, error) { return 0, nil }

func reader(r io.Reader) *bufio.Reader {
	return bufio.NewReader(r) // = source.Read
}

func line(r *bufio.Reader) (string, error) {
	return r.ReadString('\n') // = source.Read
}

func builder(b *strings.Builder) {
	b.WriteString("a") // = nobody
}

func generic[T any](x T) string {
	return fmt.Sprint(x) // = fault.Error, label.String, wrapped.Error
}

func routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/", handle) // = nobody
	return mux
}

func handle(http.ResponseWriter, *http.Request) {}

func serve(mux *http.ServeMux, r *http.Request) {
	mux.ServeHTTP(nil, r) // = handle
}

func logTo() { log.SetOutput(source{}) }

func logs() {
	log.Print("a") // = source.Write
}
