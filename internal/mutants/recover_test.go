package mutants

const (
	recovers     = "^TestRecover(Whole|Superseded|Ingested|Partial|CatalogPages|Durable)$"
	recoveryRuns = "^TestRecover$"
	salvages     = "^TestSalvage"
)

// recoverMutants are mistakes in what makes a new database from a damaged one.
var recoverMutants = []mutant{
	{
		name: "recover/tombstones not looked at", in: "engine", decl: "recovery.copyTable",
		edit:  swap(`in.dead != nil && in.dead.Contains(doc)`, `false`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/deletes in the log not looked at", in: "engine", decl: "recovery.isOutdated",
		edit:  swap(`return w.seq > seq`, `return false`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/an older write of the log comes back", in: "engine", decl: "recovery.note",
		edit:  swap(`w.seq < d.Seq`, `w.seq > d.Seq`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/the older of two documents counts", in: "engine", decl: "target.resolve",
		edit:  swap(`seqA > seqB ||`, `seqA < seqB ||`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/what a merge dropped comes back", in: "engine", decl: "target.resolve",
		edit:  swap(`merged[a.from] = true`, `merged[a.from] = false`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/lost writes are not told", in: "engine", decl: "recovery.checkLog",
		edit:  skip("doubtLog"),
		tests: "engine", run: recoveryRuns,
	},
	{
		name: "recover/lost catalog is not told", in: "engine", decl: "recovery.finishReport",
		edit:  skip("doubtDeletes"),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/lost texts are empty", in: "sstable", decl: "salvageWalk.document",
		edit:  swap(`d.Text, d.Fields = nil, nil; !s.o.Partial`, `d.Text, d.Fields = nil, nil; false`),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/table not synced", in: "engine", decl: "tableWriter.close",
		edit:  skip("Sync"),
		tests: "engine", run: recovers,
	},
	{
		name: "recover/an older tree is the current one", in: "engine", decl: "gleaner.newestTree",
		edit:  swap(`txid == g.newest`, `txid <= g.newest`),
		tests: "engine/internal/catalog", run: salvages,
	},
	{
		name: "recover/frames behind damage are not looked for", in: "engine", decl: "salvage.scan",
		edit:  swap(`at += frameAlign`, `at = s.r.size`),
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
		name: "recover/no early section", in: "sstable", decl: "merger.mergeBlocks",
		edit:  skip("WriteEarly"),
		tests: "sstable", run: salvages,
	},
	{
		name: "recover/spares are not read", in: "sstable", decl: "Salvaged.openEarly",
		edit:  swap(`dir.found > 0`, `false`),
		tests: "sstable", run: salvages,
	},
	{
		name: "recover/copies of directories are not read", in: "sstable", decl: "Salvaged.open",
		edit:  skip("restore"),
		tests: "sstable", run: salvages,
	},
	{
		name: "recover/blocks of names behind a spare", in: "sstable", decl: "tableFile.writeList",
		edit:  swap(`table.SpareSize+(n-first)*blobs.ListEntry`, `0*(n-first)`),
		tests: "sstable", run: salvages,
	},
	{
		name: "recover/fingerprint of the text alone", in: "sstable", decl: "salvageWalk.fingerprint",
		edit:  swap(`lo == hi`, `lo > hi`),
		tests: "sstable", run: salvages,
	},
}
