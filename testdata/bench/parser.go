package bench

import (
	"errors"
	"strconv"
)

// ErrSyntax is returned for input that is not of the language.
var ErrSyntax = errors.New("syntax error")

// Parser reads a subset of JSON: objects, arrays, numbers, plain strings, and
// the three literals.
type Parser struct {
	src   []byte
	pos   int
	depth int
	nodes int
}

// Parse returns the number of values in src.
func Parse(src []byte) (int, error) {
	p := &Parser{src: src}
	if err := p.value(); err != nil {
		return 0, err
	}
	p.space()
	if p.pos != len(p.src) {
		return 0, ErrSyntax
	}
	return p.nodes, nil
}

func (p *Parser) space() {
	for p.pos < len(p.src) && (p.src[p.pos] == ' ' || p.src[p.pos] == '\n' || p.src[p.pos] == '\t') {
		p.pos++
	}
}

func (p *Parser) peek() byte {
	if p.pos < len(p.src) {
		return p.src[p.pos]
	}
	return 0
}

func (p *Parser) value() error {
	p.nodes++
	p.space()
	switch c := p.peek(); {
	case c == '{':
		return p.list('}', true)
	case c == '[':
		return p.list(']', false)
	case c == '"':
		return p.str()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	default:
		return p.literal()
	}
}

func (p *Parser) list(end byte, pairs bool) error {
	p.depth++
	defer func() { p.depth-- }()
	p.pos++
	p.space()
	if p.peek() == end {
		p.pos++
		return nil
	}
	for {
		if pairs {
			p.space()
			if err := p.str(); err != nil {
				return err
			}
			p.space()
			if p.peek() != ':' {
				return ErrSyntax
			}
			p.pos++
		}
		if err := p.value(); err != nil {
			return err
		}
		p.space()
		switch p.peek() {
		case ',':
			p.pos++
		case end:
			p.pos++
			return nil
		default:
			return ErrSyntax
		}
	}
}

func (p *Parser) str() error {
	if p.peek() != '"' {
		return ErrSyntax
	}
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch p.src[p.pos] {
		case '\\':
			p.pos++
		case '"':
			p.pos++
			return nil
		}
	}
	return ErrSyntax
}

func (p *Parser) number() error {
	start := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' && (c < '0' || c > '9') {
			break
		}
		p.pos++
	}
	_, err := strconv.ParseFloat(string(p.src[start:p.pos]), 64)
	return err
}

func (p *Parser) literal() error {
	for _, word := range []string{"true", "false", "null"} {
		if len(p.src)-p.pos >= len(word) && string(p.src[p.pos:p.pos+len(word)]) == word {
			p.pos += len(word)
			return nil
		}
	}
	return ErrSyntax
}
