//go:build interlock_production

package agent

import (
	"strconv"
	"strings"
	"time"
)

// settings is what INTERLOCK_SAMPLE says: on or off,
// budget=2%,window=15ms,pause=100us,labels,file=evidence.jsonl,size=8MB.
type settings struct {
	budget     float64 // share of the program's processor time
	budgetText string
	window     time.Duration // for so long a debug register watches a variable
	pause      time.Duration // for so long a goroutine is held, without debug registers
	labels     bool          // whether the labels of goroutines are in reports
	file       string
	size       int64 // bytes that the file may have
}

// Limits of the budget, in percent.
const leastBudget, mostBudget = 0.1, 20

// permille is the budget as package runtime has it, in tenths of a percent.
func (s *settings) permille() int32 { return int32(1000*s.budget + 0.5) }

// startSettings returns the settings at the start of the process, and what is wrong with the text. Where it sets
// nothing, a watch that is switched on later has the defaults. It has no file, as nobody has asked for one, unless what
// it finds would be nowhere: if a signal switches it and there are no pages.
func startSettings(text string) (s settings, wrong string) {
	if text != "" {
		if s, wrong = parseSettings(text); wrong == "" {
			return s, ""
		}
	}
	s, _ = parseSettings("on")
	if paged || !signalled {
		s.file = ""
	}
	return s, wrong
}

// parseSettings returns the settings, or what is wrong with the text.
func parseSettings(text string) (s settings, wrong string) {
	s = settings{budget: 0.02, budgetText: "2%", window: 15 * time.Millisecond, pause: 100 * time.Microsecond,
		file: "interlock-production.jsonl", size: 8 << 20}
	// Each part is a name and a value.
	for i, part := range strings.Split(text, ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		ok := true
		switch name {
		case "on", "1":
		case "off": // begins later, with the settings behind it
			if i > 0 {
				return s, "off stands first, before the settings"
			}
		case "budget":
			var percent float64
			percent, ok = number(strings.TrimSuffix(value, "%"), leastBudget, mostBudget)
			s.budget, s.budgetText = percent/100, value
		case "window":
			d, err := time.ParseDuration(value)
			s.window, ok = d, err == nil && time.Millisecond <= d && d <= time.Second
		case "pause":
			d, err := time.ParseDuration(value)
			s.pause, ok = d, err == nil && time.Microsecond <= d && d <= time.Millisecond
		case "labels":
			s.labels, ok = true, value == ""
		case "file":
			s.file, ok = value, value != ""
		case "size":
			var megabytes float64
			megabytes, ok = number(strings.TrimSuffix(value, "MB"), 1, 1024)
			s.size = int64(megabytes) << 20
		default:
			return s, name + " is not known; it has budget=2%, window=15ms, pause=100us, labels, file=NAME, size=8MB, with " +
				"commas between"
		}
		if !ok {
			return s, name + "=" + value + " is out of range; budget is from 0.1% to 20%, window from 1ms to 1s, pause from " +
				"1us to 1ms, size from 1MB to 1024MB, and labels has no value"
		}
	}
	return s, ""
}

func number(text string, least, most float64) (float64, bool) {
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil && least <= f && f <= most
}
