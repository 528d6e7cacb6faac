package mutants

// featureMutants are mistakes in selecting the features of documents, and in recording the
// selection.
var featureMutants = []mutant{
	{
		name: "features/tables of others are taken", in: "internal/table", decl: "Params.Compatible",
		edit:  swap(`q.Layout, q.Program = p.Layout, p.Program`, `q.Layout, q.Program, q.Features = p.Layout, p.Program, p.Features`),
		tests: "internal/table", run: "^TestFeatureParams$",
	},
	{
		name: "features/a text votes where documents have codes", in: "engine", decl: "Hasher.Sum",
		edit:  swap(`h.spec.Code == ""`, `true`),
		tests: "query", run: "^TestWordsAndCodes$",
	},
	{
		name: "features/opened without the function", in: "engine", decl: "Store.recover",
		edit:  swap(`db.Params.NeedCompute()`, `error(nil)`),
		tests: "engine", run: "^TestFunction$",
	},
	{
		name: "features/not in the record of the database", in: "internal/table", decl: "Params.AppendDatabase",
		edit:  swap(`append(b, p.Description()...)`, `b`),
		tests: "internal/table", run: "^TestFeatureParams$",
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
		name: "parquet/columns row by row as if column by column", in: "records", decl: "outGroup.further",
		edit:  swap(`row += len(columns)`, `row++`),
		tests: "cmd/simdb", run: "^TestExtendedCopies$",
	},
}
