package leads

import "sync"

// Pinger pings.
type Pinger interface {
	// SetDebug sets what is printed to.
	// It must be called before Run.
	SetDebug(to func(string))
	// SetName may be called at any time.
	SetName(name string)
	Run()
}

type EchoPinger struct {
	mu    sync.Mutex
	debug func(string)
	name  string
}

func (p *EchoPinger) SetDebug(to func(string)) { // the interface says when it comes
	p.mu.Lock()
	defer p.mu.Unlock()
	p.debug = to
}

func (p *EchoPinger) SetName(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.name = name
}

func (p *EchoPinger) Run() {
	go p.loop()
}

func (p *EchoPinger) loop() {
	p.debug("ping") // a lead
	println(p.name) // want `EchoPinger.name is read without p.mu`
}
