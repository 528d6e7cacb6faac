package query

import (
	"strings"
	"unicode/utf8"
)

// likePattern is a pattern of LIKE: % stands for any bytes, also none, _ for one character, and everything else for
// itself, as does a character behind the escape character. The whole id must match, case and all.
type likePattern struct {
	source string
	tokens []likeToken
	prefix string // literal start
	exact  bool   // no wildcard: the id must equal prefix
}

type likeToken struct {
	literal string // if kind is likeLiteral
	kind    likeKind
}

type likeKind int

const (
	likeLiteral likeKind = iota
	likeOne              // _
	likeAny              // %
)

// compileLike reads a pattern; escape is "" for none. False if the pattern ends in its escape character.
func compileLike(pattern, escape string) (*likePattern, bool) {
	p := &likePattern{source: pattern}
	var literal []byte
	flush := func() {
		if len(literal) > 0 {
			p.tokens = append(p.tokens, likeToken{literal: string(literal)})
			literal = literal[:0]
		}
	}
	for i := 0; i < len(pattern); {
		_, n := utf8.DecodeRuneInString(pattern[i:])
		c := pattern[i : i+n]
		i += n
		switch {
		case escape != "" && c == escape:
			if i == len(pattern) {
				return nil, false
			}
			_, n := utf8.DecodeRuneInString(pattern[i:])
			literal = append(literal, pattern[i:i+n]...)
			i += n
		case c == "_":
			flush()
			p.tokens = append(p.tokens, likeToken{kind: likeOne})
		case c == "%":
			flush()
			if k := len(p.tokens); k == 0 || p.tokens[k-1].kind != likeAny {
				p.tokens = append(p.tokens, likeToken{kind: likeAny})
			}
		default:
			literal = append(literal, c...)
		}
	}
	flush()
	p.exact = len(p.tokens) == 0
	if len(p.tokens) > 0 && p.tokens[0].kind == likeLiteral {
		p.prefix = p.tokens[0].literal
		p.exact = len(p.tokens) == 1
	}
	return p, true
}

// match says whether s matches. It goes back only to the last % (a later one makes earlier choices irrelevant), so its
// time is at most proportional to len(s) times the length of the pattern.
func (p *likePattern) match(s string) bool {
	at, tok := 0, 0
	lastAny, resume := -1, 0 // the token after the last %, and where in s to try it next
	for {
		if tok == len(p.tokens) {
			if at == len(s) {
				return true
			}
		} else if t := p.tokens[tok]; t.kind == likeAny {
			tok++
			lastAny, resume = tok, at
			continue
		} else if n := t.accepts(s[at:]); n > 0 {
			tok++
			at += n
			continue
		}
		if lastAny < 0 || resume >= len(s) {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[resume:])
		resume += n
		tok, at = lastAny, resume
	}
}

// accepts returns how many bytes at the start of s the token stands for, 0 if none.
func (t likeToken) accepts(s string) int {
	if t.kind == likeOne {
		_, n := utf8.DecodeRuneInString(s)
		return n
	}
	if strings.HasPrefix(s, t.literal) {
		return len(t.literal)
	}
	return 0
}
