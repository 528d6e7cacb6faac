package value

import (
	"strings"
	"unicode/utf8"
)

// Pattern is a pattern of LIKE. % stands for any number of bytes, _ for one character, and
// everything else for itself, as does a character after the escape character. A match covers the
// whole string and is case-sensitive.
type Pattern struct {
	Source string // as the user wrote it
	Prefix string // every match starts with it
	Exact  bool   // the pattern has no wildcard: only Prefix itself matches
	tokens []likeToken
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

// CompilePattern reads a pattern; escape is one character, or "" for none. It returns false if the
// pattern ends in its escape character.
func CompilePattern(pattern, escape string) (*Pattern, bool) {
	p := &Pattern{Source: pattern}
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
	p.Exact = len(p.tokens) == 0
	if len(p.tokens) > 0 && p.tokens[0].kind == likeLiteral {
		p.Prefix = p.tokens[0].literal
		p.Exact = len(p.tokens) == 1
	}
	return p, true
}

// PrefixOnly reports whether every string that starts with Prefix matches.
func (p *Pattern) PrefixOnly() bool {
	n := len(p.tokens)
	return n > 0 && p.tokens[n-1].kind == likeAny && (n == 1 || n == 2 && p.tokens[0].kind == likeLiteral)
}

// Match reports whether all of s matches. It backtracks only to the last %, because a later % makes
// earlier choices irrelevant; so its time is at most O(len(s) * len(pattern)).
func (p *Pattern) Match(s string) bool {
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

// accepts returns how many bytes at the start of s the token matches, 0 if it does not match.
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
