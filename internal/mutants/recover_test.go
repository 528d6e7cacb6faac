package mutants

const (
	recovers     = "^TestRecover(Whole|Superseded|Ingested|Partial|CatalogPages|Durable)$"
	recoveryRuns = "^TestRecover$"
	salvages     = "^TestSalvage"
)

// recoverMutants are mistakes in what makes a new database from a damaged one.
var recoverMutants = []mutant{
	{
		"recover/tombstones not looked at", "engine", "recovery.copyTable",
		swap(`in.dead != nil && in.dead.Contains(doc)`, `false`),
		"engine", recovers,
	},
	{
		"recover/deletes in the log not looked at", "engine", "recovery.isOutdated",
		swap(`return w.seq > seq`, `return false`),
		"engine", recovers,
	},
	{
		"recover/an older write of the log comes back", "engine", "recovery.note",
		swap(`w.seq < d.Seq`, `w.seq > d.Seq`),
		"engine", recovers,
	},
	{
		"recover/the older of two documents counts", "engine", "target.resolve",
		swap(`seqA > seqB ||`, `seqA < seqB ||`),
		"engine", recovers,
	},
	{
		"recover/what a merge dropped comes back", "engine", "target.resolve",
		swap(`merged[a.from] = true`, `merged[a.from] = false`),
		"engine", recovers,
	},
	{
		"recover/lost writes are not told", "engine", "recovery.checkLog",
		skip("doubtLog"),
		"engine", recoveryRuns,
	},
	{
		"recover/lost catalog is not told", "engine", "recovery.finishReport",
		skip("doubtDeletes"),
		"engine", recovers,
	},
	{
		"recover/lost texts are empty", "sstable", "salvageWalk.document",
		swap(`d.Text, d.Fields = nil, nil; !s.o.Partial`, `d.Text, d.Fields = nil, nil; false`),
		"engine", recovers,
	},
	{
		"recover/table not synced", "engine", "tableWriter.close",
		skip("Sync"),
		"engine", recovers,
	},
	{
		"recover/an older tree is the current one", "engine", "gleaner.newestTree",
		swap(`txid == g.newest`, `txid <= g.newest`),
		"engine/internal/catalog", salvages,
	},
	{
		"recover/frames behind damage are not looked for", "engine", "salvage.scan",
		swap(`at += frameAlign`, `at = s.r.size`),
		"engine/internal/wal", salvages,
	},
	{
		"recover/files in use are forgotten", "engine", "Folder.RemoveUnused",
		skip("removeKept"),
		"engine", "^TestFilesInUse$",
	},
	{
		"recover/files in use are not removed at the end", "engine", "Folder.Release",
		skip("removeKept"),
		"engine", "^TestFilesInUse$",
	},
	{
		"recover/a file in use keeps a database closed", "engine", "Store.sweep",
		drop(`err = nil`),
		"engine", "^TestFilesInUse$",
	},
	{
		"recover/no early section", "sstable", "merger.mergeBlocks",
		skip("writeEarly"),
		"sstable", salvages,
	},
	{
		"recover/spares are not read", "sstable", "Salvaged.openEarly",
		swap(`dir.found > 0`, `false`),
		"sstable", salvages,
	},
	{
		"recover/copies of directories are not read", "sstable", "Salvaged.open",
		skip("restore"),
		"sstable", salvages,
	},
	{
		"recover/blocks of names behind a spare", "sstable", "tableFile.writeList",
		swap(`spareSize+(n-first)*blobs.ListEntry`, `0*(n-first)`),
		"sstable", salvages,
	},
	{
		"recover/fingerprint of the text alone", "sstable", "salvageWalk.fingerprint",
		swap(`lo == hi`, `lo > hi`),
		"sstable", salvages,
	},
}
