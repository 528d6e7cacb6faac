package mutants

// fieldMutants are mistakes in tests of fields, in SHOW, and in searches for similar texts.
var fieldMutants = []mutant{
	{
		"fields/deleted documents found by a scan", "engine", "eachWhere",
		never(`p.Dead.DeadAt(doc, v.Seq)`),
		"engine", "^TestEntriesByContent$",
	},
	{
		"fields/young documents of a few found dead", "engine", "eachDocOf",
		never(`p.Dead.DeadAt(doc, v.Seq)`),
		"engine", "^TestEntriesByContent$",
	},
	{
		"fields/documents that a match leaves out", "engine", "Filter.matches",
		always(`f.Match == nil`),
		"engine", "^TestEntriesByContent$",
	},
	{
		"fields/no tries", "engine", "stream.holds",
		always(`s.tries == 0`),
		"engine", "^TestEntriesByContentStops$",
	},
	{
		"fields/the first of equal keys", "query", "member",
		always(`same && start < end`),
		"query", "^TestField$",
	},
	{
		"fields/escapes in strings", "query", "skipString",
		always(`escape < 0`),
		"query", "^TestField$",
	},
	{
		"fields/IS NULL holds for all", "query", "field.holds",
		swap(`return !p.null && p.test(value)`, `return p.null || p.test(value)`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"fields/other filters of a scan left out", "query", "scanOf",
		skip(`also.narrow`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"fields/the first of two prefixes alone", "query", "scan.startWith",
		swap(`strings.HasPrefix(s.prefix, prefix)`, `true`),
		"query", "^TestGolden$",
	},
	{
		"fields/OR taken for AND", "query", "fold",
		swap(`predicate.Join(content, or)`, `predicate.Join(content, false)`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"show/rows of other documents", "engine", "eachOfTable",
		swap(`fn(places[at].i, &d)`, `fn(0, &d)`),
		"query", "^TestShow$",
	},
	{
		"similar/an edit puts one pair in", "internal/textsim", "EditFilter.Of",
		swap(`2*d - shorter`, `d - shorter`),
		"internal/textsim", "^TestFilters$",
	},
	{
		"similar/longer texts need no insertions", "internal/textsim", "EditFilter.Of",
		swap(`d - longer, d - shorter`, `d - shorter, d - longer`),
		"internal/textsim", "^TestFilters$",
	},
	{
		"similar/longest texts left out", "engine", "Index.Edit",
		swap(`<= f.Most`, `< f.Most`),
		"engine", "^TestSimilar$",
	},
	{
		"similar/deleted documents", "engine", "Similar.document",
		never(`err != nil || !alive`),
		"engine", "^TestSimilar$",
	},
	{
		"similar/memtables left out", "engine", "Similar.Each",
		swap(`range q.v.Mems`, `range q.v.Mems[:0]`),
		"engine", "^TestPutNovelSimilar$",
	},
	{
		"similar/memory of dropped tables not given back", "engine", "Table.Drop",
		skip("GiveBack"),
		"engine", "^TestSignaturesGiveBack$",
	},
	{
		"similar/one word more must be common", "internal/textsim", "CosineFilter.May",
		swap(`> f.missing`, `>= f.missing`),
		"internal/textsim", "^TestFilters$",
	},
	{
		"fields/results of a batch in the order of texts", "query", "run.judgeTexts",
		swap(`batch[i].result`, `batch[0].result`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"similar/texts compared with the one before", "engine", "textJudge.compare",
		never(`t.one != a`),
		"engine", "^TestSimilarJoin$",
	},
	{
		"similar/allowed pairs in one star cluster", "engine", "clustering.textStars",
		never(`len(c.lone) > 0`),
		"engine", "^TestSimilarJoin$",
	},
	{
		"similar/texts of the greatest length not found", "internal/setjoin", "finder.byLength",
		swap(`size > filter.Most`, `size >= filter.Most`),
		"internal/setjoin", "^TestEditsAgainstBruteForce$",
	},
}
