package knowledge

import "testing"

// Each custom matches the first texts and not the second.
func TestCustoms(t *testing.T) {
	for _, tt := range []struct {
		name    string
		matches func(string) bool
		yes, no []string
	}{
		{"LifeCycle", LifeCycle, []string{"NewServer", "Close", "SetLimit"}, []string{"Get", "renew", "IsClosed"}},
		{"StartsUp", StartsUp, []string{"Start", "ensureHandlers"}, []string{"Set", "restart"}},
		{"TakesDown", TakesDown, []string{"Close", "closeLocked", "Release"}, []string{"Open", "Disclose", "Put"}},
		{"IsOption", IsOption, []string{"WithLogger", "WithoutRetries"}, []string{"Reset", "withdraw"}},
		{"QuietName", QuietName, []string{"Lock", "Errorf"}, []string{"Write", "LockAll"}},
		{"MayReturnLocked", MayReturnLocked, []string{"lockAll", "BeginWrite"}, []string{"Get", "release"}},
		{"NameWantsLock", NameWantsLock, []string{"sizeLocked", "getNoLock"}, []string{"Lock", "LockedSize"}},
		{"CommentWantsLock", CommentWantsLock,
			[]string{"The caller must hold mu.", "Lock should be held on entry.", "called with the lock held"},
			[]string{"Size returns the size.", "It clocks in. It is held elsewhere."}},
		{"CommentNeedsNoLock", CommentNeedsNoLock,
			[]string{"does not need the lock", "No lock needed here", "a benign race is harmless, racy but acceptable",
				"This is only valid after Start() is called.", "It is not safe to call this function until l.Notify is closed.",
				"safe to read\nwithout holding the lock", "no need for a mutex since it is set once",
				"There is no need to protect d.commands: it is only read now."},
			[]string{"takes the lock", "does not need more. The lock is taken.", "can be read at once"}},
		{"CommentForbidsConcurrency", CommentForbidsConcurrency,
			[]string{"It is not safe for concurrent use.", "not goroutine-safe", "T must not be used concurrently",
				"may only be called by one goroutine", "isn't thread safe", "single consumer"},
			[]string{"It is safe for concurrent use.", "started in a goroutine"}},
		{"CommentInvitesConcurrency", CommentInvitesConcurrency,
			[]string{"It is safe for concurrent use.", "Its methods may be called by several goroutines.",
				"It can safely be used concurrently.", "goroutine-safe", "safe for use by concurrent readers"},
			[]string{"It is not safe for concurrent use.", "not goroutine-safe", "safe to call once", "started in a goroutine"}},
		{"CommentComesFirst", CommentComesFirst,
			[]string{"It is not thread-safe and must be called before Run().", "SetX should be called once.",
				"may only be set once at start-up", "It must not be called after Start.", "Call this before serving."},
			[]string{"It is called once for each message.", "must be called with a name", "Call Close once it is done.",
				"can be set at any time", "It must be called once per request."}},
		{"NameOnlyReads", NameOnlyReads, []string{"Printf", "Marshal", "myDebugf"}, []string{"Unmarshal", "Decode", "Store"}},
	} {
		for _, s := range tt.yes {
			if !tt.matches(s) {
				t.Errorf("%s does not match %q", tt.name, s)
			}
		}
		for _, s := range tt.no {
			if tt.matches(s) {
				t.Errorf("%s matches %q", tt.name, s)
			}
		}
	}
}
