package torture

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// writer writes the blocks of one program. All that it draws comes from the
// program's seed, and the weak form of a place draws as often as the right one,
// so that a twin is the program itself except for one place.
type writer struct {
	rng   *rand.Rand
	block string            // suffix of the names of the block at hand
	parts map[string]string // texts that the block's templates name
	broken
}

// broken counts the places where the synchronisation of a program can be
// weakened, and weakens one of them.
type broken struct {
	shape  string   // of the block at hand
	places []string // "shape: place", all of them in order
	weaken int      // index of the place to weaken; -1 is none
	fixed  bool     // the block has no such places: the monitor could not see it
}

// expand writes a template out. A template is Go source with
//
//	$           the suffix that makes names of one block differ from those of others
//	«?a¦b¦c»    one of the texts
//	«#2-9»      a number from 2 to 9
//	«!name¦a¦b» a, which is right, or b, with which the accesses in lines that end in //~ race
//	«name»      a part of the block
func (w *writer) expand(text string) string {
	p := &parser{w: w, text: text}
	out := p.expandBranch(true)
	if p.at < len(text) {
		panic("unmatched » or ¦ in " + text)
	}
	return out
}

// parser is the state of one expansion.
type parser struct {
	w    *writer
	text string
	at   int
}

const (
	opens  = "«"
	closes = "»"
	bar    = "¦"
)

// expandBranch expands up to the bar or bracket that ends a branch. A branch that is not
// live is read over and draws nothing.
func (p *parser) expandBranch(live bool) string {
	var b strings.Builder
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.HasPrefix(rest, opens):
			p.at += len(opens)
			b.WriteString(p.command(live))
		case strings.HasPrefix(rest, closes), strings.HasPrefix(rest, bar):
			return b.String()
		case strings.HasPrefix(rest, "//~"):
			b.WriteString("//~" + p.w.block)
			p.at += len("//~")
		case rest[0] == '$':
			b.WriteString(p.w.block)
			p.at++
		default:
			b.WriteByte(rest[0])
			p.at++
		}
	}
	return b.String()
}

// command expands one bracket, behind its opening.
func (p *parser) command(live bool) string {
	kind := p.text[p.at]
	if kind == '?' || kind == '!' || kind == '#' {
		p.at++
	}
	switch kind {
	case '?':
		return p.choice(live)
	case '!':
		return p.expandPlace(live)
	}
	word := p.readWord()
	switch {
	case !live:
		return ""
	case kind == '#':
		return p.number(word)
	}
	part, ok := p.w.parts[word]
	if !ok {
		panic(fmt.Sprintf("no part %q for %s", word, p.text))
	}
	return part
}

// readWord reads up to the closing bracket, and over it.
func (p *parser) readWord() string {
	word, _, ok := strings.Cut(p.text[p.at:], closes)
	if !ok {
		panic("no » in " + p.text)
	}
	p.at += len(word) + len(closes)
	return word
}

func (p *parser) number(span string) string {
	from, to, _ := strings.Cut(span, "-")
	low, err1 := strconv.Atoi(from)
	high, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || high < low {
		panic("no span of numbers: " + span)
	}
	return strconv.Itoa(low + p.w.rng.IntN(high-low+1))
}

func (p *parser) choice(live bool) string {
	chosen := -1
	if live {
		chosen = p.w.rng.IntN(p.branches())
	}
	out := ""
	for i := 0; ; i++ {
		if branch := p.expandBranch(i == chosen); i == chosen {
			out = branch
		}
		if p.readBar() {
			return out
		}
	}
}

// branches counts those of the bracket with a first branch that begins here.
func (p *parser) branches() int {
	n, depth := 1, 0
	for rest := p.text[p.at:]; rest != ""; rest = rest[1:] {
		switch {
		case strings.HasPrefix(rest, opens):
			depth++
		case strings.HasPrefix(rest, closes):
			if depth == 0 {
				return n
			}
			depth--
		case strings.HasPrefix(rest, bar) && depth == 0:
			n++
		}
	}
	panic("no » in " + p.text)
}

// readBar reads the bar before a further branch, or the closing bracket.
func (p *parser) readBar() bool {
	if rest := p.text[p.at:]; strings.HasPrefix(rest, bar) {
		p.at += len(bar)
		return false
	}
	p.at += len(closes)
	return true
}

// expandPlace expands one where synchronisation can be weakened. Both forms draw.
func (p *parser) expandPlace(live bool) string {
	what, _, ok := strings.Cut(p.text[p.at:], bar)
	if !ok {
		panic("no ¦ in " + p.text)
	}
	p.at += len(what) + len(bar)
	weaken := live && p.w.takePlace(what)
	right := p.expandBranch(live)
	p.readBar()
	weak := p.expandBranch(live)
	p.readBar()
	if weaken {
		return weak
	}
	return right
}

// takePlace takes up a place, and reports whether it is the one to weaken.
func (b *broken) takePlace(what string) bool {
	if b.fixed {
		return false
	}
	b.places = append(b.places, b.shape+": "+what)
	return len(b.places)-1 == b.weaken
}
