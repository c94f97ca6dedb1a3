package plan

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func sample() *Plan {
	site := func(id uint32, mode Mode) Site {
		return Site{
			ID: id, Package: "m/p", Function: "(*T).M", Variable: Variable{Package: "m/p", Type: "T", Name: "n",
				Kind: KindField},
			Mode: mode, File: "p.go", Line: 3, Column: int(id), EndLine: 3, EndCol: int(id) + 3, Expr: "t.n", Source: "t.n++",
			Decision: Monitor,
		}
	}
	p := &Plan{
		Version: SchemaVersion, Module: "m", Sites: []Site{site(1, Read), site(2, Write), site(3, Read)},
		Pairs: []Pair{{A: 1, B: 2, Finding: "il-1"}},
		Sections: []Section{{
			ID: 1, Kind: LoadAndStore, Name: "m.F n", File: "a.go", Function: "F",
			Variables: []Variable{{Package: "m", Name: "n"}},
			Entry:     1, Ends: []End{{Site: 2, Allows: []Mode{Read}}},
		}},
	}
	p.Sites[1].Suspicious = true
	p.Sites[2].Decision, p.Sites[2].Reason = Skip, Fresh
	return p
}

func TestRoundTrip(t *testing.T) {
	want := sample()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Plan
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(&got, want) {
		t.Errorf("got  %+v\nwant %+v", &got, want)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Plan)
		want   string // "" for a fit one
	}{
		{"fit", func(p *Plan) {}, ""},
		{"no sites", func(p *Plan) { *p = Plan{Version: SchemaVersion} }, ""},
		{"version", func(p *Plan) { p.Version = 0 }, "version 0"},
		{"gap in the ids", func(p *Plan) { p.Sites[1].ID = 9 }, "site 2: has id 9"},
		{"no position", func(p *Plan) { p.Sites[0].File = "" }, "site 1: no position"},
		{"no variable", func(p *Plan) { p.Sites[0].Variable.Name = "" }, "no position or variable"},
		{"mode", func(p *Plan) { p.Sites[0].Mode = "peek" }, `unknown mode "peek"`},
		{"skip without a reason", func(p *Plan) { p.Sites[2].Reason = "" }, "site 3: skipped without a reason"},
		{"decision", func(p *Plan) { p.Sites[0].Decision = "" }, `unknown decision ""`},
		{"pair", func(p *Plan) { p.Pairs[0].B = 4 }, "pair (1, 4) names no site"},
		{"entry of a section", func(p *Plan) { p.Sections[0].Entry = 0 }, "no entry or no end"},
		{"ends of a section", func(p *Plan) { p.Sections[0].Ends = nil }, "no entry or no end"},
		{"id of a section", func(p *Plan) { p.Sections[0].ID = 2 }, "ids are dense"},
		{"kind of a section", func(p *Plan) { p.Sections[0].Kind = "guess" }, "unknown kind"},
		{"name of a section", func(p *Plan) { p.Sections[0].Name = "" }, "no name"},
		{"call of an entry", func(p *Plan) { p.Sections[0].EntryCall = &Place{} }, "no place"},
		{"site of an end", func(p *Plan) { p.Sections[0].Ends[0].Site = 9 }, "no such site"},
		{"A set of an end", func(p *Plan) { p.Sections[0].Ends[0].Allows = []Mode{AtomicRead} }, "allows"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sample()
			tt.change(p)
			err := p.Validate()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestSite(t *testing.T) {
	p := sample()
	for _, id := range []uint32{0, 4, 1 << 31} {
		if s := p.Site(id); s != nil {
			t.Errorf("Site(%d) = %+v, want none", id, s)
		}
	}
	for i := range p.Sites {
		if s := p.Site(uint32(i + 1)); s != &p.Sites[i] {
			t.Errorf("Site(%d) is another site", i+1)
		}
	}
}

// The static side finds a site by its key, so two sites must never share one.
func TestKeyTellsSitesApart(t *testing.T) {
	base := sample().Sites[0]
	twin := base
	if twin.ID = 9; twin.Key() != base.Key() {
		t.Error("the id is part of the key")
	}
	for name, change := range map[string]func(*Site){
		"file":   func(s *Site) { s.File = "q.go" },
		"line":   func(s *Site) { s.Line++ },
		"column": func(s *Site) { s.Column++ },
		"mode":   func(s *Site) { s.Mode = Write },
		"map":    func(s *Site) { s.Variable.Kind = KindMap },
	} {
		other := base
		if change(&other); other.Key() == base.Key() {
			t.Errorf("sites that differ in their %s share a key", name)
		}
	}
}

func FuzzPlan(f *testing.F) {
	data, err := json.Marshal(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"sites":[{}],"sections":[{"ends":[{}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := new(Plan)
		if json.Unmarshal(data, p) == nil && p.Validate() == nil {
			for i := range p.Sites {
				if p.Site(p.Sites[i].ID) == nil {
					t.Errorf("site %d of a valid plan is not found", p.Sites[i].ID)
				}
			}
		}
	})
}
