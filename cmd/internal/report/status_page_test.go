package report

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/dynamic/production/pages"
	"github.com/interlock-go/interlock/dynamic/production/status"
)

// shownWatch is the watch of a process that has found two races, with names as long as they are in real programs.
func shownWatch() pages.Watch {
	s := status.Status{
		Why: "INTERLOCK_SAMPLE is not set", Budget: 2, Program: "example.com/shop/cmd/server", PID: 4711,
		Build: "Zc2VMbGTRHWZzmIvBrYk/BQHvvI0Y1cXyJjuuGIxo/fx5fFQqvxKTRE5TLuFd6/5HTuJ5vOyjKc", Samples: 4821, Armed: 391,
		Uncounted: []string{"github.com/klauspost/compress/internal/snapref", "golang.org/x/sys/cpu"},
		WatchedNS: 912e9, SpentNS: 17e9, Share: 1.93,
	}
	const prefix = "example.com/shop/internal/checkout.(*session)."
	side := func(write bool, id uint64, function string) status.Side {
		return status.Side{Write: write, Addr: 0xc000123450, Goroutine: id, Frames: []status.Frame{
			{Function: prefix + function, File: "internal/checkout/session.go", Line: 120},
			{Function: prefix + "handle." + strings.Repeat("func1.", 20) + "1", File: "internal/checkout/server.go", Line: 7},
			{Function: "net/http.(*conn).serve", File: "/usr/local/go/src/net/http/server.go", Line: 2092},
		}, Labels: []status.Label{{Key: "handler", Value: "/pay"}}}
	}
	races := []status.Race{
		{Count: 12, How: status.Clock, Sides: []status.Side{side(false, 99, "total"), side(true, 71, "add")}, Record: "{}"},
		{Count: 1, How: status.Meeting, Sides: []status.Side{side(true, 99, "add"), side(true, 71, "add")}, Record: "{}"},
	}
	return pages.Watch{
		Status: func() status.Status { return s }, Races: func() []status.Race { return races },
		Evidence: func() []byte { return nil },
		Switch: func(on bool) error {
			s.On, s.PeriodNS = on, 1_234_500
			s.Means = "short pauses, without debug registers (which show nothing on this machine)"
			return nil
		},
		SetBudget: func(percent float64) error { s.Budget = percent; return nil },
	}
}

// The status page of a program in production is switched by its buttons, needs no script, and fits a telephone. With
// INTERLOCK_SCREENSHOT=NAME there are pictures of it, to look at. (The browser of these tests is here.)
func TestStatusPage(t *testing.T) {
	server := httptest.NewServer(pages.Handler(shownWatch()))
	defer server.Close()
	b := openURL(t, server.URL+pages.Prefix)
	const text = `document.body.innerText`
	for _, want := range []string{
		"2 findings", "off: INTERLOCK_SAMPLE is not set", "Data race: read and write", "seen 12 times",
	} {
		if !strings.Contains(strings.ToLower(b.eval(text)), strings.ToLower(want)) {
			t.Errorf("no %q on the page: %s", want, b.eval(text))
		}
	}
	// Both stacks stand beside each other, or below on a narrow page, which scrolls down alone.
	for width, want := range map[int]string{1280: "beside", 390: "below"} {
		b.call(nil, "Emulation.setDeviceMetricsOverride", map[string]any{
			"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
		b.until(`innerWidth==` + map[int]string{1280: "1280", 390: "390"}[width])
		got := b.eval(`(s=>s[0].getBoundingClientRect().top==s[1].getBoundingClientRect().top?"beside":"below")` +
			`(document.querySelectorAll(".sides>div"))`)
		if got != want || b.eval(`document.documentElement.scrollWidth<=innerWidth`) != "true" {
			t.Errorf("%d wide: the stacks are %s, the page %s wide", width, got, b.eval(`document.documentElement.scrollWidth`))
		}
		if name := os.Getenv("INTERLOCK_SCREENSHOT"); name != "" {
			b.screenshot(t, name+map[int]string{1280: "-wide.png", 390: "-narrow.png"}[width])
		}
	}
	// What can be used has a name, and is reached by the keyboard.
	for _, want := range []string{"Switch on", "budget in percent", "Set the budget", "text", "pprof"} {
		b.press("Tab", "")
		got := b.eval(`(e=>e.getAttribute("aria-label")||e.textContent)(document.activeElement)`)
		if !strings.Contains(got, want) {
			t.Errorf("the focus is on %q, want %q", got, want)
		}
		if want == "text" {
			b.press("Tab", "")
			b.press("Tab", "")
		}
	}
	b.eval(`document.querySelector("button").click()`)
	b.until(`document.readyState=="complete"&&` + text + `.includes("Switch off")`)
	b.eval(`document.querySelector("input").value="5";document.querySelectorAll("button")[1].click()`)
	b.until(`document.readyState=="complete"&&` + text + `.includes("5 % of the processor time")`)
	if got := b.eval(text); !strings.Contains(got, "1.2345ms") || !strings.Contains(got, "short pauses") {
		t.Errorf("switched on: %s", got)
	}
}
