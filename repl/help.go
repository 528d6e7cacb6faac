package repl

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/display"
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/query"
)

// helpTopics returns the words that .help knows.
func helpTopics() []string {
	var words []string
	for _, t := range front.Language.Topics {
		words = append(words, t.Words...)
	}
	return words
}

// helpOf maps words of the language that are not keywords to the word whose help explains them.
var helpOf = map[string]string{"ID": "LIKE", "TRUE": "IS", "FALSE": "IS", "DISTANCE": "ORDER", "SCORE": "ORDER", "TIME": "ORDER"}

// dotHelp lists the language and the dot-commands, or those that a word belongs to.
func (s *session) dotHelp(arg string) error {
	word := strings.ToUpper(strings.Trim(arg, ".; "))
	if of, ok := helpOf[word]; ok {
		word = of
	}
	var lines, more [][2]string
	for _, t := range front.Language.Topics {
		if word == "" || slices.Contains(t.Words, word) {
			lines = append(lines, [2]string{t.Syntax, t.Help})
			more = append(more, details(t)...)
		}
	}
	if word == "" {
		lines = append(lines, [2]string{})
	}
	var names []string
	for _, c := range s.commands {
		names = append(names, c.name)
		if word == "" || strings.EqualFold(c.name, word) {
			lines = append(lines, [2]string{strings.TrimSpace("." + c.name + " " + c.arguments), c.help})
		}
	}
	if len(lines) == 0 {
		hint := "type .help for all"
		if w, ok := spelling.Closest(word, append(helpTopics(), names...)); ok {
			hint = "did you mean " + w + "?"
		}
		return &query.ParseError{Class: query.ClassParse, Msg: fmt.Sprintf("there is no help on %q", arg), Hint: hint}
	}
	if word != "" && len(more) > 0 {
		lines = append(append(lines, [2]string{}), more...)
	}
	return s.writeHelp(lines)
}

// details returns the forms of a construct and, for a predicate, examples of its use.
func details(t front.Topic) (lines [][2]string) {
	plain := strings.NewReplacer("`", "", "*", "", ": see below", "") // below refers to docs/query.md
	for _, r := range t.Rows {
		lines = append(lines, [2]string{plain.Replace(r.Syntax), plain.Replace(r.Meaning + " (" + r.Last + ")")})
	}
	if t.Example != "" {
		lines = append(lines, [2]string{}, [2]string{"predicate [AND|OR|NOT predicate ...] [clause ...]", "a query; clauses are SINCE, ORDER BY, LIMIT, OFFSET, ESTIMATE and SHOW"},
			[2]string{t.Example + " AND lang = 'en' LIMIT 10", "with a condition on a field"},
			[2]string{"COUNT " + t.Example, "the number of rows"}, [2]string{t.Example + " SHOW *", "rows with fields and text"}, [2]string{"EXPLAIN ANALYZE " + t.Example, "how the rows are found"})
	}
	return lines
}

// narrowHelp is the width of the syntax column on a narrow terminal.
const narrowHelp = 28

// writeHelp writes pairs of syntax and explanation in two columns. On a narrow terminal it wraps
// the explanations, and starts them on a new line if the syntax is longer than its column.
func (s *session) writeHelp(lines [][2]string) error {
	left, right := 0, 0
	for _, l := range lines {
		left, right = max(left, len(l[0])), max(right, len(l[1]))
	}
	if width := s.options.Width; width > 0 && left+2+right > width {
		left = min(left, narrowHelp)
		right = max(width-left-2, 20)
	}
	var b strings.Builder
	for _, l := range lines {
		syntax := l[0]
		if len(syntax) > left {
			b.WriteString(syntax + "\n")
			syntax = ""
		}
		for _, row := range display.Wrap(l[1], right) {
			b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s  %s", left, syntax, row), " ") + "\n")
			syntax = ""
		}
	}
	_, err := io.WriteString(s.out, b.String())
	return err
}
