package query

import (
	"strings"

	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// The words of the language are in three tables: predicate.Definitions, statementDefs and
// clauseTopics. Lexer, grammar, binding, error messages, Tab completion and .help read them, and a
// test compares docs/query.md with them. So a predicate that is written as a call, or a statement
// without a grammar of its own, is one row.

// Topic is a construct of the language as .help shows it.
type Topic struct {
	Words  []string // its keywords, in capitals
	Syntax string
	Help   string
	Rows   []TopicRow // what docs/query.md says, in Markdown
	// Example is a predicate, as it stands in queries.
	Example string
}

// A TopicRow is a form of a construct, its meaning, and the columns of its rows, or its message.
type TopicRow struct{ Syntax, Meaning, Last string }

// measured are the columns of predicates by their measures.
var measured = [...]string{
	predicate.NoMeasure: "`id`", predicate.Places: "`id`, `words`, `at`, `query_at`", predicate.Distance: "`id`, `distance`",
	predicate.Score: "`id`, `score`, `error`, `exact`", predicate.ExactScore: "`id`, `score`, `error`, `exact`",
}

// clauseTopics are the words that start neither a statement nor a predicate.
var clauseTopics = []Topic{
	{[]string{"AND", "OR", "NOT"}, "NEAR('a', 6) AND NOT (ID LIKE 'x%' OR SINCE 1h)", "combine predicates", nil, ""},
	{[]string{"ORDER", "BY", "DESC", "LIMIT", "OFFSET"},
		"... ORDER BY distance, n DESC LIMIT 20 OFFSET 40", "sort the rows by id, distance, score, words, time or a field, and return some of them", nil, ""},
	{[]string{"SHOW"}, "... SHOW id, distance, url, meta.lang, text", "the columns of the rows: of the result, of documents, or any field", nil, ""},
}

// Topics returns the constructs of the language with a line of help on each. docs/query.md is
// complete.
func Topics() []Topic {
	var all []Topic
	for _, d := range predicate.Definitions {
		t := Topic{Words: append([]string{d.Word}, d.Words...), Syntax: d.Syntax, Help: d.Help, Example: d.Example}
		if t.Example == "" {
			t.Example, _, _ = strings.Cut(d.Syntax, "  ")
		}
		for _, r := range d.Docs {
			columns := measured[d.Measure]
			if strings.HasSuffix(r.Syntax, "BY JACCARD") {
				columns = measured[predicate.Score]
			}
			t.Rows = append(t.Rows, TopicRow{r.Syntax, r.Meaning, columns})
		}
		all = append(all, t)
	}
	all = append(all, clauseTopics...)
	for _, d := range statementDefs[1:] {
		all = append(all, Topic{append([]string{d.word}, d.topic.Words...), d.topic.Syntax, d.topic.Help, d.docs, ""})
	}
	return all
}

// language parses statements. SHOW * writes names of fields by it, so statementDefs refers to it.
var language *syntax.Language

func init() {
	var v syntax.Vocabulary
	for _, t := range Topics() {
		v.Keywords = append(v.Keywords, t.Words...)
	}
	for _, d := range predicate.Definitions {
		if d.Bind != nil {
			v.Predicates = append(v.Predicates, d.Word)
		}
	}
	for _, d := range statementDefs[1:] {
		v.Statements = append(v.Statements, syntax.StatementWord{Word: d.word, Expects: d.expects})
	}
	language = syntax.New(v)
}

// Keywords returns every word of the language, in capitals, sorted: what Tab completes.
func Keywords() []string { return language.Keywords() }

// OneLine returns statements as they could be typed on one line: without comments, with one space
// for every run of blanks. It returns false for a wrong token or a string over several lines.
func OneLine(text string) (string, bool) { return language.OneLine(text) }

// Piece is a statement cut from a longer text: its Text, without the semicolon, and the Line of the
// whole text on which that starts, from 1.
type Piece = syntax.Piece

// Splitter cuts text that arrives in chunks into statements, at the semicolons that end them: not
// those within strings, comments and JSON. It looks at every byte once.
//
//	var s query.Splitter
//	s.Write(text)
//	for p, ok := s.Next(); ok; p, ok = s.Next() { ... }
//
// Rest returns the last statement, which no semicolon ended, and Pending reports whether there is
// one. Reset drops the text that Next has not returned.
type Splitter = syntax.Splitter
