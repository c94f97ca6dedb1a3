package knowledge

import (
	"regexp"
	"strings"
	"sync"
)

// The customs of this file were met in the modules of the labelled findings
// (cmd/internal/lab/labels).
// Each of them makes fewer findings, at the price of missing a bug behind a name or
// a comment that is wrong.

// anyOf returns a pattern that matches where one of the parts does. It is compiled when it is first used: the go
// command starts a process for each package, and most processes use none.
func anyOf(flags string, parts ...string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(flags + strings.Join(parts, "|")) })
}

var startsUp = anyOf("", `^(?i:New|Init|Setup|Ensure|Open|Start|Serve|Listen|Connect|Dial|Bootstrap|`+
	`Attach|Reattach)`)

// StartsUp reports whether a function of this name brings an object into service, once for each.
func StartsUp(name string) bool { return startsUp().MatchString(name) }

// RunsOnce reports whether a function of this name is the life of its object, and so is called once for each.
func RunsOnce(name string) bool { return name == "Run" || name == "Main" || name == "Loop" }

var handsOut = anyOf("", `^(?i:Acquire|Borrow|Checkout|Take|Pop|Dequeue|Accept|Dial|Open|New|Make|Create|`+
	`Clone|Copy)`)

// HandsOut reports whether the result of a function of this name belongs to its caller alone.
func HandsOut(name string) bool { return handsOut().MatchString(name) }

var lifeCycle = anyOf("", `^(New|Init|Setup|Set|With|Add|Use|Register|Configure|Open|Load|`+
	`Start|Run|Serve|Listen|Close|Stop|Shutdown|Reset|Default|Unmarshal|Decode|Parse|Validate|Apply|Build)`)

// LifeCycle reports whether a function of this name sets an object up or takes
// it down: it is the custom to call it while nobody else uses the object.
func LifeCycle(name string) bool { return lifeCycle().MatchString(name) }

var takesDown = anyOf("", `^(?i:Close|Stop|Shutdown|Release|Finish|Destroy|Dispose|Terminate|`+
	`Cancel|Kill|Quit|Exit)`)

// TakesDown reports whether a function of this name ends the service of an object, which others may still use.
func TakesDown(name string) bool { return takesDown().MatchString(name) }

// IsOption reports whether a function of this name is an option: it is handed to a constructor, and not called.
func IsOption(name string) bool { return strings.HasPrefix(name, "With") }

var quietNames = map[string]bool{
	"Lock": true, "Unlock": true, "RLock": true, "RUnlock": true,
	"Error": true, "String": true, "Len": true,
	"Debug": true, "Info": true, "Warn": true, "Trace": true,
	"Debugf": true, "Infof": true, "Warnf": true, "Errorf": true, "Noticef": true, "Tracef": true, "Printf": true,
	"Logf": true,
}

// QuietName reports whether a function of this name locks, asks or logs, which
// no other goroutine takes for an effect.
func QuietName(name string) bool { return quietNames[name] }

// CalledToPrint reports whether package fmt calls a method of this name, so that a value which is turned into an
// interface need not be there for it.
func CalledToPrint(name string) bool {
	return name == "String" || name == "GoString" || name == "Format"
}

var mayReturnLocked = anyOf("", `(?i)lock|acquire|begin|enter|hold|freeze|pause`)

// MayReturnLocked reports whether a function of this name is meant to return
// with a lock held.
func MayReturnLocked(name string) bool { return mayReturnLocked().MatchString(name) }

// NameWantsLock reports whether a function of this name expects its caller to
// hold a lock, or to do without.
func NameWantsLock(name string) bool {
	return strings.HasSuffix(name, "Locked") || strings.HasSuffix(name, "NoLock") || strings.HasSuffix(name, "Unsafe")
}

var wantsLock = anyOf(`(?i)`,
	`\b(\w*lock|mutex|mu)\b[^.]*\b(held|hold|holds|holding|taken|locked)\b`,
	`\b(hold|holds|holding|under|with)\b[^.]*\b(\w*lock|mutex|mu)\b`,
)

// CommentWantsLock reports whether the comment of a function, its lines
// joined, says such as "Lock should be held on entry", "the caller must hold mu"
// or "called with the lock held".
func CommentWantsLock(text string) bool { return wantsLock().MatchString(text) }

// aLock is how comments name a lock; sentence is the text that may stand in between.
const (
	aLock    = `(lock|locking|mutex|synchroni[sz]ation)`
	sentence = `([^.]|\.\w)`
)

var needsNoLock = anyOf(`(?is)`,
	`\b(don't|doesn't|do not|does not|not|no longer)\s+(need|require|necessary)\b`+sentence+`{0,30}\b`+aLock+`\b`,
	`\bno\s+(need\s+(to|for)\s+(a\s+|the\s+)?)?`+aLock+
		`\s*(is\s+|needed|required|necessary|here|as\b|since\b|because\b)`,
	`\bno\s+need\s+to\s+(protect|guard|synchroni[sz]e)\b`,
	`\brac(e|es|y|ing)\b.{0,100}\b(allowed|acceptable|harmless|benign|tolerable)\b`,
	`\b((safe|fine|ok|okay)\s+to|can\s+be\s+(read|set|written|updated|accessed|used|called))\b`+sentence+
		`{0,80}\bwithout\s+(any\s+|the\s+|a\s+)?(holding\s+|taking\s+)?(the\s+|a\s+)?`+aLock,
	`\bnot\s+safe\s+to\s+(call|read|use)\b`+sentence+`{0,40}\buntil\b`,
	`\bonly\s+(be\s+)?(valid|meaningful|set|available|called|used)\s+(after|once)\b`,
)

// CommentNeedsNoLock reports whether a comment says that no lock is needed, or
// that a race is meant, or that something else comes first ("only valid after Start").
func CommentNeedsNoLock(text string) bool { return needsNoLock().MatchString(text) }

var notConcurrent = anyOf(`(?is)`,
	`\b(not|isn't|never|non)[ -](be )?((currently|itself) )?(go-?routine|thread|concurren)(cy)?-?\s*(safe|ly)?\b`,
	`\bnot\s+safe\s+(for|to)\b[^.]{0,40}\b(concurren|goroutine|thread)`,
	`\b(not|never)\s+be\s+(called|used|accessed)\s+(concurrently|from (multiple|several|different) goroutines)`,
	`\b(one|single)\s+concurrent\b`,
	`^(one|single)[ -](consumer|producer|reader|writer)\b`,
	`\b(one|single)[ -]producer\b[^.]{0,10}\b(one|single)[ -]consumer\b`,
	`\bonly\s+(be\s+)?(called\s+|used\s+|accessed\s+)?(by|from|in)\s+(one|a single)\s+goroutine`,
)

// CommentForbidsConcurrency reports whether the comment of a type or function
// forbids its use by several goroutines.
func CommentForbidsConcurrency(text string) bool { return notConcurrent().MatchString(text) }

var comesFirst = anyOf(`(?is)`,
	`\b(must|should|shall|may|can|has to|have to|needs? to|ought to|is to|meant to)\s+(only\s+)?`+
		`be\s+(called|set|used|invoked|configured|made)\s+(only\s+)?`+
		`(before|prior to|at most once|exactly once|just once|once\b([.,;]|\s+(and|at|during|before|on|when)\b|\s*$)|`+
		`(during|at|on)\s+(init|start|set-?up))`,
	`\b(must|should|shall|may|can)\s*(not|n't)\s+be\s+(called|set|used|invoked|changed|modified)\s+`+
		`(after|while|when|once)\b`,
	`^(call|set|use|invoke)\s+(this|it)\s+(only\s+)?before\b`,
)

// CommentComesFirst reports whether the comment of a function says that it is called before others, or once:
// "must be called before Run", "should be called once at start-up", "must not be called after Start".
func CommentComesFirst(text string) bool { return comesFirst().MatchString(text) }

var onlyReads = anyOf("",
	`^(Print|Fprint|Sprint|Append|Log|Trace|Debug|Info|Notice|Warn|Error|Fatal|Panic|Assert|Require|Equal|NotEqual|`+
		`Nil|NotNil|True|False|Len|Marshal|Encode|Format|String|Wrap|TypeOf|DeepEqual|Execute)`,
	`(?i:(log|logf|debugf|infof|warnf|errorf|fatalf|tracef|printf|println))$`,
)

// NameOnlyReads reports whether a function of this name reads the contents of its argument of type any, and
// writes to none of them.
func NameOnlyReads(name string) bool { return onlyReads().MatchString(name) }
