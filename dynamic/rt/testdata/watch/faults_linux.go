package main

import "syscall"

func init() {
	programs["faultSignal"] = func() {
		programs["raceCounter"]()
		syscall.Kill(syscall.Getpid(), syscall.SIGTERM)
		select {}
	}

	programs["faultKilled"] = func() {
		programs["raceCounter"]()
		syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}

	programs["faultOutOfMemory"] = func() {
		programs["raceCounter"]()
		const most = 2 << 30
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
			panic(err)
		}
		var all [][]byte
		for {
			all = append(all, make([]byte, 64<<20))
			keep = all
		}
	}
}
