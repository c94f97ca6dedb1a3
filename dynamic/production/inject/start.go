//go:build interlock_production

package runtime

import (
	"internal/runtime/syscall/linux"
	"internal/stringslite"
	"unsafe"
)

// ilkMeans is how this process samples. The numbers are those of package agent.
const (
	ilkOff       = iota // INTERLOCK_SAMPLE does not ask for it, or not yet
	ilkRegisters        // debug registers, and a timer of the kernel
	ilkPauses           // a timer of the kernel: goroutines are held at e1 for a short time
	ilkNoTimer          // the kernel has refused the timer
	ilkOldKernel        // a signal that is blocked would end the process there
)

// ilkState holds how this process samples. It is written before there is a second thread or, of a process that is
// switched on later, before there is a timer; handlers of signals read it.
var ilkState struct {
	means      int32
	errno      int32 // of the kernel's refusal; 0 where it has taken the registers, and they have shown nothing
	clock      ilkAttr
	costSample int64 // ns that the interrupt and the signal of a sample take, without the handler
	costTrap   int64 // ns that one access to a watched variable takes
	costSet    int64 // ns that moving a watch takes, with one thread
}

// ilkPermille returns the budget of a setting in tenths of a percent, without smaller ones.
func ilkPermille(setting string) (permille int32) {
	const name = "budget="
	permille = 20
	for i := range setting {
		if !stringslite.HasPrefix(setting[i:], name) {
			continue
		}
		permille = 0
		digits := setting[i+len(name):]
		for len(digits) > 0 && '0' <= digits[0] && digits[0] <= '9' {
			permille, digits = 10*permille+int32(digits[0]-'0'), digits[1:]
		}
		permille *= 10
		if len(digits) > 1 && digits[0] == '.' && '0' <= digits[1] && digits[1] <= '9' {
			permille += int32(digits[1] - '0')
		}
	}
	return permille
}

// ilkPeriod returns the time of the program between two samples of one thread, in ns, by the budget in tenths of a
// percent: half of that goes to samples. It is no divisor of common periods.
func ilkPeriod(permille int32) uint64 {
	return uint64(min(max(2*1000*ilkState.costSample/int64(max(permille, 1)), 99_700), 997_000_000))
}

// ilkStart opens the events of this process where INTERLOCK_SAMPLE asks for it now. It runs on the first thread, before
// there is another one: each event is inherited by all threads to come, so that nobody has to look for them.
func ilkStart() {
	setting := gogetenv("INTERLOCK_SAMPLE")
	if setting == "" || stringslite.HasPrefix(setting, "off") {
		return
	}
	if !ilkIsLinux(5, 18) {
		ilkState.means = ilkOldKernel
		return
	}
	testSigtrap = ilkTrap // the runtime's own tests alone use this hook otherwise
	ilkState.costSample = ilkMeasure()
	a := &ilkState.clock
	a.kind, a.config, a.period, a.flags, a.sigData = ilkSoftware, ilkCPUClock, ilkPeriod(ilkPermille(setting)), ilkCommon,
		ilkTagClock
	fd := ilkOpen(a, 0)
	if fd < 0 {
		ilkState.means, ilkState.errno = ilkNoTimer, -fd
		return
	}
	ilkTimers.fds[0], ilkTimers.n = fd, 1
	ilkState.means = ilkRegisters
	for i := range ilkSlots {
		s := &ilkSlots[i]
		attr := ilkWatchAttr(uintptr(unsafe.Pointer(&ilkProbe)), 8, false, uint64(i))
		attr.flags |= ilkDisabled
		if s.fd = ilkOpen(&attr, 0); s.fd < 0 {
			ilkWithoutRegisters(-s.fd)
			return
		}
	}
	ilkCalibrate()
}

// ilkWithoutRegisters closes the events of the registers: the watch holds goroutines instead.
func ilkWithoutRegisters(errno int32) {
	ilkState.means, ilkState.errno = ilkPauses, errno
	for i := range ilkSlots {
		if fd := ilkSlots[i].fd; fd > 0 {
			ilkClose(fd)
		}
	}
}

// ilkMeasure returns what a sample takes on this machine, in ns: an interrupt may cost a virtual machine much. It runs
// a loop with a timer and without, a few times each, a few milliseconds in all, and takes the least difference to
// the shortest one without: what else happens on a busy machine makes a try longer, never shorter.
func ilkMeasure() int64 {
	const least, tries, loops = 2_000, 8, 500_000
	attr := ilkAttr{kind: ilkSoftware, config: ilkCPUClock, period: 100_000, sigData: ilkTagTick}
	attr.flags = ilkCommon &^ (ilkInherit | ilkInheritThread)
	fd := ilkOpen(&attr, 0)
	if fd < 0 {
		return least
	}
	alone := int64(1 << 62)
	var timed, ticks [tries]int64
	for i := range tries {
		began := ilkThreadTime()
		ilkSpin(loops)
		alone = min(alone, ilkThreadTime()-began)
		before := ilkStats.probes
		ilkIoctl(fd, ilkIoctlEnable, nil)
		began = ilkThreadTime()
		ilkSpin(loops)
		timed[i] = ilkThreadTime() - began
		ilkIoctl(fd, ilkIoctlDisable, nil)
		ticks[i] = int64(ilkStats.probes - before)
	}
	ilkClose(fd)
	ilkStats.probes = 0
	// A try without a tick shows nothing.
	best := int64(1 << 62)
	for i, n := range ticks {
		if n > 0 {
			best = min(best, (timed[i]-alone)/n)
		}
	}
	if best == 1<<62 {
		return least
	}
	return max(best, least)
}

//go:noinline
func ilkSpin(n int) {
	for i := range n {
		ilkSpun += i
	}
}

var ilkSpun int

// ilkProbe is a variable to watch as a trial.
var ilkProbe uint64

// ilkCalibrate watches a variable of its own, counts the traps of a few writes, and measures what each takes.
func ilkCalibrate() {
	const writes = 8
	before := nanotime()
	attr := ilkWatchAttr(uintptr(unsafe.Pointer(&ilkProbe)), 8, false, ilkTagProbe)
	ok := ilkIoctl(ilkSlots[0].fd, ilkIoctlModify, unsafe.Pointer(&attr))
	armed := nanotime()
	for range writes {
		ilkWriteProbe()
	}
	written := nanotime()
	ilkIoctl(ilkSlots[0].fd, ilkIoctlDisable, nil)
	if !ok || ilkStats.probes != writes {
		ilkWithoutRegisters(0) // some virtual machines take them, and nothing ever happens
		return
	}
	ilkState.costSet, ilkState.costTrap = armed-before, (written-armed)/writes
}

//go:noinline
func ilkWriteProbe() { ilkProbe++ }

// ilkIsLinux reports whether the kernel is of this release or a later one.
func ilkIsLinux(major, minor int) bool {
	var names [6][65]byte // struct utsname
	if _, _, errno := linux.Syscall6(linux.SYS_UNAME, uintptr(unsafe.Pointer(&names)), 0, 0, 0, 0, 0); errno != 0 {
		return false
	}
	var n [2]int
	i := 0
	for _, c := range names[2] {
		if '0' <= c && c <= '9' {
			n[i] = 10*n[i] + int(c-'0')
		} else if i++; i == len(n) {
			break
		}
	}
	return n[0] > major || n[0] == major && n[1] >= minor
}
