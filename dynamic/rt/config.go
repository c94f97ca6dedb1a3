//go:build (amd64 || arm64) && !plan9

package rt

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/interlock-go/interlock/dynamic/rt/policy"
)

// The environment is read once. A value that makes no sense costs one line on
// stderr and leaves the engine asleep: half a configuration would make runs
// that look monitored.
func init() {
	path := env("INTERLOCK_OUT")
	if path == "" {
		recordOnly(env("INTERLOCK_LEAKS"))
		return
	}
	if problem := configure(path); problem != "" {
		out.path = ""
		warn(problem + "; nothing is monitored")
		return
	}
	findGoid()
	rehearse()
	measureDepths()
	pace.room, pace.at = firstBurst, start
	slowCost.Store(firstCost)
	openFilter()
}

// recordOnly has the engine asleep, so that no access takes the slow path, and lets other
// rooms of the monitor write records to a file, if one is named.
func recordOnly(path string) {
	if path == "" {
		return
	}
	start = nanotime()
	run, _ := number("INTERLOCK_RUN", 0)
	seed, _ := number("INTERLOCK_SEED", 0)
	if problem := beginRecords(path, run, seed); problem != "" {
		out.path = ""
		warn(problem + "; locks are not watched")
		return
	}
	findGoid()
}

// configure reads the environment and writes the first records. Like the
// functions that it calls, it returns a problem in words, or "".
func configure(path string) (problem string) {
	start = nanotime()
	testBinary = hasSuffix(os.Args[0], ".test") || hasSuffix(os.Args[0], ".test.exe")
	noise.noiseSettings = defaultNoise
	run, ok1 := number("INTERLOCK_RUN", 1)
	seed, ok2 := number("INTERLOCK_SEED", uint64(time.Now().UnixNano())&(1<<32-1))
	switch {
	case !ok1:
		return "INTERLOCK_RUN is not a number"
	case !ok2:
		return "INTERLOCK_SEED is not a number"
	}
	random = mix(seed)
	noise.turns = policy.NewTurns(seed)
	lateness.seed = seed
	for _, step := range []func() string{
		readSites, readSections, readTurns, readIsolation, readInjected, parseNoise, parseKnown,
	} {
		if problem := step(); problem != "" {
			return problem
		}
	}
	return beginRecords(path, run, seed)
}

// beginRecords writes the first records, which shows whether the file takes any.
func beginRecords(path string, run, seed uint64) (problem string) {
	if path[0] != '/' && !(len(path) > 2 && path[1] == ':') {
		return "INTERLOCK_OUT is not an absolute path: " + strconv.Quote(path)
	}
	out.path = path
	out.head = "\n" + `{"v":1,"run":` + strconv.FormatUint(run, 10) + `,"seed":` + strconv.FormatUint(seed, 10) +
		`,"pid":` + strconv.Itoa(syscall.Getpid()) + `,"kind":"`
	out.buf = make([]byte, 0, 4*stackMax+24*len(sites))
	if !appendToFile(path, append(beginRecord("start"), "}\n"...)) {
		return "INTERLOCK_OUT cannot be appended to: " + strconv.Quote(path)
	}
	out.statsCalls = ^uint64(0) // as if the slow path had run
	writeStats(nanotime())
	return ""
}

func env(name string) string {
	v, _ := syscall.Getenv(name)
	return v
}

// number returns the value of a variable that is unset or a decimal number.
func number(name string, unset uint64) (n uint64, ok bool) {
	v := env(name)
	if v == "" {
		return unset, true
	}
	n, err := strconv.ParseUint(v, 10, 64)
	return n, err == nil
}

// parseNoise reads "heuristic,prob=0..1000,strength=microseconds,budget=percent,plain=microseconds";
// each part may be missing. The heuristic is "random", "variable:group,...",
// "location:site,..." or the name of a policy, with "depth=n,events=n".
func parseNoise() (problem string) {
	for rest := env("INTERLOCK_NOISE"); rest != ""; {
		var part string
		part, rest = cut(rest, ',')
		if !setNoise(part) && !placeNoise(part) {
			return "INTERLOCK_NOISE has a bad part " + strconv.Quote(part)
		}
	}
	if noise.prob == 0 {
		historyWays = measuringWays
	}
	startSchedule()
	return ""
}

// setNoise takes a part "key=value".
func setNoise(part string) (ok bool) {
	const most = 1 << 24
	key, value := cut(part, '=')
	n, err := strconv.ParseUint(value, 10, 40)
	switch {
	case err == nil && key == "prob" && n <= 1000:
		noise.prob = n
	case err == nil && key == "depth":
		schedule.settings.Depth = n
	case err == nil && key == "events":
		schedule.settings.Events = n
	case err == nil && key == "plain":
		noise.plain = int64(n) * 1000
	case err == nil && key == "strength" && n < most:
		noise.strength = int64(n) * 1000
	case err == nil && key == "budget" && n < most:
		noise.percent = int64(n)
	default:
		return false
	}
	return true
}

// placeNoise takes a heuristic, or one more number of its list. Only one
// heuristic may be given, and only numbers that the site table has.
func placeNoise(part string) (ok bool) {
	name, number := cut(part, ':')
	switch {
	case noise.where >= byVariable && number == "":
		number = name
	case noise.where != guided:
		return false
	case part == "random":
		noise.where = everywhere
		return true
	case policy.New(part, policy.Settings{}) != nil:
		noise.where, schedule.name = everywhere, part
		return true
	case part == drFinder:
		schedule.name = part
		return true
	case name == "variable":
		noise.where = byVariable
	case name == "location":
		noise.where = byLocation
	default:
		return false
	}
	n, err := strconv.ParseUint(number, 10, 32)
	return err == nil && choose(uint32(n))
}

// choose marks the sites of group n, or site n, and reports whether there are any.
func choose(n uint32) (found bool) {
	for id := range sites {
		s := &sites[id]
		chosen := noise.where == byVariable && s.group == n || noise.where == byLocation && uint32(id) == n
		if chosen && s.load().is(siteKnown) {
			s.update(func(st siteState) siteState { return st | siteChosen })
			found = true
		}
	}
	return found
}

// parseKnown reads "idA-idB,...".
func parseKnown() (problem string) {
	for rest := env("INTERLOCK_KNOWN"); rest != ""; {
		var part string
		part, rest = cut(rest, ',')
		text1, text2 := cut(part, '-')
		a, err1 := strconv.ParseUint(text1, 10, 32)
		b, err2 := strconv.ParseUint(text2, 10, 32)
		if err1 != nil || err2 != nil {
			return "INTERLOCK_KNOWN has a bad pair " + strconv.Quote(part)
		}
		settlePair(uint32(a), uint32(b), start)
	}
	return ""
}

// readSites reads the site table: lines of "id group flags", or "id group flags
// microseconds" where the plan of the run has windows.
func readSites() (problem string) {
	text, err := readFile(env("INTERLOCK_SITES"))
	if err != nil {
		return "INTERLOCK_SITES cannot be read: " + err.Error()
	}
	for line := ""; text != ""; {
		if line, text = cut(text, '\n'); line != "" && !readSite(line) {
			return `INTERLOCK_SITES has a line that is not "id group flags", with microseconds or not: ` + strconv.Quote(line)
		}
	}
	return ""
}

func readSite(line string) (ok bool) {
	textID, line := cut(line, ' ')
	textGroup, line := cut(line, ' ')
	flags, textHold := cut(line, ' ')
	hold, ok := int64(0), true
	if textHold != "" {
		hold, ok = readHold(textHold)
	}
	id, err1 := strconv.ParseUint(textID, 10, 32)
	group, err2 := strconv.ParseUint(textGroup, 10, 32)
	ok = ok && err1 == nil && err2 == nil && id != 0 && id < maxSites && group < maxSites
	if !ok || flags != "-" && flags != "s" {
		return false
	}
	sites, shared = grow(sites, id), grow(shared, group)
	state := siteKnown
	if flags == "s" {
		state |= siteSuspicious
		noise.focused = random&3 != 0 // the other runs look around
	}
	sites[id].group = uint32(group)
	sites[id].hold = hold
	sites[id].holds.Store(holdsAtSite)
	sites[id].state.Store(uint64(state))
	return true
}

// holdsAtSite is how many windows a process holds at a site, or in a section, that its plan names: the
// first that comes need not be the one that races.
const holdsAtSite = 3

// readHold reads how long a window of the plan lasts.
func readHold(text string) (ns int64, ok bool) {
	us, err := strconv.ParseUint(text, 10, 32)
	noise.planned = true
	return int64(us) * 1000, err == nil && us > 0
}

// grow returns s with an element n.
func grow[T any](s []T, n uint64) []T {
	return append(s, make([]T, max(int(n)+1-len(s), 0))...)
}

// cut returns the parts of s before and after the first sep. (Package
// strings would be one more import in the program under test.)
func cut(s string, sep byte) (before, after string) {
	for i := 0; i < len(s); i++ {
		if s[i] == sep {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

func hasSuffix(s, suffix string) bool {
	return len(s) >= len(suffix) && s[len(s)-len(suffix):] == suffix
}

// readFile is os.ReadFile, but starts no network poller in the program.
func readFile(path string) (text string, err error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	var all []byte
	buf := make([]byte, 64<<10)
	for n := 1; n != 0; {
		n, err = syscall.Read(fd, buf)
		if err != nil && err != syscall.EINTR {
			return "", err
		}
		all = append(all, buf[:max(n, 0)]...)
	}
	return string(all), nil
}

// warn writes one line to stderr.
func warn(text string) {
	syscall.Write(syscall.Stderr, []byte("interlock: "+text+"\n"))
}

// readSections reads INTERLOCK_SECTIONS, "id,id-id,id:microseconds...": the sections that may
// be opened, and for how long the plan of the run holds them open.
func readSections() (problem string) {
	for rest := env("INTERLOCK_SECTIONS"); rest != ""; {
		var part string
		part, rest = cut(rest, ',')
		part, textHold := cut(part, ':')
		hold, ok := int64(0), true
		if textHold != "" {
			hold, ok = readHold(textHold)
		}
		first, last := cut(part, '-')
		if last == "" {
			last = first
		}
		from, err1 := strconv.ParseUint(first, 10, 24)
		to, err2 := strconv.ParseUint(last, 10, 24)
		if err1 != nil || err2 != nil || !ok {
			return "INTERLOCK_SECTIONS has a bad id " + strconv.Quote(part)
		}
		sectionStates = grow(sectionStates, max(from, to))
		for id := from; id <= to; id++ {
			sectionStates[id].wanted = true
			sectionStates[id].hold = min(hold, sectionStale/4*3)
			sectionStates[id].holds.Store(holdsAtSite)
			sectionGate.wanted = true
		}
	}
	return ""
}

// Watching reports whether this process is monitored. It does not change after the start.
func Watching() bool { return out.path != "" }

// Setting returns the variable of the environment with a name, or "".
func Setting(name string) string { return env(name) }

// Warn writes one line to stderr.
func Warn(text string) { warn(text) }
