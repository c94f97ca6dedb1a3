package features

type handler struct {
	T
	onClose func()
}

func newHandler() *handler {
	h := &handler{}
	h.onClose = h.closed
	return h
}

// closed is called through the function value, with a lock or without.
func (h *handler) closed() {
	h.dispose()
}

func (h *handler) Reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dispose()
	h.clear()
}

// One caller holds the lock; the callers of the other are not seen.
func (h *handler) dispose() {
	h.n++ // = perhaps more
}

// The only caller holds the lock.
func (h *handler) clear() {
	h.n = 0 // = h.T.mu, perhaps more
}
