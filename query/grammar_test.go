package query

import (
	"regexp"
	"strings"

	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// parameters are the tokens that may stand for any literal.
const parameters = " | <param> | <named>"

// Patterns of the notation of rules.
var (
	single = regexp.MustCompile(`\((<\w+>)\)`)
	rules  = regexp.MustCompile(`"[^"]*"|\b[A-Z]\w*`)
	token  = regexp.MustCompile(`<(\w+)>`)
)

// grammarPage returns the grammar of statements in EBNF, in lines of at most width columns. Keywords
// are in quotes, and tokens in capitals.
func grammarPage(width int) string {
	var b strings.Builder
	for line := range strings.Lines(syntax.Rules()) {
		line = single.ReplaceAllString(strings.ReplaceAll(line, parameters, ""), "$1")
		line = strings.ReplaceAll(line, "(<param> | <named>)", "<param>")
		line = rules.ReplaceAllStringFunc(line, func(name string) string {
			if name[0] == '"' {
				return name
			}
			return strings.ToLower(name)
		})
		line = token.ReplaceAllStringFunc(line, func(kind string) string { return strings.ToUpper(strings.Trim(kind, "<>")) })
		wrap(&b, strings.TrimSuffix(strings.TrimSpace(line), " ."), width)
	}
	var called []string
	for _, d := range predicate.Definitions {
		if d.Bind != nil {
			called = append(called, d.Word)
		}
	}
	wrap(&b, `PREDICATE = "`+strings.Join(called, `" | "`)+`"`, width)
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
