package mutants

// durableMutants are mistakes in what is given up, taken in or told after a failure.
var durableMutants = []mutant{
	{
		"write/taken after the catalog has failed", "engine/db.go",
		"if err := db.failed.Load(); err != nil {\n\t\treturn fmt", "if err := db.failed.Load(); false {\n\t\treturn fmt",
		"engine", "^TestFailedCatalogPoisons$",
	},
	{
		"compaction/merged tables never removed", "engine/compact.go",
		"p.obsolete.Store(true)", "p.obsolete.Store(false)",
		"engine", "^TestMergedTablesAreRemoved$",
	},
	{
		"ingest/taken without being verified", "engine/pack.go",
		"err = r.Verify(ctx, nil)", "err = nil",
		"engine", "^TestDamagedIngest$",
	},
	{
		"log/short write without an error overlooked", "engine/internal/wal/writer.go",
		"if err == nil && n < len(p) {", "if err == nil && n < 0 {",
		"engine/internal/wal", "^TestShortWrite$",
	},
	{
		"compaction/expired one microsecond early", "compaction/pick.go",
		"t.MaxTime < o.Expired", "t.MaxTime <= o.Expired",
		"compaction", "^TestPickAtExpiry$",
	},
	{
		"compaction/order of equal keys turned around", "compaction/merge.go",
		"return a.input < b.input", "return a.input > b.input",
		"compaction", "^TestMergeOrderOfEqualKeys$",
	},
}
