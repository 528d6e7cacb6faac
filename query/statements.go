package query

import (
	"github.com/simdb/simdb/internal/front"
	"github.com/simdb/simdb/query/internal/syntax"
)

// A statementDef is a row of the table of statements.
type statementDef struct {
	word     string      // first word; "" for a query, which starts with a predicate
	expects  string      // what must follow the word, for error messages
	writes   bool        // it may change the database; within a transaction, COMMIT does
	searches bool        // it searches for matches: an empty result means "no"
	topic    front.Topic // for .help; Words has all keywords except word
	docs     []docsRow
	// run executes the statement, or sets up rows that execute it while they are read.
	run func(x *run, s *syntax.Statement) error
}

// A docsRow is a row of the table of statements in docs/query.md.
type docsRow struct{ Syntax, Meaning, Last string }

// statementDefs is the table of statements. The query comes first.
//
// To add a statement, add a type and a field of Statement to internal/syntax/grammar.go, a row
// here, and a method of run that executes it; then add the row that TestDocumentation prints to
// docs/query.md. TestStatementTable, TestWritesColumn and TestKeywords fail for each column of the
// row that is missing or wrong.
var statementDefs = []statementDef{
	{
		searches: true,
		docs:     []docsRow{{"", "", "see above"}, {"LIMIT 5`, `SHOW *", "the same for all documents", "see above"}},
		run:      func(x *run, s *syntax.Statement) error { return x.selectAll(s.Select) },
	},
	{
		word:  "COUNT",
		topic: front.Topic{Syntax: "COUNT  COUNT NEAR('a', 3)  COUNT BY lang", Help: "how many documents, rows, pairs or clusters; of each value of a field"},
		docs: []docsRow{
			{"COUNT` *query*", "counts its rows", "`count`"},
			{"COUNT", "counts all documents", "`count`"},
			{"COUNT PAIRS ...`, `COUNT CLUSTERS ...", "counts pairs, or clusters, not their members", "`count`"},
			{"COUNT BY lang`, `COUNT SINCE 2d BY lang", "counts the documents, or those that a query finds, with each value of a field, the largest count first, then in the order of values; accepts LIMIT and OFFSET", "`value`, `count`"},
		},
		run: func(x *run, s *syntax.Statement) error { return x.count(s.Count) },
	},
	{
		word: "GET", expects: syntax.ExpectID,
		topic: front.Topic{Syntax: "GET 'a'", Help: "a document"},
		docs:  []docsRow{{"GET 'a'", "shows a document; accepts SHOW", "`id`, `text`, `fields`, `fingerprint`, `time`, and `fingerprints` and `expires` of one that has them"}},
		run:   func(x *run, s *syntax.Statement) error { return x.get(s.Get) },
	},
	{
		word: "PUT", expects: `a document such as {"id": "a", "text": "..."}`, writes: true,
		topic: front.Topic{Words: []string{"UNLESS"}, Syntax: `PUT {"id": "a", "text": "..."} [UNLESS JACCARD 0.8]`, Help: "store a document, or only if no other matches it"},
		docs: []docsRow{
			{"PUT {...}", "stores a document, replacing the one with the same id", "`stored`, or `expired` if it is older than the time to live, or its `expires` has passed: then nothing finds it"},
			{"PUT {...} UNLESS NEAR 3", "the same, unless another document matches, or this one is stored with the same text (a retry: it is its own match); accepts every criterion of PAIRS, and rules of pairs, see below", "`stored`, `expired` as for `PUT`, or the columns of the match"},
		},
		run: func(x *run, s *syntax.Statement) error { return x.put(s.Put) },
	},
	{
		word: "DELETE", expects: "a document id in quotes, or WHERE", writes: true,
		topic: front.Topic{Words: []string{"WHERE"}, Syntax: "DELETE 'a'  DELETE WHERE ID LIKE 'x%'", Help: "delete documents"},
		docs: []docsRow{
			{"DELETE 'a'", "deletes a document", "`deleted`"},
			{"DELETE WHERE` *query*", "deletes all documents that the query finds, in one step", "`deleted 3 documents`"},
		},
		run: func(x *run, s *syntax.Statement) error { return x.delete(s.Delete) },
	},
	{
		word:  "BEGIN",
		topic: front.Topic{Syntax: "BEGIN", Help: "begin a transaction: COMMIT carries out its PUTs and DELETEs at once"},
		docs:  []docsRow{{"BEGIN", "begins a transaction: see below", "`begun`"}},
		run:   func(x *run, _ *syntax.Statement) error { return x.begin() },
	},
	{
		word: "COMMIT", writes: true,
		topic: front.Topic{Syntax: "COMMIT", Help: "carry out the writes since BEGIN, unless what was read has changed"},
		docs:  []docsRow{{"COMMIT", "carries out every PUT and DELETE since BEGIN, in one step, unless others have changed what was read since", "`committed: stored 2 documents, deleted 1`"}},
		run:   func(x *run, _ *syntax.Statement) error { return x.commit() },
	},
	{
		word:  "ROLLBACK",
		topic: front.Topic{Syntax: "ROLLBACK", Help: "discard the writes since BEGIN"},
		docs:  []docsRow{{"ROLLBACK", "discards them", "`rolled back 3 writes`"}},
		run:   func(x *run, _ *syntax.Statement) error { return x.rollback() },
	},
	{
		word: "PAIRS", expects: syntax.ExpectCriterion, searches: true,
		topic: front.Topic{Syntax: "PAIRS NEAR 3  PAIRS JACCARD 0.8 [ESTIMATE]", Help: "all pairs of documents that match, by a criterion or by a rule"},
		docs: []docsRow{{"PAIRS NEAR k`, `PAIRS JACCARD t [ESTIMATE]`, `PAIRS LEVENSHTEIN t`, `COSINE`, `CONTAINS`, `WITHIN", "lists all pairs that match; accepts LIMIT, OFFSET and SHOW, which also has the columns `lacks` and `adds`: the words that only a has, and that only b has",
			"`a`, `b`, `distance` or `score`, `error`, `exact`"},
			{"PAIRS JACCARD >= 0.8 AND a.lang != b.lang", "lists the pairs for which a rule holds: see below", "the same"}},
		run: func(x *run, s *syntax.Statement) error { return x.pairs(s.Pairs) },
	},
	{
		word: "CLUSTERS", expects: syntax.ExpectCriterion, searches: true,
		topic: front.Topic{Syntax: "CLUSTERS JACCARD 0.8", Help: "groups of documents that match, with the one to keep"},
		docs: []docsRow{{"CLUSTERS NEAR k`, `CLUSTERS JACCARD t [ESTIMATE]`, and so on",
			"lists groups of documents that match, by the criteria and rules of PAIRS; accepts LIMIT, OFFSET and SHOW", "`cluster`, `id`, `keep`, `distance` or `score`, `error`, `exact`"}},
		run: func(x *run, s *syntax.Statement) error { return x.clusters(s.Clusters) },
	},
	{
		word: "CLUSTER", expects: "OF", searches: true,
		topic: front.Topic{Syntax: "CLUSTER OF 'a' [JACCARD 0.8]", Help: "the group that a document is in"},
		docs: []docsRow{{"CLUSTER OF 'a'", "lists the group that a document is in, by JACCARD 0.8 or by the criterion or rule that follows; accepts the clauses of CLUSTERS",
			"`cluster`, `id`, `keep`, `distance` or `score`, `error`, `exact`"}},
		run: func(x *run, s *syntax.Statement) error { return x.cluster(s.Cluster) },
	},
	{
		word: "WHY", expects: syntax.ExpectTwoIDs,
		topic: front.Topic{Syntax: "WHY 'a' 'b'", Help: "how two documents compare"},
		docs:  []docsRow{{"WHY 'a' 'b'", "compares two documents by every measure, and shows the longest passages in common and the first words that differ: see below", "`name`, `value`"}},
		run:   func(x *run, s *syntax.Statement) error { return x.why(s.Why) },
	},
	{
		word: "SEEN", expects: "a document id or TEXT '...' in parentheses",
		topic: front.Topic{Syntax: "SEEN('a')  SEEN(TEXT '...')", Help: "how much of a text the documents have, and what none has"},
		docs:  []docsRow{{"SEEN(what)", "shows which share of the shingles of *what* is in any document, and each run of words that is in none: see below", "`share`, `word`, `words`, `text`"}},
		run:   func(x *run, s *syntax.Statement) error { return x.seen(s.Seen) },
	},
	{
		word: "EXPLAIN", expects: "a statement such as NEAR('a', 3)",
		topic: front.Topic{Words: []string{"ANALYZE"}, Syntax: "EXPLAIN [ANALYZE] NEAR('a', 3)", Help: "the plan of a query, and its cost"},
		docs: []docsRow{
			{"EXPLAIN` *query*", "shows its plan", "`plan`"},
			{"EXPLAIN PAIRS ...`, `EXPLAIN CLUSTERS ...", "shows what lists the pairs of each alternative of a rule, how many that are, and what is tested on them; or the join that decides alone", "`plan`"},
			{"EXPLAIN ANALYZE` *query*", "executes it, and shows the plan and the work done", "`plan`"},
		},
		run: func(x *run, s *syntax.Statement) error { return x.explain(s) },
	},
}

// statementOf returns the row of the statement with a first word, "" for a query.
func statementOf(word string) *statementDef {
	for i := range statementDefs {
		if d := &statementDefs[i]; d.word == word {
			return d
		}
	}
	panic("a statement that is not in the table: " + word)
}
