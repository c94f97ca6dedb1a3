package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func side(site uint32, write bool, gid int64) *Side {
	return &Side{
		Site: site, Write: write, Addr: 0xc000012340, Size: 8, GID: gid,
		Stack: "goroutine 7 [running]:\nmain.\"quoted\"\\path\x01\tß\n",
	}
}

func examples() []Record {
	return []Record{
		{Version: 1, Kind: Start, Run: 3, Seed: 1<<64 - 1, PID: 42},
		{Version: 1, Kind: Race, Run: 3, Seed: 9, PID: 42, A: side(4, true, 7), B: side(5, false, 8), Count: 1},
		{Version: 1, Kind: Dropped, Run: 3, Seed: 9, PID: 42, Lost: &Lost{1, 2, 3, 4, 5}},
		{Version: 1, Kind: Unordered, Run: 3, Seed: 9, PID: 42, A: side(0, true, 7), B: side(0, false, 8)},
		{
			Version: 1, Kind: Clock, Run: 1, PID: 42, A: side(0, true, 7), B: side(0, false, 8), Count: 4, Met: true, Like: true,
			Origin: &Origin{
				Program: "m/cmd", Module: "m", Build: "x", Means: "pauses", Budget: "2%", Uncounted: []string{"m/asm"},
			},
		},
		{Version: 1, Kind: Changed, Run: 1, PID: 42, A: side(0, true, 7), Global: true},
		{Version: 1, Kind: Watched, Run: 1, PID: 42, Watched: &WatchedCounter{ProgramNS: 1000, SpentNS: 10, Samples: 3}},
		{
			Version: 1, Kind: Split, Run: 3, Seed: 9, PID: 42,
			Split: &SplitSection{Section: 2, Entry: side(4, false, 7), Remote: side(5, true, 8), End: side(6, true, 7),
				Changed: true, Overturned: true, Between: true, Replaced: []uint64{1}, Stored: []uint64{2}, GapNS: 5},
		},
		{
			Version: 1, Kind: Came, Run: 3, Seed: 9, PID: 42,
			Split: &SplitSection{Section: 2, Entry: side(4, false, 7), Remote: side(5, true, 8), GapNS: 5},
		},
		{
			Version: 1, Kind: Used, Run: 3, Seed: 9, PID: 42,
			Split: &SplitSection{Section: 2, Entry: side(4, false, 7), Remote: side(5, true, 8), End: side(6, false, 7),
				Changed: true, Overturned: true, GapNS: 5},
		},
		{
			Version: 1, Kind: Stats, Run: 3, Seed: 9, PID: 42,
			Counters: &Counters{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14},
			Reached:  []uint32{1, 2}, Armed: []uint32{2}, Near: []uint32{1},
			Ended:     []SectionEnd{{Section: 1, Site: 2, Times: 3}},
			Unwatched: []SectionCount{{Section: 1, Times: 4}},
			OutOfTurn: []SectionCount{{Section: 1, Times: 1}},
		},
		{
			Version: 1, Kind: Gaps, Run: 3, Seed: 9, PID: 42,
			Gaps: []Gap{{First: 1, Then: 2, LeastNS: 5, MostNS: 7}},
		},
		{
			Version: 1, Kind: Triggers, Run: 3, Seed: 9, PID: 42,
			Trigger: &Trigger{Lock: 4, Functions: []string{"p.f", "p.main"}},
		},
	}
}

func TestRoundTrip(t *testing.T) {
	want := examples()
	var file bytes.Buffer
	for _, r := range want {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		file.Write(append(line, '\n'))
	}
	got, bad, err := Read(&file)
	if err != nil || bad.Lines != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %+v, %d bad, %v; want %+v", got, bad.Lines, err, want)
	}
}

// A crash may cut a line anywhere; only that line is lost.
func TestReadTornLine(t *testing.T) {
	line, err := json.Marshal(examples()[1])
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut < len(line); cut++ {
		file := string(line) + "\n" + string(line[:cut]) + "\n\n" + string(line)
		got, bad, err := Read(strings.NewReader(file))
		if err != nil || len(got) != 2 || bad.Lines != 1 {
			t.Fatalf("cut at %d: %d records, %d bad, %v; want 2, 1, nil", cut, len(got), bad.Lines, err)
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	if _, _, err := Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("Read of a broken file = %v, want %v", err, broken)
	}
}

func TestPattern(t *testing.T) {
	s := &SplitSection{Entry: side(1, false, 7), Remote: side(2, true, 8), End: side(3, false, 7)}
	if got := s.Pattern(); got != "R-w-R" {
		t.Errorf("Pattern() = %s, want R-w-R", got)
	}
}

// A split has three sides of two goroutines, and a read changes nothing.
func TestValidateSplit(t *testing.T) {
	for _, s := range []*SplitSection{
		nil,
		{Entry: side(1, false, 7), End: side(3, false, 7)},
		{Entry: side(1, false, 7), Remote: side(2, true, 7), End: side(3, false, 7)},
		{Entry: side(1, false, 7), Remote: side(2, true, 8), End: side(3, false, 9)},
		{Entry: side(1, false, 7), Remote: side(2, false, 8), End: side(3, false, 7), Changed: true},
		{Entry: side(1, false, 7), Remote: side(2, true, 8), End: side(3, false, 7), Overturned: true},
	} {
		r := Record{Version: 1, Kind: Split, Split: s}
		if r.Validate() == nil {
			t.Errorf("%+v is valid", s)
		}
	}
}

func atomic(s *Side) *Side {
	s.Atomic = true
	return s
}

func TestValidate(t *testing.T) {
	for _, r := range examples() {
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", r.Kind, err)
		}
	}
	for want, r := range map[string]Record{
		"version":             {Version: 2, Kind: Start},
		"both sides":          {Version: 1, Kind: Race, A: side(1, true, 1)},
		"itself":              {Version: 1, Kind: Race, A: side(1, true, 1), B: side(2, true, 1)},
		"two atomic accesses": {Version: 1, Kind: Race, A: atomic(side(1, true, 1)), B: atomic(side(2, true, 2))},
		"two reads":           {Version: 1, Kind: Race, A: side(1, false, 1), B: side(2, false, 2)},
		"counters":            {Version: 1, Kind: Stats},
		"unknown kind":        {Version: 1, Kind: "rumour"},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Validate(%+v) = %v, want an error about %q", r, err, want)
		}
	}
}

// The published schema names exactly the fields that are written.
func TestSchemaHasEveryField(t *testing.T) {
	data, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	}
	var schema struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		typ reflect.Type
		in  object
	}{
		{reflect.TypeFor[Record](), schema.object},
		{reflect.TypeFor[Side](), schema.Defs["side"]},
		{reflect.TypeFor[Counters](), schema.Defs["counters"]},
		{reflect.TypeFor[SplitSection](), schema.Defs["split"]},
		{reflect.TypeFor[SectionEnd](), schema.Defs["ended"]},
		{reflect.TypeFor[LeakedGoroutine](), schema.Defs["leak"]},
		{reflect.TypeFor[LockHolder](), schema.Defs["holder"]},
		{reflect.TypeFor[Lost](), schema.Defs["lost"]},
		{reflect.TypeFor[Origin](), schema.Defs["origin"]},
		{reflect.TypeFor[WatchedCounter](), schema.Defs["watched"]},
		{reflect.TypeFor[LockStep](), schema.Defs["step"]},
		{reflect.TypeFor[Trigger](), schema.Defs["trigger"]},
		{reflect.TypeFor[LockSite](), schema.Defs["lockSite"]},
	} {
		var fields, required []string
		for i := range c.typ.NumField() {
			name, opts, _ := strings.Cut(c.typ.Field(i).Tag.Get("json"), ",")
			fields = append(fields, name)
			if opts == "" {
				required = append(required, name)
			}
		}
		slices.Sort(fields)
		if got := slices.Sorted(maps.Keys(c.in.Properties)); !slices.Equal(got, fields) {
			t.Errorf("%s: schema.json has %v, the type %v", c.typ.Name(), got, fields)
		}
		if !slices.Equal(c.in.Required, required) {
			t.Errorf("%s: schema.json requires %v, the type always writes %v", c.typ.Name(), c.in.Required, required)
		}
	}
	kinds, _ := schema.Properties["kind"].(map[string]any)["enum"].([]any)
	for _, r := range examples() {
		if !slices.Contains(kinds, any(string(r.Kind))) {
			t.Errorf("schema.json does not know the kind %q", r.Kind)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, r := range examples() {
		line, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(line, '\n'))
	}
	f.Add([]byte("{\"version\":1}\n\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, bad, err := Read(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if place := regexp.MustCompile(`: line [1-9][0-9]*, column [1-9][0-9]*: `); bad.Lines > 0 &&
			!place.MatchString(bad.String()) {
			t.Errorf("bad lines without a place: %v", bad)
		}
		ByProcess(records)
		var again bytes.Buffer
		enc := json.NewEncoder(&again)
		for _, r := range records {
			if err := enc.Encode(r); err != nil {
				t.Fatal(err)
			}
		}
		if back, bad, err := Read(&again); len(back) != len(records) || bad.Lines > 0 || err != nil {
			t.Errorf("%d of %d records come back, %d are bad: %v", len(back), len(records), bad.Lines, err)
		}
	})
}
