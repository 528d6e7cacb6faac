package mutants

// fieldMutants are mistakes in tests of fields, in SHOW, and in searches for similar texts.
var fieldMutants = []mutant{
	{
		"fields/deleted documents found by a scan", "engine", "eachWhere",
		never(`!alive`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"fields/all documents of a table in order of ids", "engine", "stream.turn",
		never(`s.chosen != nil && !s.chosen.Contains(p.Doc)`),
		"query", "^TestAgainstBruteForce$",
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
		"fields/other terms of an AND taken for true", "query", "field.List",
		swap(`holds && also.(*field).holds(text, fields)`, `holds && also != nil`),
		"query", "^TestAgainstBruteForce$",
	},
	{
		"show/rows of other documents", "engine", "EachPlace",
		swap(`fn(p.i, of)`, `fn(0, of)`),
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
		"similar/pairs of one length twice", "engine", "textWorker.pairsOf",
		swap(`b <= a`, `b == a`),
		"engine", "^TestSimilarJoin$",
	},
	{
		"similar/allowed pairs in one star cluster", "engine", "clustering.bestKeeper",
		never(`c.apart(f, k)`),
		"engine", "^TestSimilarJoin$",
	},
}
