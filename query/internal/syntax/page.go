package syntax

import (
	"regexp"
	"strings"
)

// parameters are the tokens that may stand for any literal.
const parameters = " | <param> | <named>"

var (
	single = regexp.MustCompile(`\((<\w+>)\)`)
	rule   = regexp.MustCompile(`"[^"]*"|\b[A-Z]\w*`)
	token  = regexp.MustCompile(`<(\w+)>`)
)

// Grammar returns the grammar of statements in EBNF, in lines of at most width columns. Keywords
// are in quotes, and tokens in capitals.
func (l *Language) Grammar(width int) string {
	var b strings.Builder
	for line := range strings.Lines(parser().String()) {
		line = single.ReplaceAllString(strings.ReplaceAll(line, parameters, ""), "$1")
		line = strings.ReplaceAll(line, "(<param> | <named>)", "<param>")
		line = rule.ReplaceAllStringFunc(line, func(name string) string {
			if name[0] == '"' {
				return name
			}
			return strings.ToLower(name)
		})
		line = token.ReplaceAllStringFunc(line, func(kind string) string { return strings.ToUpper(strings.Trim(kind, "<>")) })
		wrap(&b, strings.TrimSuffix(strings.TrimSpace(line), " ."), width)
	}
	wrap(&b, `PREDICATE = "`+strings.Join(l.predicates, `" | "`)+`"`, width)
	return b.String()
}

// wrap writes a rule and indents its further lines.
func wrap(b *strings.Builder, rule string, width int) {
	const indent = "    "
	at := 0
	for word := range strings.FieldsSeq(rule) {
		switch {
		case at == 0:
		case at+1+len(word) > width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	b.WriteString("\n")
}
