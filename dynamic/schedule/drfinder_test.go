package schedule_test

import (
	"testing"

	"github.com/interlock-go/interlock/dynamic/evidence"
	"github.com/interlock-go/interlock/dynamic/schedule"
)

// The relations of a run are those of the run before, by the classes of the locks.
func TestDrFinder(t *testing.T) {
	trigger := func(lock uint64, functions ...string) evidence.Record {
		return evidence.Record{Kind: evidence.Triggers, Trigger: &evidence.Trigger{Lock: lock, Functions: functions}}
	}
	d := schedule.NewDrFinder(map[uint64]string{10: "a.go:3", 12: "a.go:3", 14: "b.go:9"})
	const classes = "depth 12\nlock 10 1\nlock 12 1\nlock 14 2\n"
	for _, step := range []struct {
		what    string
		records []evidence.Record
		want    string
	}{
		{"nothing yet", nil, ""},
		{"two sites of a class", []evidence.Record{trigger(10, "f", "g"), trigger(12, "g"), trigger(14, "g")},
			"trigger 1 f\ntrigger 1 g\ntrigger 2 g\n"},
		{"a site that the plan has not", []evidence.Record{trigger(99, "f"), trigger(14, "h")}, "trigger 2 h\n"},
		{"a run that ended early", []evidence.Record{{Kind: evidence.Start}}, "trigger 2 h\n"},
	} {
		if d.Observe(step.records); string(d.File(12)) != classes+step.want {
			t.Errorf("%s: the file is\n%s\nwant\n%s", step.what, d.File(12), classes+step.want)
		}
	}
}
