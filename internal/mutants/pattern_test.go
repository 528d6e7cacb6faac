package mutants

import (
	"go/scanner"
	"go/token"
)

// tok is a token of Go source.
type tok struct {
	kind       token.Token
	text       string // for an identifier or literal, else ""
	start, end int    // offsets in the file
	bare       bool   // an identifier that is not the selector of another
}

// tokens returns the tokens of src, which begins at offset first of its file. It omits tokens of
// pure layout: comments, semicolons before a closing brace, commas before any closing bracket,
// and the difference between a semicolon and the end of a line.
func tokens(src []byte, first int) []tok {
	fset := token.NewFileSet()
	file := fset.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, 0)
	var all []tok
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			break
		}
		start := file.Offset(pos)
		t := tok{kind: kind, start: first + start, end: first + start + len(text)}
		switch {
		case kind == token.SEMICOLON:
			t.end = t.start
		case kind == token.IDENT:
			t.text, t.bare = text, len(all) == 0 || all[len(all)-1].kind != token.PERIOD
		case kind.IsLiteral():
			t.text = text
		case text == "":
			t.end = t.start + len(kind.String())
		}
		if n := len(all); n > 0 && closes(kind) && (all[n-1].kind == token.SEMICOLON || all[n-1].kind == token.COMMA) {
			all = all[:n-1]
		}
		all = append(all, t)
	}
	for len(all) > 0 && all[len(all)-1].kind == token.SEMICOLON {
		all = all[:len(all)-1]
	}
	return all
}

func closes(kind token.Token) bool {
	return kind == token.RBRACE || kind == token.RPAREN || kind == token.RBRACK
}

// names maps the identifiers of a pattern to the identifiers of the source where they differ.
type names map[string]string

// matches returns the occurrences of pattern in toks as the numbers of their first tokens. With
// rename, an identifier of the pattern may stand for one in locals, or for one that differs only
// in being exported, consistently within an occurrence.
func matches(toks, pattern []tok, locals map[string]bool, rename bool) (at []int, as []names) {
	for i := 0; i+len(pattern) <= len(toks); i++ {
		if n, ok := match(toks[i:], pattern, locals, rename); ok {
			at, as = append(at, i), append(as, n)
		}
	}
	return at, as
}

func match(toks, pattern []tok, locals map[string]bool, rename bool) (names, bool) {
	to, from := names{}, names{}
	for j, p := range pattern {
		t := toks[j]
		switch {
		case t.kind != p.kind:
			return nil, false
		case t.text == p.text && to[p.text] == "" && from[t.text] == "":
			continue
		case !rename || t.kind != token.IDENT || !(t.bare && p.bare && locals[t.text]) && !sameExported(t.text, p.text):
			return nil, false
		case to[p.text] != "" && to[p.text] != t.text || from[t.text] != "" && from[t.text] != p.text:
			return nil, false
		}
		to[p.text], from[t.text] = t.text, p.text
	}
	return to, true
}

// sameExported reports whether two identifiers are equal except for being exported.
func sameExported(a, b string) bool {
	return len(a) == len(b) && len(a) > 0 && a[0]|0x20 == b[0]|0x20 && a[1:] == b[1:]
}

// apply renames the identifiers of a piece of source.
func (n names) apply(src string) string {
	out, last := "", 0
	for _, t := range tokens([]byte(src), 0) {
		if to, ok := n[t.text]; ok && t.kind == token.IDENT {
			out += src[last:t.start] + to
			last = t.end
		}
	}
	return out + src[last:]
}
