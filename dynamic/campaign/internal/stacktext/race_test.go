package stacktext

import (
	"slices"
	"testing"
)

func TestRaces(t *testing.T) {
	const text = `some output
==================
WARNING: DATA RACE
Write at 0x00c000012345 by goroutine 8:
  m.(*object).set()
      /a b/m.go:12 +0x44
  m.TestA.func1()
      /a b/m_test.go:9 +0x30

Previous read at 0x00c000012345 by main goroutine:
  sync/atomic.LoadInt64()
      /go/race_amd64.s:289 +0xb
  m.main()
      /a b/m.go:20 +0x44

Goroutine 8 (running) created at:
  m.start()
      /a b/m.go:30 +0xae
  m.TestA()
      /a b/m_test.go:8 +0xae
==================
==================
WARNING: DATA RACE
Read at 0x00c000012345 by goroutine 9:
  m.f()
      /m.go:1 +0x1

Previous write at 0x00c000012345 by goroutine 7:
  [failed to restore the stack]

Goroutine 7 (finished) created at:
  m.g()
      /m.go:2 +0x2
==================
==================
WARNING: DATA RACE
Write at 0x00c000012345 by goroutine 9:
  m.cut()
`
	got := Races(text)
	want := [][2]RaceSide{
		{
			{Atomic: true, GID: 1, Stack: "goroutine 1 [running]:\nsync/atomic.LoadInt64(...)\n\t/go/race_amd64.s:289 +0xb\n" +
				"m.main(...)\n\t/a b/m.go:20 +0x44\n"},
			{Write: true, GID: 8, Stack: "goroutine 8 [running]:\nm.(*object).set(...)\n\t/a b/m.go:12 +0x44\n" +
				"m.TestA.func1(...)\n\t/a b/m_test.go:9 +0x30\ncreated by m.start\n\t/a b/m.go:30 +0xae\n"},
		}, {
			{Write: true, GID: 7, Stack: "goroutine 7 [running]:\n[failed to restore the stack]\n" +
				"created by m.g\n\t/m.go:2 +0x2\n"},
			{GID: 9, Stack: "goroutine 9 [running]:\nm.f(...)\n\t/m.go:1 +0x1\n"},
		},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	g := Parse(got[0][1].Stack)
	if g.ID != 8 || len(g.Stack) != 2 || g.Stack[0].File != "/a b/m.go" || len(g.Created) != 1 {
		t.Errorf("the stack reads as %+v", g)
	}
}
