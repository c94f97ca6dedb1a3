//go:build interlock_production

package vars

import (
	"expvar"

	"github.com/interlock-go/interlock/dynamic/production/agent"
)

func init() {
	const name = "interlock"
	if expvar.Get(name) == nil { // another one of the name would end the program
		expvar.Publish(name, expvar.Func(func() any { return agent.Status() }))
	}
}
