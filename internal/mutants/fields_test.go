package mutants

// fieldMutants are mistakes in tests of fields and in SHOW.
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
		"show/rows of other documents", "engine", "EachPlace",
		swap(`fn(p.i, of)`, `fn(0, of)`),
		"query", "^TestShow$",
	},
}
