package lazy

import "sync"

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
		c.http = new(int) // want `Client.http is initialised lazily without a lock: two calls of \(\*Client\).Do may both find it unset`
	}
	c.once.Do(func() {
		if c.logger == nil {
			c.logger = new(int) // ok: in a Once
		}
	})
	return *c.http + *c.logger
}

func (c *Client) Name() string {
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
