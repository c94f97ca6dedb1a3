//go:build interlock_production

package serve

import (
	"net/http"
	"os"

	"github.com/interlock-go/interlock/dynamic/production/agent"
	"github.com/interlock-go/interlock/dynamic/production/pages"
)

func init() {
	h := pages.Handler(pages.Watch{Status: agent.Status, Races: agent.Races, Evidence: agent.Evidence,
		Switch: agent.Switch, SetBudget: agent.SetBudget})
	var err error
	if where == "mux" {
		err = pages.Mount(http.DefaultServeMux, h)
	} else {
		_, err = pages.Listen(where, h)
	}
	if err != nil {
		os.Stderr.WriteString("interlock: the pages of the race watch cannot be opened: " + err.Error() +
			"; the program goes on without them\n")
	}
}
