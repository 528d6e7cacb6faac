package mutants

// featureMutants are mistakes in what of a document is compared, and in how that is recorded.
var featureMutants = []mutant{
	{
		"features/fields by rising weight", "internal/features", "NewWalker",
		swap(`cmp.Compare(s.Fields[j].Weight, s.Fields[i].Weight)`, `cmp.Compare(s.Fields[i].Weight, s.Fields[j].Weight)`),
		"internal/fingerprint", "^Test(KnownAnswers|WeightsWithinTheory)$",
	},
	{
		"features/votes without weights", "internal/fingerprint", "State.Features",
		swap(`AddWeighted(s.fresh, weight)`, `AddWeighted(s.fresh, 1)`),
		"internal/fingerprint", "^Test(KnownAnswers|WeightsWithinTheory)$",
	},
	{
		"features/copies that are equal", "internal/features", "Replica",
		swap(`uint64(i)*golden`, `uint64(i)*0`),
		"internal/features", "^TestWalker$",
	},
	{
		"features/texts that are too short", "internal/features", "Walker.walkFields",
		swap(`words >= int64(w.spec.MinWords)`, `words >= 0`),
		"internal/features", "^TestWalker$",
	},
	{
		"features/unknown parts ignored", "internal/features", "Spec.parseLine",
		swap(`fmt.Errorf("%q: %w", key, ErrUnknown)`, `nil`),
		"internal/features", "^TestSpecRefuses$",
	},
	{
		"features/tables of others are taken", "sstable", "Params.Compatible",
		swap(`q.Layout = p.Layout`, `q.Layout, q.Features = p.Layout, p.Features`),
		"sstable", "^TestFeatureParams$",
	},
	{
		"features/not in the record of the database", "sstable", "Params.AppendDatabase",
		swap(`append(b, p.Features...)`, `b`),
		"sstable", "^TestFeatureParams$",
	},
	{
		"rows/a second result in a Parquet file", "repl", "session.print",
		swap(`s.file = true`, `s.file = false`),
		"cmd/simdb", "^TestScripts$",
	},
	{
		"rows/null taken for a value", "repl/output/internal/parquet", "Writer.write",
		never(`value.IsNull()`),
		"repl/output/internal/parquet", "^TestRows$",
	},
	{
		"parquet/row groups of a copy in the order in which they are done", "cmd/simdb", "copier.writeGroup",
		swap(`g := c.running[0]`, `c.running[0], c.running[len(c.running)-1] = c.running[len(c.running)-1], c.running[0]; g := c.running[0]`),
		"cmd/simdb", "^TestCopy$",
	},
	{
		"dedup/records that could not be used are copied", "cmd/simdb", "job.need",
		never(`d.flawed[i]`),
		"cmd/simdb", "^TestParquetWithFlaws$",
	},
	{
		"dedup/columns of another document", "cmd/simdb", "audit.values",
		swap(`int64(a.out.distance[n])`, `int64(a.out.distance[keeper])`),
		"cmd/simdb", "^TestExtendedCopies$",
	},
	{
		"parquet/columns row by row as if column by column", "cmd/simdb", "outGroup.further",
		swap(`row += len(columns)`, `row++`),
		"cmd/simdb", "^TestExtendedCopies$",
	},
	{
		"match/records of several formats in one output", "cmd/simdb", "alike",
		never(`a.Format != b.Format || a.Shape != b.Shape`),
		"cmd/simdb", "^TestMatchFiles$",
	},
}
