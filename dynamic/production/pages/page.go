package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/interlock-go/interlock/dynamic/production/status"
)

// page returns the page for people. html/template escapes what is put in. It is parsed once somebody asks for it, as
// most processes are never asked.
var page = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(template.FuncMap{"mode": mode}).Parse(pageText))
})

const pageText = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Race watch: {{.Program}}</title>
<style>
body { font: 15px/1.5 sans-serif; margin: 2em; max-width: 75em }
h1 { font-size: 1.5em; overflow-wrap: anywhere }
h2 { font-size: 1.25em; margin-top: 1.5em }
h3 { font-size: 1em; margin-bottom: 0; border-top: 1px solid #ddd; padding-top: 1em }
h3 + p { margin-top: .2em }
th { text-align: left; vertical-align: top; padding-right: 2em; font-weight: normal; color: #555; white-space: nowrap }
td { overflow-wrap: anywhere }
form { display: inline-block; margin-right: 1.5em }
pre { background: #f4f4f4; padding: .7em; margin: .3em 0; overflow: auto }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(25em, 100%), 1fr)); gap: 1em }
.sides > div { min-width: 0 }
.on { color: #060; font-weight: bold }
</style>
</head>
<body>
<h1>Race watch: {{.Program}}</h1>
<table>
<tr><th>state</th><td>{{if .On}}<span class="on">on</span>{{else}}off: {{.Why}}{{end}}</td></tr>
<tr><th>means</th><td>{{or .Means "not known before it was on for the first time"}}</td></tr>
<tr><th>budget</th><td>{{printf "%.4g" .Budget}} % of the processor time</td></tr>
<tr><th>own cost</th><td>{{.Cost}}</td></tr>
<tr><th>rate</th><td>{{.Rate}}</td></tr>
<tr><th>samples</th><td>{{.Samples}}</td></tr>
<tr><th>variables watched</th><td>{{.Armed}}</td></tr>
<tr><th>file</th><td>{{or .File "none: the findings are here alone"}}{{with .Dropped}}; {{.}} records did not get
into it{{end}}</td></tr>
<tr><th>process</th><td>{{.PID}}, build {{or .Build "unknown"}}</td></tr>
{{with .Uncounted}}<tr><th>not counted</th><td>releases by assembly of
{{range $i, $package := .}}{{if $i}}, {{end}}{{$package}}{{end}}</td></tr>{{end}}
</table>
<p>
{{if .On}}<form method="post" action="off"><button>Switch off</button></form>
{{else}}<form method="post" action="on"><button>Switch on</button></form>{{end}}
<form method="post" action="budget"><input name="percent" size="4" value="{{printf "%.4g" .Budget}}"
aria-label="budget in percent"> % <button>Set the budget</button></form>
</p>
<h2>{{len .All}} {{if eq (len .All) 1}}finding{{else}}findings{{end}}</h2>
<p>As <a href="findings.txt">text</a>, as <a href="findings.json">JSON</a>, as <a href="findings.jsonl">a file for
interlock report</a>, as <a href="pprof">a profile for pprof</a>. Races are
predicted, not confirmed.{{with .Unkept}} {{.}} more are not kept here.{{end}}</p>
{{range .All}}
<h3>{{.Title}}</h3>
<p>{{.Why}} Seen {{if eq .Count 1}}once{{else}}{{.Count}} times{{end}}.</p>
<div class="sides">{{range .Sides}}
<div>{{mode .}} by goroutine {{.Goroutine}}
{{- range .Labels}} <code>{{.Key}}={{printf "%q" .Value}}</code>{{end}}
<pre>{{range .Frames}}{{.Function}}
    {{.File}}:{{.Line}}
{{end}}</pre></div>{{end}}
</div>
{{end}}
</body>
</html>
`

// shown is what the page is made of.
type shown struct {
	status.Status
	Cost, Rate string
	All        []finding
}

// finding is one race on the page.
type finding struct {
	status.Race
	Title, Why string
}

// reasons say how a pair was seen.
var reasons = [...]string{
	status.Clock: "Nothing orders the two: the first goroutine had released nothing until the second access.",
	status.Meeting: "One goroutine was held at its access for a moment, and the other one was at its access " +
		"meanwhile.",
	status.Like: "The value changed while a goroutine was held at its access. The write was not seen, but the other " +
		"access is a write of the variable by another goroutine.",
	status.Changed: "The value changed while a goroutine was held at this access, by a write that was not seen.",
}

func writePage(to http.ResponseWriter, s status.Status, races []status.Race) {
	p := shown{Status: s, Cost: "nothing yet", Rate: "no timer is set"}
	if s.WatchedNS > 0 {
		p.Cost = fmt.Sprintf("%.2f %% of %v of processor time while it was on; %.2f %% of the last second of that",
			100*float64(s.SpentNS)/float64(s.WatchedNS), time.Duration(s.WatchedNS).Round(time.Millisecond), s.Share)
	}
	if s.On {
		p.Rate = fmt.Sprintf("a sample each %v of a thread's processor time", time.Duration(s.PeriodNS))
	}
	for _, r := range explained(races) {
		f := finding{Race: r, Why: reasons[r.How], Title: "A value that changed"}
		if len(r.Sides) == 2 {
			f.Title = "Data race: " + strings.ToLower(mode(r.Sides[0])) + " and " + strings.ToLower(mode(r.Sides[1]))
		}
		p.All = append(p.All, f)
	}
	to.Header().Set("Content-Type", "text/html; charset=utf-8")
	page().Execute(to, p) // an error is that of the connection
}

// explained returns the races without values that changed at an access of another race: that race explains them.
func explained(all []status.Race) (left []status.Race) {
	at := map[status.Frame]bool{}
	for _, r := range all {
		if len(r.Sides) < 2 {
			continue
		}
		for _, s := range r.Sides {
			if len(s.Frames) > 0 {
				at[s.Frames[0]] = true
			}
		}
	}
	for _, r := range all {
		if len(r.Sides) == 1 && len(r.Sides[0].Frames) > 0 && at[r.Sides[0].Frames[0]] {
			continue
		}
		left = append(left, r)
	}
	return left
}
