package instrument_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/interlock-go/interlock/atomicsets/plan"
	"github.com/interlock-go/interlock/dynamic/instrument"
)

func TestLocks(t *testing.T) {
	const decls = "package p\n\nimport \"sync\"\n\ntype inner struct{ sync.Mutex; n int }\n\ntype T struct {\n\t*inner\n" +
		"\tmu sync.RWMutex\n\tptr *sync.Mutex\n\tl sync.Locker\n}\n\n"
	for _, c := range []struct{ in, want string }{
		{"x.mu.RLock()", "_illock.OfRWMutex(&x.mu, N).RLock()"},
		{"defer x.mu.Unlock()", "defer _illock.OfRWMutex(&x.mu, N).Unlock()"},
		{"x.ptr.Lock()", "_illock.OfMutex((*_ilrt.R(&x.ptr, 1)), N).Lock()"},
		{"x.Lock()", "_illock.OfMutex(&(*_ilrt.R(&(x).inner, 1)).Mutex, N).Lock()"},
		{"(*x).Unlock()", "_illock.OfMutex(&((*_ilrt.R(&(*x).inner, 1))).Mutex, N).Unlock()"},
		{"x.inner.Lock()", "_illock.OfMutex(&(*_ilrt.R(&x.inner, 1)).Mutex, N).Lock()"},
		{"x.l.Lock()", "_illock.OfLocker((*_ilrt.R(&x.l, 1)), N).Lock()"},
		{"unlock := x.mu.RUnlock; unlock()", "unlock := _illock.OfRWMutex(&x.mu, N).RUnlock; unlock()"},
		{"if x.mu.TryLock() { x.n = 1 }", "if _illock.OfRWMutex(&x.mu, N).TryLock() { (*_ilrt.W("},
		{"var mu sync.Mutex; mu.Lock()", "var mu sync.Mutex; _illock.OfMutex(&mu, N).Lock()"},
		{"sync.NewCond(&x.mu).Wait()", "sync.NewCond(&x.mu).Wait()"},
	} {
		src := decls + "func f(x *T) {\n\t" + c.in + "\n}\n\nvar g = func(x *T) { x.mu.Lock() }\n"
		p := typed(t, "go1.26", map[string]string{"a.go": src})
		res, err := instrument.Rewrite(p, everySite(p), watchesLocks)
		if err != nil {
			t.Fatal(err)
		}
		out := string(res.Files[0].Content)
		body := strings.Split(out, "\n")[strings.Count(decls, "\n")+1]
		if body = lockID.ReplaceAllString(body, ", N)"); !strings.Contains(body, c.want) {
			t.Errorf("%s becomes %s, want %s", c.in, body, c.want)
		}
		checkTypes(t, out)
	}
}

var watchesLocks = instrument.Options{Locks: "interlock.invalid/rt/locks"}

// lockID is the id of a use of a lock in the text.
var lockID = regexp.MustCompile(`, \d{5,}\)`)

// A file without accesses to monitor imports nothing that it does not use.
func TestLocksAlone(t *testing.T) {
	const src = "package p\n\nimport \"sync\"\n\nfunc f(mu *sync.Mutex) { mu.Lock() }\n"
	p := typed(t, "go1.26", map[string]string{"a.go": src})
	res, err := instrument.Rewrite(p, func(plan.Key) *plan.Site { return nil }, watchesLocks)
	if err != nil || len(res.Files) != 1 {
		t.Fatalf("%d files, %v", len(res.Files), err)
	}
	out := string(res.Files[0].Content)
	if strings.Contains(out, "_ilrt") || !strings.Contains(out, "_illock.OfMutex(mu, ") {
		t.Error(out)
	}
	checkTypes(t, out)
}
