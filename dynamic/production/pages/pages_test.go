package pages

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// fake is a watch that keeps what it was asked for.
type fake struct {
	status.Status
	races   []status.Race
	refusal error
}

func (f *fake) watch() Watch {
	return Watch{
		Status: func() status.Status { return f.Status }, Races: func() []status.Race { return f.races },
		Evidence: func() []byte { return []byte("{\"kind\":\"start\"}\n") },
		Switch: func(on bool) error {
			if f.refusal == nil {
				f.On = on
			}
			return f.refusal
		},
		SetBudget: func(percent float64) error {
			if percent > 20 {
				return errors.New("too much")
			}
			f.Budget = percent
			return nil
		},
	}
}

var side = status.Side{
	Write: true, Addr: 0xc000, Goroutine: 7, Frames: []status.Frame{{Function: "main.f", File: "a.go", Line: 3}},
}

func off() *fake {
	return &fake{Status: status.Status{Why: "INTERLOCK_SAMPLE is not set", Budget: 2, Program: "example.com/m"}}
}

// do sends a request with some headers, each a name and a value.
func (f *fake) do(method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://server.example"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	Handler(f.watch()).ServeHTTP(w, r)
	return w
}

// A watch that is off serves its status, and no finding is an empty list.
func TestOff(t *testing.T) {
	f := off()
	if got := f.do("GET", Prefix); got.Code != 200 || !strings.Contains(got.Body.String(), "Switch on") ||
		!strings.Contains(got.Body.String(), "off: INTERLOCK_SAMPLE is not set") {
		t.Errorf("%d: %s", got.Code, got.Body)
	}
	var d struct {
		Status   map[string]any
		Findings []any
	}
	if err := json.Unmarshal(f.do("GET", Prefix+"?format=json").Body.Bytes(), &d); err != nil || d.Status["on"] != false ||
		d.Status["budget_percent"] != 2.0 || d.Findings == nil {
		t.Errorf("%+v: %v", d, err)
	}
	if got := f.do("GET", Prefix+"findings.json").Body.String(); got != "[]\n" {
		t.Errorf("findings.json: %s", got)
	}
	if got := f.do("GET", Prefix+"findings.jsonl").Body.String(); got != "{\"kind\":\"start\"}\n" {
		t.Errorf("findings.jsonl: %s", got)
	}
	if got := f.do("GET", Prefix+"findings.txt").Body.String(); got != "" {
		t.Errorf("findings.txt: %s", got)
	}
}

// A POST alone changes something, and none that a page of another site has sent.
func TestMethods(t *testing.T) {
	for _, test := range []struct {
		method, name string
		headers      []string
		code         int
		on           bool
	}{
		{"POST", "on", nil, 200, true},
		{"POST", "on", []string{"Sec-Fetch-Site", "same-origin", "Accept", "text/html"}, 303, true},
		{"POST", "on", []string{"Origin", "http://server.example"}, 200, true},
		{"POST", "on", []string{"Sec-Fetch-Site", "cross-site"}, 403, false},
		{"POST", "on", []string{"Sec-Fetch-Site", "same-site"}, 403, false},
		{"POST", "on", []string{"Origin", "http://other.example"}, 403, false},
		{"POST", "budget?percent=5", []string{"Origin", "null"}, 403, false},
		{"GET", "on", nil, 405, false},
		{"GET", "budget?percent=5", nil, 405, false},
		{"HEAD", "on", nil, 405, false},
		{"PUT", "on", nil, 405, false},
		{"POST", "", nil, 405, false},
		{"POST", "findings.json", nil, 405, false},
		{"POST", "on/", nil, 404, false},
		{"GET", "none", nil, 404, false},
		{"GET", "", []string{"Sec-Fetch-Site", "cross-site"}, 200, false},
	} {
		f := off()
		got := f.do(test.method, Prefix+test.name, test.headers...)
		if got.Code != test.code || f.On != test.on || f.Budget != 2 {
			t.Errorf("%s %s %q: %d, on: %t, budget: %v; want %d", test.method, test.name, test.headers, got.Code, f.On,
				f.Budget, test.code)
		}
		if got.Code == 405 && got.Header().Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", test.method, test.name)
		}
	}
}

// What cannot be done is said.
func TestChange(t *testing.T) {
	f := off()
	for path, want := range map[string]int{
		"budget?percent=5": 200, "budget?percent=5%25": 200, "budget?percent=50": 409, "budget?percent=much": 400,
		"budget": 400,
	} {
		if got := f.do("POST", Prefix+path); got.Code != want || f.Budget != 2 && f.Budget != 5 {
			t.Errorf("%s: %d, budget %v; want %d", path, got.Code, f.Budget, want)
		}
	}
	f.refusal = errors.New("the kernel refuses a timer")
	if got := f.do("POST", Prefix+"on"); got.Code != 409 || got.Body.String() != "the kernel refuses a timer\n" {
		t.Errorf("%d: %s", got.Code, got.Body)
	}
	f.refusal = nil
	f.On, f.Means = true, "short pauses"
	if got := f.do("POST", Prefix+"on").Body.String(); got != "on, by short pauses; budget 5 %\n" {
		t.Errorf("on: %s", got)
	}
	if got := f.do("POST", Prefix+"off").Body.String(); !strings.HasPrefix(got, "off: ") || f.On {
		t.Errorf("off: %s", got)
	}
}

// Text of the program is no markup, and ends no line.
func TestEscaping(t *testing.T) {
	const evil = "<script>alert(1)</script>\n==================\n\"'&"
	s := side
	s.Frames = []status.Frame{{Function: evil, File: evil, Line: 1}}
	f := &fake{
		Status: status.Status{Why: evil, Means: evil, File: evil, Program: evil, Build: evil, Uncounted: []string{evil}},
		races:  []status.Race{{Count: 1, Sides: []status.Side{s, s}, Record: `{"kind":"clock"}`}},
	}
	got := f.do("GET", Prefix)
	if strings.Contains(got.Body.String(), "<script") {
		t.Errorf("markup of the program's: %s", got.Body)
	}
	for header, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
	} {
		if is := got.Header().Get(header); is != want {
			t.Errorf("%s: %s", header, is)
		}
	}
	if policy := got.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
		!strings.Contains(policy, "frame-ancestors 'none'") {
		t.Errorf("policy: %s", policy)
	}
	if text := f.do("GET", Prefix+"findings.txt").Body.String(); strings.Count(text, "\n==================\n") != 1 {
		t.Errorf("a line of the program's: %s", text)
	}
}

// Each way of seeing a race is on the page, with both stacks; a change that a race explains is not.
func TestFindings(t *testing.T) {
	f := off()
	read := side
	read.Labels = []status.Label{{Key: "job", Value: "1"}}
	read.Write, read.Goroutine, read.Frames = false, 8, []status.Frame{{Function: "main.g", File: "b.go", Line: 9}}
	alone := side
	alone.Frames = []status.Frame{{Function: "main.h", File: "c.go", Line: 5}}
	f.races = []status.Race{
		{Count: 3, How: status.Changed, Sides: []status.Side{side}, Record: `{"n":0}`},
		{Count: 4, How: status.Clock, Sides: []status.Side{read, side}, Record: `{"n":1}`},
		{Count: 5, How: status.Meeting, Sides: []status.Side{read, side}, Record: `{"n":2}`},
		{Count: 6, How: status.Like, Sides: []status.Side{read, side}, Record: `{"n":3}`},
		{Count: 7, How: status.Changed, Sides: []status.Side{alone}, Record: `{"n":4}`},
	}
	page := f.do("GET", Prefix).Body.String()
	for _, want := range []string{
		"<h2>4 findings</h2>", "Data race: read and write", "main.f\n    a.go:3", "main.g\n    b.go:9", "main.h\n    c.go:5",
		"by goroutine 8 <code>job=&#34;1&#34;</code>\n", "Seen 4 times", "Seen 5 times", "Seen 6 times", "Seen 7 times",
		reasons[status.Clock], reasons[status.Changed],
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q: %s", want, page)
		}
	}
	const want = `==================
WARNING: DATA RACE
Read at 0x00000000c000 by goroutine 8:
  main.g()
      b.go:9 +0x0

Previous write at 0x00000000c000 by goroutine 7:
  main.f()
      a.go:3 +0x0

==================
`
	if got := f.do("GET", Prefix+"findings.txt").Body.String(); got != strings.Repeat(want, 3)+"Found 3 data race(s)\n" {
		t.Errorf("findings.txt: %s", got)
	}
	if got := f.do("GET", Prefix+"findings.json").Body.String(); got != `[{"n":0},{"n":1},{"n":2},{"n":3},{"n":4}]`+"\n" {
		t.Errorf("findings.json: %s", got)
	}
}

// Patterns of the program stand beside those of the pages.
func TestMount(t *testing.T) {
	program := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "program") })
	for _, pattern := range []string{
		"/", "GET /", "GET /debug/", "/debug/pprof/", "POST /debug/{rest...}", "GET /{path...}",
	} {
		mux := http.NewServeMux()
		if err := Mount(mux, Handler(off().watch())); err != nil {
			t.Fatal(err)
		}
		mux.Handle(pattern, program)
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", Prefix, nil))
		if !strings.Contains(w.Body.String(), "Race watch") {
			t.Errorf("beside %s: %d: %s", pattern, w.Code, w.Body)
		}
		w = httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("POST", Prefix+"on", nil))
		if !strings.HasPrefix(w.Body.String(), "on, ") {
			t.Errorf("beside %s: %d: %s", pattern, w.Code, w.Body)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+Prefix, program)
	if err := Mount(mux, program); err == nil {
		t.Error("a pattern that is taken: no error")
	}
}

// A mux as before Go 1.22 knows no methods; which one a process has is settled at its start.
func TestOldMux(t *testing.T) {
	const setting = "httpmuxgo121=1"
	if os.Getenv("GODEBUG") == setting {
		mux := http.NewServeMux()
		if err := Mount(mux, Handler(off().watch())); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("POST", Prefix+"on", nil))
		if w.Code != 200 {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestOldMux$")
	cmd.Env = append(os.Environ(), "GODEBUG="+setting)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// A listener answers this machine under its own names, and a port that is taken is an error.
func TestListen(t *testing.T) {
	at, err := Listen("127.0.0.1:0", Handler(off().watch()))
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		at.String(): 200, "localhost:80": 200, "localhost": 200, "127.0.0.1": 200, "[::1]:8000": 200, "[::1]": 200,
		"other.example": 403, "localhost.other.example": 403, "10.0.0.1:6061": 403,
	} {
		r := &http.Request{Host: host, URL: &url.URL{Scheme: "http", Host: at.String(), Path: Prefix}}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != want {
			t.Errorf("%s: %d; want %d", host, got.StatusCode, want)
		}
	}
	if _, err := Listen(at.String(), nil); !errors.As(err, new(*net.OpError)) {
		t.Errorf("a port that is taken: %v", err)
	}
}
