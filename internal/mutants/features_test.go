package mutants

// featureMutants are mistakes in selecting the features of documents, and in recording the
// selection.
var featureMutants = []mutant{
	{
		name: "features/fields by rising weight", in: "internal/features", decl: "NewWalker",
		edit:  swap(`cmp.Compare(s.Fields[j].Weight, s.Fields[i].Weight)`, `cmp.Compare(s.Fields[i].Weight, s.Fields[j].Weight)`),
		tests: "internal/features", run: "^Test(KnownAnswers|WeightsWithinTheory)$",
	},
	{
		name: "features/votes without weights", in: "internal/features", decl: "Fingerprinter.Features",
		edit:  swap(`AddWeighted(s.fresh, weight)`, `AddWeighted(s.fresh, 1)`),
		tests: "internal/features", run: "^Test(KnownAnswers|WeightsWithinTheory)$",
	},
	{
		name: "features/copies that are equal", in: "internal/features", decl: "Replica",
		edit:  swap(`uint64(i)*golden`, `uint64(i)*0`),
		tests: "internal/features", run: "^TestWalker$",
	},
	{
		name: "features/texts that are too short", in: "internal/features", decl: "Walker.walkFields",
		edit:  swap(`words >= int64(w.spec.MinWords)`, `words >= 0`),
		tests: "internal/features", run: "^TestWalker$",
	},
	{
		name: "features/unknown parts ignored", in: "internal/features", decl: "Spec.parseLine",
		edit:  swap(`fmt.Errorf("%q: %w", key, ErrUnknown)`, `nil`),
		tests: "internal/features", run: "^TestSpecRefuses$",
	},
	{
		name: "features/tables of others are taken", in: "internal/table", decl: "Params.Compatible",
		edit:  swap(`q.Layout = p.Layout`, `q.Layout, q.Features = p.Layout, p.Features`),
		tests: "internal/table", run: "^TestFeatureParams$",
	},
	{
		name: "features/not in the record of the database", in: "internal/table", decl: "Params.AppendDatabase",
		edit:  swap(`append(b, p.Description()...)`, `b`),
		tests: "internal/table", run: "^TestFeatureParams$",
	},
	{
		name: "rows/a second result in a Parquet file", in: "repl", decl: "session.print",
		edit:  swap(`s.file = true`, `s.file = false`),
		tests: "cmd/simdb", run: "^TestScripts$",
	},
	{
		name: "rows/null taken for a value", in: "cmd/simdb/internal/parquet", decl: "file.write",
		edit:  never(`value.IsNull()`),
		tests: "cmd/simdb/internal/parquet", run: "^TestParquetRows$",
	},
	{
		name: "parquet/row groups of a copy in the order in which they are done", in: "records", decl: "copier.writeGroup",
		edit:  swap(`g := c.running[0]`, `c.running[0], c.running[len(c.running)-1] = c.running[len(c.running)-1], c.running[0]; g := c.running[0]`),
		tests: "records/parquet", run: "^TestCopy$",
	},
	{
		name: "dedup/records that could not be used are copied", in: "dedup", decl: "job.need",
		edit:  never(`d.flawed[i]`),
		tests: "dedup", run: "^TestNeed$",
	},
	{
		name: "dedup/columns of another document", in: "dedup", decl: "audit.values",
		edit:  swap(`int64(a.out.distance[n])`, `int64(a.out.distance[keeper])`),
		tests: "cmd/simdb", run: "^TestExtendedCopies$",
	},
	{
		name: "parquet/columns row by row as if column by column", in: "records", decl: "outGroup.further",
		edit:  swap(`row += len(columns)`, `row++`),
		tests: "cmd/simdb", run: "^TestExtendedCopies$",
	},
	{
		name: "match/records of several formats in one output", in: "records/inputs", decl: "OneOutput",
		edit:  never(`a.Format != b.Format || a.Shape != b.Shape`),
		tests: "cmd/simdb", run: "^TestMatchFiles$",
	},
}
