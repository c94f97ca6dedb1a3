package lazy

import (
	"errors"
	"sync"
)

type Client struct {
	once   sync.Once
	http   *int
	logger *int
	name   string
	mu     sync.Mutex
	held   *int
}

func (c *Client) Do() int {
	if c.http == nil {
		c.http = new(int) // ok: an object of its own, which is IL2002
	}
	c.once.Do(func() {
		if c.logger == nil {
			c.logger = new(int) // ok: in a Once
		}
	})
	return *c.http + *c.logger
}

func (c *Client) Name() string {
	c.mu.Lock()
	c.mu.Unlock()
	if c.name != "" {
		return c.name
	}
	c.name = "client" // want `Client.name is initialised lazily`
	return c.name
}

func (c *Client) Held() *int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = new(int) // ok: locked
	}
	return c.held
}

func (c *Client) SetDefaults() {
	if c.logger == nil {
		c.logger = new(int) // ok: its user sets it up alone
	}
}

// Options has nothing that speaks of several goroutines.
type Options struct{ log *int }

func (o *Options) Log() *int {
	if o.log == nil {
		o.log = new(int) // ok
	}
	return o.log
}

// Reader locks for its own goroutines only.
type Reader struct {
	mu   sync.Mutex
	buf  *int
	err  error
	loop *int
	size *int
}

func (r *Reader) Fill() {
	if r.buf == nil {
		r.buf = new(int) // ok: nothing says that Fill may run twice
	}
}

func (r *Reader) Next() {
	r.mu.Lock()
	r.mu.Unlock()
	for r.loop == nil {
		r.loop = new(int) // ok: a loop, no initialisation
	}
	if r.err == nil {
		r.err = errors.New("end") // ok: no initialisation either
	}
}

// Sized is not safe for concurrent use by multiple goroutines.
func (r *Reader) Sized() *int {
	r.mu.Lock()
	r.mu.Unlock()
	if r.size == nil {
		r.size = new(int) // ok: it says so
	}
	return r.size
}
