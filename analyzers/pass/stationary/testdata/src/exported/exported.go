// Package exported: fields that other packages may write; those whose names
// begin with Still or still are not written here while they are shared.
package exported

import (
	"encoding/json"
	"fmt"
	"log"
	"sync"
)

type Conf struct {
	StillName string
	StillPort int
	Raised    int
}

func New(name string) *Conf {
	c := &Conf{StillName: name}
	c.StillPort = 80
	return c
}

func (c *Conf) Raise() { c.Raised++ }

// Decoded is decoded into while others may read it.
type Decoded struct {
	Value int
	Inner Inner
	Far   *Far
}

type Inner struct{ Value int }

type Far struct{ Value int }

func (d *Decoded) Load(b []byte) error { return json.Unmarshal(b, d) }

// Helped is decoded into by a helper.
type Helped struct{ Value int }

func (h *Helped) Load(b []byte) error { return decode(b, h) }

func decode(b []byte, to any) error { return json.Unmarshal(b, to) }

// Fresh is decoded into before anybody else knows it.
type Fresh struct{ StillValue int }

func Load(b []byte) (*Fresh, error) {
	f := new(Fresh)
	return f, json.Unmarshal(b, f)
}

type Fresher struct{ StillValue int }

func LoadHelped(b []byte) (*Fresher, error) {
	f := new(Fresher)
	return f, decode(b, f)
}

// Shown is only looked at.
type Shown struct{ StillValue int }

func (s *Shown) Show() string {
	log.Println("shown", s)
	debugf("%v", s)
	return fmt.Sprintf("%+v", s)
}

func debugf(format string, args ...any) { fmt.Printf(format, args...) }

// Kept is kept in a variable of any type, who knows for whom.
type Kept struct{ Value int }

var kept []any

func Keep(k *Kept) { kept = append(kept, k) }

// Pooled is made by a pool's function.
type Pooled struct{ StillValue int }

var pool = sync.Pool{New: func() any { return new(Pooled) }}

func Get() *Pooled { return pool.Get().(*Pooled) }

// Assigned is assigned to as a whole, by a generic function.
type Assigned struct{ Value int }

func (a *Assigned) Reset() { reset(a) }

func reset[T any](p *T) { *p = *new(T) }

// Copied is copied over here, Open by nobody.
type Copied struct{ value int }

func Swap(a, b *Copied) { *a, *b = *b, *a }

type Open struct{ stillValue int }

func (o *Open) Value() int { return o.stillValue }
