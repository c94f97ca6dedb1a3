package knowledge

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A comment that says "for several goroutines" makes a finding likely, so it is read strictly: a sentence promises
// that if it says nothing else, and only about its own type or function. Every other sentence that has a word of order
// takes the promise back: to be wrong there makes a finding possible, and hides none.

// promise is a sentence as a whole; its first group is the name of a subject that is not the comment's own.
var promise = sync.OnceValue(func() *regexp.Regexp {
	const (
		methods = `(?:all (?:of )?)?(?:its |the |other )?(?:exported |public )?methods`
		subject = `(?:it|` + methods + `|(?:` + methods + ` (?:of|on) )?(?:(?:an?|the|this|each|every) )?(\w+)(?: methods)?)`
		manner  = `(?: (?:concurrently|simultaneously|in parallel|at the same time|` +
			`(?:by|from|between|among|across|in) (?:multiple|several|many|different|any number of) (?:go-?routines|threads)))`
		use   = `(?:use|used|call|called|access|accessed|share|shared)`
		mixed = `(?:(?:go-?routine|thread|concurrency|concurrent)[- ]safe|` +
			`safe for (?:concurrent|parallel|simultaneous)(?: (?:use|usage|access|calls))?` + manner + `*|` +
			`safe (?:for|to|to be) ` + use + manner + `+)`
		may = `(?:may|can)(?: safely)? be(?: safely)? ` + use + manner + `+`
	)
	return regexp.MustCompile(`(?i)^` + subject + ` (?:(?:is|are)(?: also)? ` + mixed + `|` + may + `)[.!;]?$`)
})

// order has the words by which sentences speak of order, of locks, of other users and of exceptions.
var order = anyOf(`(?i)`,
	`\b(before|after|until|till|while|whilst|during|once|when|whenever|meanwhile|finish\w*|done|first)\b`,
	`\b(concurren\w*|parallel\w*|simultaneous\w*|go-?routines?|threads?|rac(e|es|y|ing)|(un|r|w)?lock\w*|mutex\w*|`+
		`synchroni\w*|unsafe|safe|safely)\b`,
	`\b(must|should|shall|only|single|sole\w*|alone|exclusive\w*|nobody|no (one|other)|callers?|others?|readers?|`+
		`writers?|owns?|owner\w*|freez\w*|frozen|seal\w*)\b`,
	`\b(but|except\w*|unless|unlike|however|though|although|provided|long as|assum\w*|apply|applies)\b`,
)

var onCopies = anyOf(`(?i)`, `\bcop(y|ied|ies)\b`)

// CommentPromisesSharing reports whether the comment of the type or function of this name says that several goroutines
// may use it at the same time, and nothing of order.
func CommentPromisesSharing(comment, name string) bool {
	return slices.ContainsFunc(sentences(comment), func(s string) bool { return promises(s, name) }) &&
		!CommentSpeaksOfOrder(comment, name)
}

// CommentSpeaksOfOrder reports whether a comment on the type or function of this name restricts its use by several
// goroutines: by any sentence with a word of order, except a promise of sharing and a sentence on copies.
func CommentSpeaksOfOrder(comment, name string) bool {
	return slices.ContainsFunc(sentences(comment), func(s string) bool {
		return order().MatchString(s) && !promises(s, name) && !onCopies().MatchString(s)
	})
}

// promises reports whether a sentence says that several goroutines may use that of this name, and nothing else.
func promises(sentence, name string) bool {
	m := promise().FindStringSubmatch(sentence)
	return m != nil && (m[1] == "" || m[1] == name || strings.EqualFold(m[1], "type"))
}

// sentences splits a comment where paragraphs end, and behind each word that ends in a mark of punctuation.
func sentences(comment string) (list []string) {
	for paragraph := range strings.SplitSeq(comment, "\n\n") {
		begin, words := 0, strings.Fields(paragraph)
		for i, w := range words {
			if i == len(words)-1 || strings.ContainsAny(w[len(w)-1:], ".!?;") {
				list = append(list, strings.Join(words[begin:i+1], " "))
				begin = i + 1
			}
		}
	}
	return list
}
