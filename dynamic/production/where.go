package production

import (
	"net/netip"
	"strings"

	"github.com/interlock-go/interlock/dynamic/gocmd"
)

// OnMux is the place of the agent's pages on the mux of the program itself.
const OnMux = "mux"

// Where returns where the pages of an agent are: [OnMux], or the address of a listener, by what the user has named. An
// address must be one of this machine alone: the pages switch the watch, and name functions and files. What is neither
// is a *[gocmd.ConfigError].
func Where(named string) (string, error) {
	if named == OnMux {
		return OnMux, nil
	}
	text := named
	if port, ok := strings.CutPrefix(named, "localhost:"); ok {
		text = "127.0.0.1:" + port
	}
	const next = "name " + OnMux + ", or an address of this machine alone with a port, such as 127.0.0.1:6061"
	if port, ok := strings.CutPrefix(named, ":"); ok && port != "" {
		return "", gocmd.Refuse("-agent="+named+" would open the pages to other machines", next)
	}
	at, err := netip.ParseAddrPort(text)
	switch {
	case err != nil:
		return "", gocmd.Refuse("-agent="+named+" is not an address", next)
	case !at.Addr().Unmap().IsLoopback():
		return "", gocmd.Refuse("-agent="+named+" would open the pages to other machines", next)
	case at.Port() == 0:
		return "", gocmd.Refuse("-agent="+named+" would be another port at each start", next)
	}
	return at.String(), nil
}
