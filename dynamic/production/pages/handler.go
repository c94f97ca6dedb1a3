package pages

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// Prefix is where the pages are.
const Prefix = "/debug/interlock/"

// Watch is what the pages show and switch. Any goroutine may call its functions.
type Watch struct {
	Status    func() status.Status
	Races     func() []status.Race
	Evidence  func() []byte // the findings as JSON Lines, as a file of evidence has them
	Switch    func(on bool) error
	SetBudget func(percent float64) error
}

// Handler returns the handler of all requests below [Prefix].
func Handler(w Watch) http.Handler {
	h := http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		header := to.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		w.serve(to, r)
	})
	return http.NewCrossOriginProtection().Handler(h)
}

// serve routes by hand: the patterns of a mux depend on settings of the program (GODEBUG=httpmuxgo121=1).
func (w *Watch) serve(to http.ResponseWriter, r *http.Request) {
	name, below := strings.CutPrefix(r.URL.Path, Prefix)
	if !below {
		http.NotFound(to, r)
		return
	}
	switch name {
	case "", "findings.json", "findings.jsonl", "findings.txt", "pprof":
		if isMethod(to, r, http.MethodGet, http.MethodHead) {
			w.show(to, r, name)
		}
	case "on", "off", "budget":
		if isMethod(to, r, http.MethodPost) {
			w.change(to, r, name)
		}
	default:
		http.NotFound(to, r)
	}
}

// isMethod reports whether a request has one of the methods, and answers it otherwise.
func isMethod(to http.ResponseWriter, r *http.Request, methods ...string) bool {
	for _, m := range methods {
		if r.Method == m {
			return true
		}
	}
	to.Header().Set("Allow", strings.Join(methods, ", "))
	http.Error(to, "this takes "+strings.Join(methods, " or ")+" alone", http.StatusMethodNotAllowed)
	return false
}

// show answers a request that changes nothing.
func (w *Watch) show(to http.ResponseWriter, r *http.Request, name string) {
	switch name {
	case "findings.json":
		writeJSON(to, records(w.Races()))
	case "findings.jsonl":
		to.Header().Set("Content-Type", "application/jsonl")
		to.Write(w.Evidence())
	case "findings.txt":
		to.Header().Set("Content-Type", "text/plain; charset=utf-8")
		writeRaces(to, w.Races())
	case "pprof":
		// Tools that read /debug/pprof/ tell a profile by these.
		to.Header().Set("Content-Type", "application/octet-stream")
		to.Header().Set("Content-Disposition", `attachment; filename="races"`)
		writeProfile(to, w.Races(), time.Now()) // an error is that of the connection
	default:
		if r.URL.Query().Get("format") == "json" {
			writeJSON(to, document{w.Status(), records(w.Races())})
			return
		}
		writePage(to, w.Status(), w.Races())
	}
}

// change answers a request that switches the watch or sets its budget.
func (w *Watch) change(to http.ResponseWriter, r *http.Request, name string) {
	var err error
	r.Body = http.MaxBytesReader(to, r.Body, 1<<12)
	if name == "budget" {
		percent, wrong := strconv.ParseFloat(strings.TrimSuffix(r.FormValue("percent"), "%"), 64)
		if wrong != nil {
			http.Error(to, "the budget is missing or is no number: send budget?percent=2", http.StatusBadRequest)
			return
		}
		err = w.SetBudget(percent)
	} else {
		err = w.Switch(name == "on")
	}
	if err != nil {
		http.Error(to, err.Error(), http.StatusConflict)
		return
	}
	// A browser sees the page again; a tool reads one line.
	if strings.Contains(r.Header.Get("Accept"), "text/html") {
		to.Header().Set("Location", "./")
		to.WriteHeader(http.StatusSeeOther)
		return
	}
	to.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(to, state(w.Status()))
}

// state returns in one line whether the watch is on, and how, or why not.
func state(s status.Status) string {
	if s.On {
		return fmt.Sprintf("on, by %s; budget %.4g %%", s.Means, s.Budget)
	}
	return fmt.Sprintf("off: %s; budget %.4g %%", s.Why, s.Budget)
}
