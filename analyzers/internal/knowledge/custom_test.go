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
		{"CommentPromisesSharing", func(s string) bool { return CommentPromisesSharing(s, "Set") },
			[]string{"It is safe for concurrent use.", "Its methods may be called concurrently by several goroutines.",
				"It can safely be used concurrently.", "Set is goroutine-safe",
				"Set counts. A Set is safe for use by\nmany goroutines.",
				"Set methods are safe to use concurrently.\n\nA Set must not be copied after first use."},
			[]string{"It is not safe for concurrent use.", "not goroutine-safe", "safe to call once", "started in a goroutine",
				"Sheet is safe for concurrent use.", "Set is safe for concurrent use by readers.",
				"None of the methods of Set is safe for concurrent use.", "Set is far from being goroutine-safe.",
				"Wrap it to make it safe for concurrent use.", "Set is safe for concurrent use, but see Cut.",
				"Set is safe for concurrent use: Get from Seal on.", "Set is safe for concurrent use. Cut needs a lock.",
				"Set is used by all. It can be used by several goroutines only with a lock of theirs around it."}},
		{"CommentSpeaksOfOrder", func(s string) bool { return CommentSpeaksOfOrder(s, "Get") },
			[]string{"Get gets. Call it when the writers have finished.", "It must not run in parallel with Add.",
				"Get is for use between Lock and Unlock.", "Get returns what the caller alone may use."},
			[]string{"Get returns a value, or nil if there is none.", "Get is safe for concurrent use.",
				"Get returns a copy of what the lock guards."}},
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
