package query

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// The words of the language are in three tables: predicateDefs, statementDefs and clauseTopics.
// Lexer, grammar, binding, did-you-mean, Tab completion and .help read them, and a test compares
// docs/query.md with them. So a statement without a grammar of its own, or a predicate that is
// written as a call, is one row.

// Topic is a construct of the language as .help shows it.
type Topic struct {
	Words  []string // that it is found by: its keywords, in capitals
	Syntax string
	Help   string
}

// docsRow is a row of a table in docs/query.md.
type docsRow struct{ syntax, meaning, last string }

// clauseTopics are the words that neither start a statement nor a predicate.
var clauseTopics = []Topic{
	{[]string{"AND", "OR", "NOT"}, "NEAR('a', 6) AND NOT (ID LIKE 'x%' OR SINCE 1h)", "combinations"},
	{[]string{"ORDER", "BY", "ASC", "DESC", "LIMIT", "OFFSET", "DISTANCE", "SCORE", "TIME"},
		"... ORDER BY distance, time DESC LIMIT 20 OFFSET 40", "by id, distance, score or time"},
}

// Topics returns the language at a glance; docs/query.md says all of it.
func Topics() []Topic {
	var all []Topic
	for _, d := range predicateDefs {
		if d.topic.Syntax != "" {
			all = append(all, Topic{append([]string{d.word}, d.topic.Words...), d.topic.Syntax, d.topic.Help})
		}
	}
	all = append(all, clauseTopics...)
	for _, d := range statementDefs {
		if d.word != "" {
			all = append(all, Topic{append([]string{d.word}, d.topic.Words...), d.topic.Syntax, d.topic.Help})
		}
	}
	return all
}

// keywords are the kinds of all words of the language; see grammarWords for what the kinds stand
// for.
var keywords = func() map[string]lexer.TokenType {
	m := make(map[string]lexer.TokenType)
	for _, t := range Topics() {
		for _, w := range t.Words {
			m[w] = tokKeyword
		}
	}
	for _, d := range predicateDefs {
		if d.bind != nil {
			m[d.word] = tokPredicate
		}
	}
	for _, d := range statementDefs {
		if d.word != "" {
			m[d.word] = d.shape
		}
	}
	return m
}()

// The words that start a predicate of the form of a call, and those that start a statement.
var (
	predicateWords = func() (words []string) {
		for _, d := range predicateDefs {
			if d.bind != nil {
				words = append(words, d.word)
			}
		}
		return words
	}()
	statementWords = func() (words []string) {
		for _, d := range statementDefs {
			if d.word != "" {
				words = append(words, d.word)
			}
		}
		return words
	}()
)

// Keywords returns every word of the language, in capitals, sorted: what Tab completes.
func Keywords() []string {
	words := make([]string, 0, len(keywords))
	for w := range keywords {
		words = append(words, w)
	}
	slices.Sort(words)
	return words
}

// isKeyword reports whether a token is a word of the language.
func isKeyword(t lexer.Token) bool {
	return t.Type == tokKeyword || t.Type == tokPredicate || t.Type == tokBare || t.Type == tokTwoIDs
}

// predicateOf returns the row of a predicate's word.
func predicateOf(word string) *predicateDef {
	for i := range predicateDefs {
		if d := &predicateDefs[i]; d.word == word {
			return d
		}
	}
	return nil
}

// statementOf returns the row of the statement that a token starts; a query if it is no statement's
// word.
func statementOf(first lexer.Token) *statementDef {
	query := &statementDefs[0]
	for i := range statementDefs {
		if d := &statementDefs[i]; isKeyword(first) && d.word == first.Value {
			return d
		}
	}
	return query
}
