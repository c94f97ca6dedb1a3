// Package exporteduse writes to another package's fields.
package exporteduse

import "exported"

type mine struct{ n int }

func Use(c *exported.Conf, o *exported.Open, m *mine) {
	c.StillName = "other"
	*o = exported.Open{}
	m.n++

	own := exported.New("own")
	own.StillPort = 1 // nobody else knows it
}
