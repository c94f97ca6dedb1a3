package child

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// running counts the processes that Run has started and that have not ended; adopted is set once this process is the
// parent of the processes that they leave behind.
var running struct {
	mu      sync.Mutex
	n       int
	adopted bool
}

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER of prctl(2), which syscall has not.
const prSetChildSubreaper = 36

// adoptOrphans has the system make this process the parent of each descendant that loses its own parent.
func adoptOrphans() {
	running.mu.Lock()
	defer running.mu.Unlock()
	running.n++
	if !running.adopted {
		_, _, fault := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0, 0, 0, 0)
		running.adopted = fault == 0
	}
}

// orphanRounds bounds the generations: an orphan that ends may leave processes of its own behind.
const orphanRounds = 20

// endOrphans ends the processes that tests have started in groups of their own, once none of the tests runs: they are
// children of this process that are in another group.
func endOrphans() {
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.n--; running.n > 0 || !running.adopted {
		return
	}
	for range orphanRounds {
		orphans := children(os.Getpid(), syscall.Getpgrp())
		for _, pid := range orphans {
			syscall.Kill(pid, syscall.SIGKILL)
			reap(pid)
		}
		if len(orphans) == 0 {
			return
		}
	}
}

// reap waits until a process that was killed has ended, or not for long.
func reap(pid int) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if got, err := syscall.Wait4(pid, nil, syscall.WNOHANG, nil); got == pid || err != nil && err != syscall.EINTR {
			return
		}
	}
}

// children lists those of a process that are in another group than the one given.
func children(parent, group int) (pids []int) {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		// The name of the program, in brackets, may hold anything; state, parent and group follow.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 2 && fields[1] == strconv.Itoa(parent) && fields[2] != strconv.Itoa(group) {
			pids = append(pids, pid)
		}
	}
	return pids
}
