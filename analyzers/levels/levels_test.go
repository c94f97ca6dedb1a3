package levels

import (
	"math"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/analyzers/finding"
)

// The interval is that of a published example (Newcombe, 1998, method 3).
func TestInterval(t *testing.T) {
	low, high := Class{True: 81, Read: 263}.Interval()
	if math.Abs(low-0.2553) > 0.0001 || math.Abs(high-0.3662) > 0.0001 {
		t.Errorf("81 of 263 lies in %.4f to %.4f, want 0.2553 to 0.3662", low, high)
	}
	if low, high := (Class{}).Interval(); low != 0 || high != 1 {
		t.Errorf("without readings it lies in %v to %v, want all of 0 to 1", low, high)
	}
}

func TestLevel(t *testing.T) {
	for _, test := range []struct {
		class Class
		want  finding.Level
	}{
		{Class{Name: "few readings", True: 9, Read: 9}, finding.Possible},
		{Class{Name: "many readings", True: 60, Read: 60}, finding.Likely},
		{Class{Name: "many readings in tests", True: 60, Read: 60}, finding.Possible},
		{Class{Name: "half", True: 5, Read: 10}, finding.Possible},
		{Class{Name: "less", True: 4, Read: 10}, finding.Unlikely},
		{Class{Name: "unread"}, finding.Unlikely},
		{Class{Name: "as built", Construction: "it is seen"}, finding.Likely},
		{Class{Name: "as built in tests", Construction: "it is seen"}, finding.Possible},
		{Class{Name: "refuted", Construction: "it was thought to be seen", True: 20, Read: 30}, finding.Possible},
		{Class{Name: "unrefuted", Construction: "it is seen", True: 11, Read: 13}, finding.Likely},
	} {
		if got := test.class.Level(); got != test.want {
			t.Errorf("%+v is %q, want %q", test.class, got, test.want)
		}
	}
}

// A finding in a test is of another class; only suspected findings change, and the finding given does not.
func TestGraded(t *testing.T) {
	at := func(file string, status finding.Status, class string) *finding.Finding {
		return &finding.Finding{Code: finding.LockCycle, Status: status, Class: class,
			Accesses: []finding.Access{{Position: finding.Position{File: file, Line: 1}}}}
	}
	for _, test := range []struct {
		f        *finding.Finding
		class    string
		standing string
	}{
		{at("a.go", finding.Suspected, ""), "IL3001", "suspected"},
		{at("a_test.go", finding.Suspected, ""), "IL3001 in tests", "possible"},
		{at("a_test.go", finding.Suspected, "IL3001 new"), "IL3001 new in tests", "lead"},
		{at("a.go", finding.Suspected, "IL3001 new"), "IL3001 new", "lead"},
		{at("a.go", finding.Confirmed, "IL3001 new"), "IL3001 new", "confirmed"},
		{at("a.go", finding.Lead, ""), "IL3001", "lead"},
	} {
		before := *test.f
		got := Graded(test.f)
		if got.Class != test.class || got.Standing() != test.standing {
			t.Errorf("%s %s %q is %q, %s; want %q, %s", before.Accesses[0].File, before.Status, before.Class, got.Class,
				got.Standing(), test.class, test.standing)
		}
		if test.f.Class != before.Class || test.f.Status != before.Status || test.f.Level != before.Level {
			t.Errorf("the finding itself has changed: %+v", test.f)
		}
		if again := Graded(got); again.Class != got.Class || again.Standing() != got.Standing() {
			t.Errorf("graded again it is %q, %s", again.Class, again.Standing())
		}
	}
}

// Each class is of a known code, and has a row once.
func TestClasses(t *testing.T) {
	all := Classes()
	for i, c := range all {
		code, _, _ := strings.Cut(c.Name, " ")
		if !finding.Code(code).Known() || c.True > c.Read || c.Read == 0 && c.Construction == "" {
			t.Errorf("class %+v", c)
		}
		if i > 0 && all[i-1].Name >= c.Name {
			t.Errorf("%q stands behind %q", c.Name, all[i-1].Name)
		}
	}
}

func TestRaise(t *testing.T) {
	for _, test := range []struct {
		level  finding.Level
		status finding.Status // of the finding that runs have
		apart  int64
		want   finding.Level
		noted  bool
	}{
		{finding.Unlikely, finding.Suspected, 0, finding.Unlikely, false},
		{finding.Unlikely, finding.Suspected, 5000, finding.Possible, true},
		{finding.Possible, finding.Suspected, 5000, finding.Possible, true},
		{finding.Likely, finding.Suspected, 5000, finding.Likely, true},
		{finding.Unlikely, finding.Confirmed, 0, finding.Likely, true},
	} {
		f := &finding.Finding{Status: finding.Suspected, Level: test.level}
		Raise(f, &finding.Finding{Status: test.status, Apart: test.apart})
		if f.Level != test.want || (len(f.Notes) > 0) != test.noted {
			t.Errorf("%+v: level %q, notes %q", test, f.Level, f.Notes)
		}
	}
}
