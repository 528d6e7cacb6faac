package query

import "github.com/alecthomas/participle/v2/lexer"

// A statementDef is a row of the table of statements.
type statementDef struct {
	word string // that it starts with; "" for a query, which starts with a predicate
	// shape is the kind of the word's token: tokBare for a word that stands alone, tokTwoIDs for
	// one that two ids follow, tokKeyword where the grammar has a rule for the statement.
	shape   lexer.TokenType
	expects string // what follows the word, for error messages
	writes  bool   // it may change the database
	topic   Topic  // for .help; Words are those besides word
	docs    []docsRow
	// run does what the statement says, or sets up the rows that do it as they are read.
	run func(x *run, s *statement) error
}

// statementDefs is the table of statements. A query comes first.
var statementDefs = []statementDef{
	{
		docs: []docsRow{{"", "", "see above"}},
		run:  func(x *run, s *statement) error { return x.selectAll(s.Select) },
	},
	{
		word: "COUNT", shape: tokKeyword,
		topic: Topic{nil, "COUNT  COUNT NEAR('a', 3)  COUNT CLUSTERS NEAR 3", "how many documents, rows, pairs or clusters"},
		docs: []docsRow{
			{"COUNT` *query*", "counts its rows", "`count`"},
			{"COUNT", "counts all documents", "`count`"},
			{"COUNT PAIRS ...`, `COUNT CLUSTERS ...", "counts pairs; clusters, not their members", "`count`"},
		},
		run: func(x *run, s *statement) error { return x.count(s.Count) },
	},
	{
		word: "GET", shape: tokKeyword, expects: expectID,
		topic: Topic{nil, "GET 'a'", "a document"},
		docs:  []docsRow{{"GET 'a'", "shows a document", "`id`, `text`, `fields`, `fingerprint`, `time`"}},
		run:   func(x *run, s *statement) error { return x.get(s.Get) },
	},
	{
		word: "PUT", shape: tokKeyword, expects: `a document such as {"id": "a", "text": "..."}`, writes: true,
		topic: Topic{[]string{"UNLESS"}, `PUT {"id": "a", "text": "..."} [UNLESS JACCARD 0.8]`, "store a document, or only if nothing is like it"},
		docs: []docsRow{
			{"PUT {...}", "stores a document, replacing that of the same id", "`stored`"},
			{"PUT {...} UNLESS NEAR 3", "the same, unless another document matches; `UNLESS JACCARD 0.8 [VERIFY]` too", "`stored`, or the columns of the match"},
		},
		run: func(x *run, s *statement) error { return x.put(s.Put) },
	},
	{
		word: "DELETE", shape: tokKeyword, expects: "a document id in quotes, or WHERE", writes: true,
		topic: Topic{[]string{"WHERE"}, "DELETE 'a'  DELETE WHERE ID LIKE 'x%'", "remove documents"},
		docs: []docsRow{
			{"DELETE 'a'", "removes a document", "`deleted`"},
			{"DELETE WHERE` *query*", "removes all that it finds, at once", "`deleted 3 documents`"},
		},
		run: func(x *run, s *statement) error { return x.delete(s.Delete) },
	},
	{
		word: "PAIRS", shape: tokKeyword, expects: expectCriterion,
		topic: Topic{nil, "PAIRS NEAR 3  PAIRS JACCARD 0.8 [VERIFY]", "all pairs of documents that match"},
		docs: []docsRow{{"PAIRS NEAR k`, `PAIRS JACCARD t [VERIFY]", "all pairs that match; LIMIT and OFFSET",
			"`a`, `b`, `distance` or `score`, `error`, `exact`"}},
		run: func(x *run, s *statement) error { return x.pairs(s.Pairs) },
	},
	{
		word: "CLUSTERS", shape: tokKeyword, expects: expectCriterion,
		topic: Topic{[]string{"MODE", "STAR", "COMPONENTS"}, "CLUSTERS JACCARD 0.8 [MODE star|components]",
			"groups of documents that match, with the one to keep"},
		docs: []docsRow{{"CLUSTERS NEAR k`, `CLUSTERS JACCARD t [VERIFY]",
			"groups that match; `MODE star` or `MODE components`, LIMIT and OFFSET", "`cluster`, `id`, `keep`, `distance` or `score`, ..."}},
		run: func(x *run, s *statement) error { return x.clusters(s.Clusters) },
	},
	{
		word: "WHY", shape: tokTwoIDs, expects: expectTwoIDs,
		topic: Topic{nil, "WHY 'a' 'b'", "how two documents compare"},
		docs:  []docsRow{{"WHY 'a' 'b'", "compares two documents by every measure, and shows the first words that differ: see below", "`name`, `value`"}},
		run:   func(x *run, s *statement) error { return x.why(s.Two) },
	},
	{
		word: "ALLOW", shape: tokTwoIDs, expects: expectTwoIDs, writes: true,
		topic: Topic{nil, "ALLOW 'a' 'b'", "note that two documents are not duplicates"},
		docs:  []docsRow{{"ALLOW 'a' 'b'", "notes that two documents are not duplicates: see below", "`allowed`"}},
		run:   func(x *run, s *statement) error { return x.allow(s.Two) },
	},
	{
		word: "UNALLOW", shape: tokTwoIDs, expects: expectTwoIDs, writes: true,
		topic: Topic{nil, "UNALLOW 'a' 'b'", "take back ALLOW"},
		docs:  []docsRow{{"UNALLOW 'a' 'b'", "takes back ALLOW", "`unallowed`"}},
		run:   func(x *run, s *statement) error { return x.unallow(s.Two) },
	},
	{
		word: "ALLOWED", shape: tokBare,
		topic: Topic{nil, "ALLOWED", "pairs that ALLOW has noted"},
		docs:  []docsRow{{"ALLOWED", "lists the pairs that ALLOW has noted", "`a`, `b`"}},
		run:   func(x *run, _ *statement) error { x.allowed(); return nil },
	},
	{
		word: "PRUNE", shape: tokKeyword, expects: "OLDER", writes: true,
		topic: Topic{[]string{"OLDER"}, "PRUNE OLDER 30d", "remove documents stored before then"},
		docs:  []docsRow{{"PRUNE OLDER 30d", "removes what was stored before; a date will do as well", "`pruned 3 documents`"}},
		run:   func(x *run, s *statement) error { return x.prune(s.Prune) },
	},
	{
		word: "STATS", shape: tokBare,
		topic: Topic{nil, "STATS", "what is in the database"},
		docs:  []docsRow{{"STATS", "what is in the database", "`name`, `value`"}},
		run:   func(x *run, _ *statement) error { return x.stats() },
	},
	{
		word: "CHECK", shape: tokBare,
		topic: Topic{nil, "CHECK", "verify all checksums and cross-references"},
		docs:  []docsRow{{"CHECK", "verifies all checksums and cross-references", "`ok: ...`, or `file`, `section`, `offset`, `problem`"}},
		run:   func(x *run, _ *statement) error { return x.check() },
	},
	{
		word: "FLUSH", shape: tokBare, writes: true,
		topic: Topic{nil, "FLUSH", "write out the memtable"},
		docs:  []docsRow{{"FLUSH", "writes out the memtable", "`flushed`"}},
		run:   func(x *run, _ *statement) error { return x.flush() },
	},
	{
		word: "COMPACT", shape: tokBare, writes: true,
		topic: Topic{nil, "COMPACT", "merge the tables"},
		docs:  []docsRow{{"COMPACT", "merges the tables", "`compacted`"}},
		run:   func(x *run, _ *statement) error { return x.compact() },
	},
	{
		word: "EXPLAIN", shape: tokKeyword, expects: "a statement",
		topic: Topic{[]string{"ANALYZE"}, "EXPLAIN [ANALYZE] NEAR('a', 3)", "how a query is carried out, and what that takes"},
		docs: []docsRow{
			{"EXPLAIN` *query*", "shows how it would be carried out", "`plan`"},
			{"EXPLAIN ANALYZE` *query*", "carries it out, and adds what it took", "`plan`"},
		},
		run: func(x *run, s *statement) error { return x.explain(s) },
	},
}

// Writes reports whether a statement may change the database. A text that is no statement does not.
func Writes(text string) bool {
	p, err := parseCached(text)
	return err == nil && p.def.writes
}
