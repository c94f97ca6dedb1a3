// Package crossuse waits under the lock of another package's type, for
// goroutines that take it by calling that package.
package crossuse

import "cross"

func Bad(h *cross.Hub) {
	h.Group.Add(1)
	go count(h)
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Group.Wait() // want `wait of Hub.Group under Hub.Mu, which the other side needs: Bad holds h.Mu and waits for count`
}

func count(h *cross.Hub) {
	defer h.Group.Done()
	h.Count()
}

type Pool struct{ cross.Hub }

func (p *Pool) Right() { // ok: without the lock
	p.Mu.Lock()
	p.N++
	p.Mu.Unlock()
	p.Group.Wait()
}

type Noting struct{ hub *cross.Hub }

func (n *Noting) Fine() {
	done := make(chan int)
	go func() {
		n.hub.Note() // takes no lock
		done <- 1
	}()
	n.hub.Mu.Lock()
	defer n.hub.Mu.Unlock()
	<-done // ok
}

func (n *Noting) Bad() {
	done := make(chan int)
	go func() {
		n.hub.Count()
		done <- 1
	}()
	n.hub.Mu.Lock()
	defer n.hub.Mu.Unlock()
	<-done // want `receive of done under Hub.Mu, which the other side needs`
}
