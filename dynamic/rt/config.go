//go:build (amd64 || arm64) && !plan9

package rt

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// The environment is read once. A value that makes no sense costs one line on
// stderr and leaves the engine asleep: half a configuration would make runs
// that look monitored.
func init() {
	path, asked := syscall.Getenv("INTERLOCK_OUT")
	if !asked || path == "" {
		return
	}
	if err := configure(path); err != nil {
		complain(err.Error() + "; nothing is monitored")
		return
	}
	findGoid()
	rehearse()
	wake()
}

// configure reads the environment and writes the first records.
func configure(path string) error {
	start, wallStart = nanotime(), time.Now()
	run, err := number("INTERLOCK_RUN", 1)
	if err != nil {
		return err
	}
	seed, err := number("INTERLOCK_SEED", 1)
	if err != nil {
		return err
	}
	random = mix(seed)
	noise.noiseSettings = defaultNoise
	if err := parseNoise(env("INTERLOCK_NOISE")); err != nil {
		return err
	}
	if err := readSites(env("INTERLOCK_SITES")); err != nil {
		return err
	}
	if err := parseKnown(env("INTERLOCK_KNOWN")); err != nil {
		return err
	}
	testBinary = strings.HasSuffix(strings.TrimSuffix(os.Args[0], ".exe"), ".test")
	return beginRecords(path, run, seed)
}

// beginRecords writes the first records, which shows whether the file takes any.
func beginRecords(path string, run, seed uint64) error {
	if path[0] != '/' && !(len(path) > 2 && path[1] == ':') {
		return errors.New("INTERLOCK_OUT is not an absolute path: " + strconv.Quote(path))
	}
	out.path = path
	out.head = "\n" + `{"v":1,"run":` + strconv.FormatUint(run, 10) + `,"seed":` + strconv.FormatUint(seed, 10) +
		`,"pid":` + strconv.Itoa(syscall.Getpid()) + `,"kind":"`
	out.buf = make([]byte, 0, 4*stackMax+16*len(sites))
	if !appendToFile(path, append(beginRecord("start"), '}')) {
		return errors.New("INTERLOCK_OUT cannot be appended to: " + strconv.Quote(path))
	}
	out.statsCalls = ^uint64(0) // as if the slow path had run
	writeStats(start)
	return nil
}

func env(name string) string {
	v, _ := syscall.Getenv(name)
	return v
}

// number gives the value of a variable that is unset or a decimal number.
func number(name string, unset uint64) (uint64, error) {
	v := env(name)
	if v == "" {
		return unset, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return 0, errors.New(name + " is not a number: " + strconv.Quote(v))
	}
	return n, nil
}

// parseNoise reads "prob=0..1000,strength=microseconds,budget=percent"; each
// part may be missing.
func parseNoise(v string) error {
	for _, part := range fields(v) {
		key, value, _ := strings.Cut(part, "=")
		n, err := strconv.ParseUint(value, 10, 24)
		switch {
		case err != nil:
		case key == "prob" && n <= 1000:
			noise.prob = n
			continue
		case key == "strength":
			noise.strength = int64(n) * 1000
			continue
		case key == "budget":
			noise.percent = int64(n)
			continue
		}
		return errors.New("INTERLOCK_NOISE has a bad part " + strconv.Quote(part))
	}
	return nil
}

// parseKnown reads "idA-idB,...".
func parseKnown(v string) error {
	for _, part := range fields(v) {
		a, b, _ := strings.Cut(part, "-")
		for _, text := range []string{a, b} {
			id, err := strconv.ParseUint(text, 10, 32)
			if err != nil || id >= uint64(len(sites)) {
				return errors.New("INTERLOCK_KNOWN has a bad pair " + strconv.Quote(part))
			}
			settleCaught(uint32(id), start)
		}
	}
	return nil
}

func fields(v string) []string {
	if v == "" {
		return nil
	}
	return strings.Split(v, ",")
}

// readSites reads the site table: lines of "id group flags".
func readSites(path string) error {
	text, err := readFile(path)
	if err != nil {
		return errors.New("INTERLOCK_SITES cannot be read: " + err.Error())
	}

	maxID, maxGroup := uint64(0), uint64(0)
	type row struct {
		id, group uint64
		flags     string
	}
	var rows []row
	for n, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		bad := errors.New("INTERLOCK_SITES, line " + strconv.Itoa(n+1) + ": not \"id group flags\"")
		if len(f) != 3 || f[2] != "-" && f[2] != "s" {
			return bad
		}
		id, err1 := strconv.ParseUint(f[0], 10, 32)
		group, err2 := strconv.ParseUint(f[1], 10, 32)
		if err1 != nil || err2 != nil || id == 0 || id >= maxSites || group >= maxSites {
			return bad
		}
		rows = append(rows, row{id, group, f[2]})
		maxID, maxGroup = max(maxID, id), max(maxGroup, group)
	}
	sites, shared = make([]site, maxID+1), make([]atomic.Bool, maxGroup+1)
	for _, r := range rows {
		state := siteKnown
		if r.flags == "s" {
			state |= siteSuspicious
			noise.focused = random&3 != 0 // others look around
		}
		sites[r.id].group = uint32(r.group)
		sites[r.id].state.Store(uint64(state))
	}
	return nil
}

// readFile is os.ReadFile, but starts no network poller in the program.
func readFile(path string) (string, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	var text []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := syscall.Read(fd, buf)
		if n > 0 {
			text = append(text, buf[:n]...)
		}
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return "", err
		case n <= 0:
			return string(text), nil
		}
	}
}

// complain writes one line to stderr.
func complain(text string) {
	syscall.Write(syscall.Stderr, []byte("interlock: "+text+"\n"))
}
