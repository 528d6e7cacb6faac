package query

import (
	"strings"

	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query/internal/predicate"
	"github.com/simdb/simdb/query/internal/syntax"
)

// Three tables define the words of the language: predicate.Definitions, statementDefs and
// clauseTopics. The lexer, grammar, binder, error messages, Tab completion and .help read them, and
// a test compares docs/query.md with them. So a predicate that is written as a call, or a statement
// without a grammar of its own, needs only one row.

// measured lists the columns that a predicate adds, indexed by its measure.
var measured = [...]string{
	predicate.NoMeasure: "`id`", predicate.Places: "`id`, `words`, `at`, `query_at`", predicate.Distance: "`id`, `distance`",
	predicate.Score: "`id`, `score`, `error`, `exact`", predicate.ExactScore: "`id`, `score`, `error`, `exact`",
}

// clauseTopics are the words that start neither a statement nor a predicate.
var clauseTopics = []front.Topic{
	{Words: []string{"AND", "OR", "NOT"}, Syntax: "NEAR('a', 6) AND NOT (ID LIKE 'x%' OR SINCE 1h)", Help: "combine predicates"},
	{Words: []string{"ORDER", "BY", "DESC", "LIMIT", "OFFSET"}, Syntax: "... ORDER BY distance, n DESC LIMIT 20 OFFSET 40", Help: "sort the rows by id, distance, score, words, time or a field, and return a part"},
	{Words: []string{"SHOW"}, Syntax: "... SHOW id, distance, url, meta.lang, text", Help: "the columns of the rows: of the result, of documents, or any field"},
}

// topics returns the constructs of the language.
func topics() []front.Topic {
	var all []front.Topic
	for _, d := range predicate.Definitions {
		t := front.Topic{Words: append([]string{d.Word}, d.Words...), Syntax: d.Syntax, Help: d.Help, Example: d.Example}
		if t.Example == "" {
			t.Example, _, _ = strings.Cut(d.Syntax, "  ")
		}
		for _, r := range d.Docs {
			columns := measured[d.Measure]
			if strings.HasSuffix(r.Syntax, "BY JACCARD") {
				columns = measured[predicate.Score]
			}
			t.Rows = append(t.Rows, front.Row{Syntax: r.Syntax, Meaning: r.Meaning, Last: columns})
		}
		all = append(all, t)
	}
	all = append(all, clauseTopics...)
	for _, d := range statementDefs[1:] {
		t := d.topic
		t.Words = append([]string{d.word}, t.Words...)
		for _, r := range d.docs {
			t.Rows = append(t.Rows, front.Row(r))
		}
		all = append(all, t)
	}
	return all
}

// language parses statements. It is a variable because SHOW * writes field names with it, so that
// statementDefs refers to it.
var language *syntax.Language

func init() {
	var v syntax.Vocabulary
	front.Language.Topics = topics()
	for _, t := range front.Language.Topics {
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
	front.Language.Keywords, front.Language.OneLine = language.Keywords(), language.OneLine
	front.Language.Splitter = func() front.Splitter { return new(syntax.Splitter) }
	front.Language.Detail = detail
	front.Language.Writes = func(text string, transaction bool) bool {
		p, err := parse(text)
		return err == nil && p.def.writes && (!transaction || p.def.word == "COMMIT")
	}
	front.Language.Searches = func(text string) bool {
		p, err := parse(text)
		return err == nil && p.def.searches
	}
}
