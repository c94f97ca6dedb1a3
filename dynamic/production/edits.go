package production

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// edit is text that is put into a file of the standard library: behind the one place that has another text.
type edit struct{ file, behind, text string }

// edits has the calls of ilkRelease, each before the release that it counts takes effect, and the start.
var edits = []edit{
	{"runtime/proc.go", "\n\t// Allow newproc to start new Ms.\n", "\tilkStart()\n"},
	{"runtime/proc.go", "\nfunc newproc(fn *funcval) {", " ilkRelease();"},
	{"runtime/proc.go", "\nfunc goexit1() {", " ilkRelease();"},
	{"runtime/proc.go", "\nfunc reentersyscall(pc, sp, bp uintptr) {", " getg().ilkClock++;"},
	{"runtime/proc.go", "\nfunc entersyscallblock() {", " getg().ilkClock++;"},
	{"runtime/coro.go", "\nfunc newcoro(f func(*coro)) *coro {", " ilkRelease();"},
	{"runtime/coro.go", "\nfunc coroexit(c *coro) {", " ilkRelease();"},
	{"runtime/coro.go", "\nfunc coroswitch(c *coro) {", " ilkRelease();"},
	{"runtime/chan.go", "\nfunc chansend(c *hchan, ep unsafe.Pointer, block bool, callerpc uintptr) bool {",
		" ilkRelease();"},
	{"runtime/chan.go", "\nfunc closechan(c *hchan) {", " ilkRelease();"},
	{"runtime/chan.go", "\nfunc chanrecv(c *hchan, ep unsafe.Pointer, block bool) (selected, received bool) {",
		" ilkRelease();"},
	{"runtime/select.go", "\nfunc selectgo(cas0 *scase, order0 *uint16, pc0 *uintptr, nsends, nrecvs int, block bool) " +
		"(int, bool) {", " ilkRelease();"},
	{"runtime/sema.go", "\nfunc semrelease1(addr *uint32, handoff bool, skipframes int) {", " ilkRelease();"},
	{"runtime/sema.go", "\nfunc notifyListNotifyAll(l *notifyList) {", " ilkRelease();"},
	{"runtime/sema.go", "\nfunc notifyListNotifyOne(l *notifyList) {", " ilkRelease();"},
	{"runtime/time.go", "\nfunc newTimer(when, period int64, f func(arg any, seq uintptr, delay int64), arg any, " +
		"c *hchan) *timeTimer {", " ilkRelease();"},
	{"runtime/time.go", "\nfunc stopTimer(t *timeTimer) bool {", " ilkRelease();"},
	{"runtime/time.go", "\nfunc resetTimer(t *timeTimer, when, period int64) bool {", " ilkRelease();"},
	{"runtime/runtime2.go", "\ntype g struct {", ""}, // see addClock
	{"runtime/signal_unix.go", "\nfunc sigtrampgo(sig uint32, info *siginfo, ctx unsafe.Pointer) {\n\tif sigfwdgo(sig, " +
		"info, ctx) {\n\t\treturn\n\t}\n\tc := &sigctxt{info, ctx}\n\tgp := sigFetchG(c)\n\tsetg(gp)\n\tif gp == nil || " +
		"(gp.m != nil && gp.m.isExtraInC) {\n", "\t\tif ilkNonGo(sig, info) { return }\n"},
	{"runtime/signal_unix.go", "\nfunc sigtrampgo(sig uint32, info *siginfo, ctx unsafe.Pointer) {",
		" if ilkTakes(sig) { return };"},
	{"internal/sync/mutex.go", "\n\t// Fast path: drop lock bit.\n", "\tilkRelease()\n"},
	{"sync/pool.go", "\nfunc (p *Pool) Put(x any) {", " ilkRelease();"},
}

// optional edits are made where the installation has the function.
var optional = []edit{
	// Memory that the compiler frees may be another goroutine's at once, without a collection.
	{"runtime/malloc.go", "\nfunc freegc(ptr unsafe.Pointer, size uintptr, noscan bool) bool {", " ilkReleaseCur();"},
}

// declaration makes ilkRelease known to a package of the standard library.
const declaration = `package %s

import _ "unsafe"

//go:linkname ilkRelease runtime.ilkRelease
func ilkRelease()
`

// editedTexts returns the files of the installation at root that differ, by their names below src.
func editedTexts(root string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	read := func(name string) error {
		if texts[name] != nil {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, "src", filepath.FromSlash(name)))
		texts[name] = text
		return err
	}
	// Several edits may be of one file.
	for _, e := range append(edits[:len(edits):len(edits)], optional...) {
		if err := read(e.file); err != nil {
			return nil, err
		}
	}
	for _, e := range edits {
		text, ok := e.apply(texts[e.file])
		if !ok {
			return nil, fmt.Errorf("its %s has no %q once, as the watch knows it", e.file, e.behind)
		}
		texts[e.file] = text
	}
	for _, e := range optional {
		if text, ok := e.apply(texts[e.file]); ok {
			texts[e.file] = text
		}
	}
	var err error
	if texts["runtime/runtime2.go"], err = addClock(texts["runtime/runtime2.go"]); err != nil {
		return nil, err
	}
	for _, name := range []string{"internal/sync", "sync"} {
		texts[name+"/zinterlock.go"] = fmt.Appendf(nil, declaration, "sync")
	}
	return texts, nil
}

// apply returns text with the edit, and false where its place is not there once.
func (e edit) apply(text []byte) ([]byte, bool) {
	before, after, _ := bytes.Cut(text, []byte(e.behind))
	if len(before) == len(text) || bytes.Contains(after, []byte(e.behind)) {
		return nil, false
	}
	return bytes.Join([][]byte{before, []byte(e.behind), []byte(e.text), after}, nil), true
}

// addClock adds the clock at the end of type g: assembly knows the fields before it.
func addClock(text []byte) ([]byte, error) {
	_, g, _ := bytes.Cut(text, []byte("\ntype g struct {"))
	end := bytes.Index(g, []byte("\n}\n"))
	if end < 0 {
		return nil, fmt.Errorf("its type g has no end, as the watch knows it")
	}
	at := len(text) - len(g) + end + 1
	const clock = "\n\tilkClock uint64 // releases of this goroutine\n"
	return bytes.Join([][]byte{text[:at], []byte(clock), text[at:]}, nil), nil
}
