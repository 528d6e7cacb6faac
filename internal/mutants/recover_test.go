package mutants

const (
	recovers     = "^TestRecover(Whole|Superseded|Ingested|Partial|CatalogPages|Durable)$"
	recoveryRuns = "^TestRecover$"
	salvages     = "^TestSalvage"
)

// recoverMutants are mistakes in restoring a new database from a damaged one.
var recoverMutants = []mutant{
	{
		name: "recover/tombstones not looked at", in: "engine", decl: "recovery.copyDocuments",
		edit:  swap(`r.add(meta, dead)`, `r.add(meta, roaring.New())`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/the older of two documents counts", in: "engine", decl: "recovery.resolve",
		edit:  swap(`.MinSeq > seqB`, `.MinSeq < seqB`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/lost writes are not told", in: "engine", decl: "recovery.copyLog",
		edit:  skip("doubtLog"),
		tests: "engine", run: recoveryRuns,
	},
	{
		name: "recover/lost catalog is not told", in: "engine", decl: "recovery.resolve",
		edit:  swap(`doubtful > 0`, `doubtful < 0`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/lost texts are empty", in: "internal/table", decl: "salvageWalk.document",
		edit:  swap(`d.Text, d.Fields = nil, nil; !s.o.Partial`, `d.Text, d.Fields = nil, nil; false`),
		tests: "engine", run: recovers,
	},
	{
		name: "repair/documents are dropped silently", in: "engine", decl: "Store.rebuild",
		edit:  swap(`i >= 0 && !o.Drop`, `false`),
		tests: "engine", run: "^TestRepair(Given)?$",
	},
	{
		name: "repair/given fingerprints become those of texts", in: "internal/table", decl: "salvageWalk.key",
		edit:  swap(`run.Matches(b, keys)`, `keys != nil`),
		tests: "engine", run: "^TestRepairGiven$",
	},
	{
		name: "repair/tombstones of other documents", in: "engine", decl: "Rebuilt.New",
		edit:  swap(`doc - uint32(r.gone.Rank(doc))`, `doc`),
		tests: "engine", run: "^TestRepairBesideWrites$",
	},
	{
		name: "repair/two documents have one rank", in: "internal/table", decl: "Salvaged.unusedRank",
		edit:  swap(`!u`, `u`),
		tests: "engine", run: "^TestRepair$",
	},
	{
		name: "scrub/as fast as it can", in: "engine", decl: "Store.scrub",
		edit:  swap(`merges.NewThrottle(db.opts.ScrubRate)`, `merges.NewThrottle(0)`),
		tests: "engine", run: "^TestScrub$",
	},
	{
		name: "recover/copy of a table not synced", in: "engine", decl: "recovery.copyDocuments",
		edit:  skip("Sync"),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/an older tree is the current one", in: "engine", decl: "newestTree",
		edit:  swap(`found != newest`, `found > newest`),
		tests: "engine/internal/catalog", run: salvages,
	},
	{
		name: "recover/frames behind damage are not looked for", in: "engine", decl: "salvage.scan",
		edit:  swap(`at += frameAlign`, `at = s.r.size`),
		tests: "engine/internal/wal", run: salvages,
	},
	{
		name: "recover/frames of another log", in: "engine", decl: "salvage.salvageHeader",
		edit:  swap(`h != *expected`, `false`),
		tests: "engine/internal/wal", run: salvages,
	},
	{
		name: "recover/files in use are forgotten", in: "engine", decl: "Folder.RemoveUnused",
		edit:  skip("removeKept"),
		tests: "engine", run: "^TestFilesInUse$",
	},
	{
		name: "recover/files in use are not removed at the end", in: "engine", decl: "Folder.Release",
		edit:  skip("removeKept"),
		tests: "engine", run: "^TestFilesInUse$",
	},
	{
		name: "recover/a file in use keeps a database closed", in: "engine", decl: "Store.sweep",
		edit:  drop(`err = nil`),
		tests: "engine", run: "^TestFilesInUse$",
	},
	{
		name: "recover/no early section", in: "internal/table", decl: "merger.mergeBlocks",
		edit:  skip("WriteEarly"),
		tests: "internal/table", run: salvages,
	},
	{
		name: "recover/spares are not read", in: "internal/table", decl: "Salvaged.openEarly",
		edit:  swap(`dir.found > 0`, `false`),
		tests: "internal/table", run: salvages,
	},
	{
		name: "recover/copies of directories are not read", in: "internal/table", decl: "Salvaged.open",
		edit:  skip("restore"),
		tests: "internal/table", run: salvages,
	},
	{
		name: "recover/blocks of names behind a spare", in: "internal/table", decl: "tableFile.writeList",
		edit:  swap(`format.SpareSize+(n-first)*blobs.ListEntry`, `0*(n-first)`),
		tests: "internal/table", run: salvages,
	},
}
