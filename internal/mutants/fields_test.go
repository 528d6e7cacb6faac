package mutants

// fieldMutants are mistakes in tests of fields, in SHOW, and in searches for similar texts and
// for passages.
var fieldMutants = []mutant{
	{
		name: "fields/deleted documents found by a scan", in: "engine", decl: "eachWhere",
		edit:  never(`p.Dead.DeadAt(doc, v.Seq)`),
		tests: "engine", run: "^TestEntriesByContent$",
	},
	{
		name: "fields/young documents of a few found dead", in: "engine", decl: "eachDocOf",
		edit:  never(`p.Dead.DeadAt(doc, v.Seq)`),
		tests: "engine", run: "^TestEntriesByContent$",
	},
	{
		name: "fields/documents that a match leaves out", in: "engine", decl: "Filter.matches",
		edit:  always(`f.Match == nil`),
		tests: "engine", run: "^TestEntriesByContent$",
	},
	{
		name: "fields/no tries", in: "engine", decl: "stream.holds",
		edit:  always(`s.tries == 0`),
		tests: "engine", run: "^TestEntriesByContentStops$",
	},
	{
		name: "fields/the first of equal keys", in: "internal/jsonfield", decl: "member",
		edit:  always(`equalString(quoted, key)`),
		tests: "internal/jsonfield", run: "^TestOf$",
	},
	{
		name: "fields/null is a value of a field", in: "internal/jsonfield", decl: "Survey.walk",
		edit:  never(`v[0] == 'n'`),
		tests: "query", run: "^TestFields$",
	},
	{
		name: "show/rows without room for their documents", in: "query", decl: "showing.give",
		edit:  swap(`rest = rest[len(some):]`, `rest = nil`),
		tests: "query", run: "^TestShow$",
	},
	{
		name: "fields/escapes in strings", in: "internal/jsonfield", decl: "skipString",
		edit:  always(`escape < 0`),
		tests: "internal/jsonfield", run: "^TestOf$",
	},
	{
		name: "fields/IS NULL holds for all", in: "query", decl: "field.holds",
		edit:  swap(`return !p.null && p.test(value)`, `return p.null || p.test(value)`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "fields/other filters of a scan left out", in: "query", decl: "scanOf",
		edit:  skip(`also.narrow`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "transactions/what a query found is deleted though it has been put", in: "query", decl: "transaction.deleteVersions",
		edit:  swap(`return own`, `return own && !own`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "transactions/statements see what others write", in: "query", decl: "Session.run",
		edit:  swap(`x.tx, x.scope.Snap = s.tx, s.tx.snap`, `x.tx = s.tx; x.scope.Snap, _ = db.Snapshot()`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "ranges/the last of two bounds alone", in: "query", decl: "scan.within",
		edit:  swap(`max(s.from, from)`, `from`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "ranges/the last ID of the page before again", in: "engine", decl: "Range.inner",
		edit:  swap(`r.After+"\x00"`, `r.After`),
		tests: "engine", run: "^TestEntriesWhere$",
	},
	{
		name: "fields/OR taken for AND", in: "query", decl: "fold",
		edit:  swap(`predicate.Join(content, or)`, `predicate.Join(content, false)`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "choice/what is left to test costs nothing", in: "query", decl: "run.testsAfter",
		edit:  swap(`return rows * each`, `return 0`),
		tests: "query", run: "^TestChoice$",
	},
	{
		name: "show/rows of other documents", in: "engine", decl: "eachOfTable",
		edit:  swap(`fn(places[at].i, `, `fn(0, `),
		tests: "query", run: "^TestShow$",
	},
	{
		name: "similar/an edit puts one pair in", in: "internal/textsim", decl: "EditFilter.Of",
		edit:  swap(`2*d - shorter`, `d - shorter`),
		tests: "internal/textsim", run: "^TestFilters$",
	},
	{
		name: "similar/longer texts need no insertions", in: "internal/textsim", decl: "EditFilter.Of",
		edit:  swap(`d - longer, d - shorter`, `d - shorter, d - longer`),
		tests: "internal/textsim", run: "^TestFilters$",
	},
	{
		name: "similar/longest texts left out", in: "engine", decl: "TextIndex.Edit",
		edit:  swap(`<= f.Most`, `< f.Most`),
		tests: "engine", run: "^TestSimilar$",
	},
	{
		name: "similar/deleted documents", in: "engine", decl: "Similar.document",
		edit:  never(`err != nil || !alive`),
		tests: "engine", run: "^TestSimilar$",
	},
	{
		name: "similar/memtables left out", in: "engine", decl: "Similar.Each",
		edit:  swap(`range q.v.Mems`, `range q.v.Mems[:0]`),
		tests: "engine", run: "^TestPutNovelSimilar$",
	},
	{
		name: "similar/memory of dropped tables not given back", in: "engine", decl: "Table.Drop",
		edit:  skip("Short.GiveBack"),
		tests: "engine", run: "^TestSignaturesGiveBack$",
	},
	{
		name: "similar/one word more must be common", in: "internal/textsim", decl: "CosineFilter.May",
		edit:  swap(`> f.missing`, `>= f.missing`),
		tests: "internal/textsim", run: "^TestFilters$",
	},
	{
		name: "fields/results of a batch in the order of texts", in: "query", decl: "tester.flush",
		edit:  swap(`batch[i].result, batch[i].ok`, `batch[0].result, batch[i].ok`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
	{
		name: "similar/texts compared with the one before", in: "internal/setjoin", decl: "TextJudge.Compare",
		edit:  never(`j.one != a`),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "similar/allowed pairs in one star cluster", in: "internal/collection", decl: "Clustering.accept",
		edit:  swap(`c.Apart == nil`, `c.Groups == nil`),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "similar/texts of the greatest length not found", in: "internal/setjoin", decl: "finder.byLength",
		edit:  swap(`size > filter.Most`, `size >= filter.Most`),
		tests: "internal/setjoin", run: "^TestEditsAgainstBruteForce$",
	},
	{
		name: "passages/a state for stretches of other places", in: "internal/passage", decl: "automaton.append",
		edit:  never(`a.words[to] != a.words[last]+1`),
		tests: "internal/passage", run: "^TestRuns$",
	},
	{
		name: "passages/runs that a longer one has", in: "internal/passage", decl: "Finder.Runs",
		edit:  always(`n != words+1`),
		tests: "internal/passage", run: "^TestRuns$",
	},
	{
		name: "passages/runs from one field to the next", in: "internal/passage", decl: "Finder.Runs",
		edit:  swap(`word == nil || !known`, `word != nil && !known`),
		tests: "internal/passage", run: "^TestRuns$",
	},
	{
		name: "passages/characters cut off from what they combine with", in: "internal/features", decl: "normalizer.inFormByStretch",
		edit:  swap(`isInvisible(r)`, `r < 0`),
		tests: "internal/features", run: "^TestCutterWords$",
	},
	{
		name: "passages/what a mask matches has the length of its word", in: "internal/features", decl: "trace.origin",
		edit:  never(`!step[last].same`),
		tests: "internal/features", run: "^TestCutterPlaces$",
	},
	{
		name: "passages/a document is its own match", in: "engine", decl: "Passages.All",
		edit:  swap(`p.self`, `""`),
		tests: "engine", run: "^TestPassages$",
	},
	{
		name: "passages/a row for each predicate", in: "query", decl: "tester.judge",
		edit:  swap(`comparePassages(p, q) == 0`, `false`),
		tests: "fuzz", run: "^FuzzStatement$",
	},
}
