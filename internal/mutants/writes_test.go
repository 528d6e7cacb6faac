package mutants

// writeMutants are mistakes in writes that run concurrently, and in the sequence numbers of
// writes.
var writeMutants = []mutant{
	{
		name: "delete/version not compared", in: "engine", decl: "Store.effectiveLocked",
		edit:  swap(`stored == *r.Version`, `stored > 0`),
		tests: "engine", run: "^Test(DeleteVersion|PruneSparesNewer)$",
	},
	{
		name: "prune/documents of memtables forgotten", in: "engine", decl: "Store.Prune",
		edit:  never(`err == nil && flush`),
		tests: "engine", run: "^TestPrune(Bounds|Model)$",
	},
	{
		name: "prune/one table after the other", in: "engine", decl: "prune.publishLocked",
		edit:  swap(`edit.AddTombstones[part.Meta.Number] = dead`, `if err := p.enter(catalog.Edit{AddTombstones: map[uint64]*roaring.Bitmap{part.Meta.Number: dead}}, 0); err != nil { return false, false, err }`),
		tests: "engine", run: "^TestCrashInPrune$",
	},
	{
		name: "merge/what died since comes back", in: "engine", decl: "Store.publishCompaction",
		edit:  swap(`Dead.Recent(0)`, `Dead.Recent(view.Latest)`),
		tests: "engine", run: "^TestPruneModel$",
	},
	{
		name: "prune/a replay brings back what a table stood for", in: "engine", decl: "follows",
		edit:  swap(`first == 0 || first > part.Meta.MaxSeq`, `first == 0 || first > 0`),
		tests: "engine", run: "^TestPruneOverTheLog$",
	},
	{
		name: "prune/what replaced a document is not safe yet", in: "engine", decl: "Store.removals",
		edit:  swap(`err := db.last.sync()`, `err := error(nil)`),
		tests: "engine", run: "^TestPruneSyncsTheLog$",
	},
	{
		name: "prune/drops a table that has more", in: "engine", decl: "prune.delete",
		edit:  swap(`dead.GetCardinality()+kill.GetCardinality() == uint64(part.Meta.Docs)`, `dead.GetCardinality()+kill.GetCardinality() > 0`),
		tests: "engine", run: "^TestPrune(Model|DropsTables)$",
	},
	{
		name: "prune/what a merge makes meanwhile forgotten", in: "engine", decl: "prune.publishLocked",
		edit:  never(`!done && p.concerns(part)`),
		tests: "engine", run: "^TestPruneSparesLater$",
	},
	{
		name: "prune/documents of after it began", in: "engine", decl: "prune.inFile",
		edit:  swap(`min(w.MaxSeq, part.Meta.MaxSeq)`, `part.Meta.MaxSeq`),
		tests: "engine", run: "^TestPruneSparesLater$",
	},
	{
		name: "load/numbers overlap the next write's", in: "engine", decl: "publication.show",
		edit:  swap(`db.seq = p.table.Meta.MaxSeq`, `db.seq = max(first, p.table.Meta.MaxSeq-1)`),
		tests: "engine", run: "^TestOrderOfWriting$",
	},
	{
		name: "load/numbers from before it was published", in: "engine", decl: "publication.run",
		edit:  skip("NumberFrom"),
		tests: "engine", run: "^Test(WritesBesidePublication|OrderOfWriting)$",
	},
	{
		name: "ingest/order of writing lost", in: "engine", decl: "table.shiftSeq",
		edit:  swap(`stored + t.shift`, `min(max(stored+t.shift, t.Meta.MinSeq), t.Meta.MinSeq)`),
		tests: "engine", run: "^TestIngestEqualsLoad$",
	},
	{
		name: "ingest/no numbers left for others", in: "engine", decl: "table.numberFrom",
		edit:  never(`more > maxTableSeq-first`),
		tests: "engine", run: "^TestIngestNumbers$",
	},
	{
		name: "ingest/table not verified", in: "engine", decl: "Store.openForeign",
		edit:  skip("Verify"),
		tests: "engine", run: "^TestIngestDamaged$",
	},
	{
		name: "set/order of writing among tables of a database lost", in: "engine", decl: "Store.include",
		edit:  swap(`part.Meta.MinSeq - least`, `least - least`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "catalog/numbers of a table not compared with its file", in: "engine", decl: "Store.openTable",
		edit:  never(`t.shiftSeq(info.MaxSeq) != meta.MaxSeq`),
		tests: "engine", run: "^TestCatalogNumbers$",
	},
	{
		name: "compaction/drops what a replay would bring back", in: "engine", decl: "Snapshot.dropBefore",
		edit:  never(`first < p.Meta.MaxSeq`),
		tests: "engine", run: "^TestExpiredAfterTheLog$",
	},
	{
		name: "compaction/numbers of the file taken for the database's", in: "engine", decl: "mergeInputs",
		edit:  drop(`, SeqShift: p.shift`),
		tests: "engine", run: "^TestIngestEqualsLoad$",
	},
	{
		name: "pack/numbers of the file taken for the database's", in: "engine/internal/backup", decl: "inputsOf",
		edit:  drop(`SeqShift: p.shift,`),
		tests: "engine", run: "^TestIngestEqualsLoad$",
	},
	{
		name: "load/fails after its table has been published", in: "engine/internal/loader", decl: "Loader.Wait",
		edit:  swap(`l.stale = !l.o.Replace`, `if l.stale = !l.o.Replace; l.renew() != nil { return l.err }`),
		tests: "engine/internal/loader", run: "^TestPublishedThenClosed$",
	},
	{
		name: "create/whoever opens a new database says that it made it", in: "engine/internal/store", decl: "Store.IsNew",
		edit:  swap(`db.site != nil`, `true`),
		tests: "cmd/simdb", run: "^TestMakersAtOnce$",
	},
	{
		name: "create/a database is said to be made before it is there", in: "cmd/simdb/internal/loading", decl: "load.load",
		edit:  swap(`if !l.builds()`, `if l.builds() { l.tellCreated() } else`),
		tests: "cmd/simdb", run: "^TestFullDiskMakers$",
	},
	{
		name: "novel/turned away before its twin is safe", in: "engine", decl: "Store.writeUnless",
		edit:  swap(`if err != nil || found { return db.last, err }`, `if found { return logPosition{}, err }; if err != nil { return db.last, err }`),
		tests: "engine", run: "^TestTurnedAwayWhenSafe$",
	},
	{
		name: "novel/the document that is replaced stays", in: "engine", decl: "Store.writeUnless",
		edit:  drop(`l.found[0] = old`),
		tests: "engine", run: "^TestAddNovel$",
	},
	{
		name: "novel/what is submitted again is stored again", in: "engine/internal/search", decl: "Admit",
		edit:  swap(`switch {`, `same = false; switch {`),
		tests: "engine", run: "^TestSentAgain$",
	},
	{
		name: "novel/a group is reported before it is safe", in: "engine", decl: "Store.PutEachUnless",
		edit:  swap(`failure := db.waitSafe(last)`, `failure := db.waitSafe(logPosition{log: last.log})`),
		tests: "cmd/simdb", run: "^TestMatchAddKilled$",
	},
	{
		name: "delete/told that it is gone before that is safe", in: "engine", decl: "Store.writeRecords",
		edit:  swap(`return deleted, cmp.Or(db.waitSafe(last), err)`, `if deleted == 0 && recs[0].Delete { return 0, nil }; return deleted, cmp.Or(db.waitSafe(last), err)`),
		tests: "engine", run: "^TestTurnedAwayWhenSafe$",
	},
	{
		name: "batch/visible write by write", in: "engine", decl: "Store.commitLocked",
		edit:  swap(`db.insertLocked(old, r)`, `db.insertLocked(old, r); db.publishLocked(r.Doc.Seq)`),
		tests: "engine", run: "^TestBatchIsVisibleAtOnce$",
	},
	{
		name: "expiry/tables dropped a microsecond early", in: "compaction", decl: "Table.gone",
		edit:  swap(`t.MaxTime < before`, `t.MaxTime <= before`),
		tests: "engine", run: "^TestExpiryToTheMicrosecond$",
	},
	{
		name: "load/documents replaced by later ones of the load counted", in: "engine", decl: "publication.counts",
		edit:  drop(`- int64(p.again)`),
		tests: "engine", run: "^TestLoadStatsAddUp$",
	},
	{
		name: "flush/documents without fingerprint are lost", in: "engine", decl: "SortDocs",
		edit:  swap(`bare[at]`, `bare[min(at, 0)]`),
		tests: "engine/internal/tables", run: "^TestSortDocs$",
	},
	{
		name: "follow/new logs not read", in: "engine/internal/store", decl: "Store.readLogs",
		edit:  swap(`n > at.log && n >= at.firstLog`, `n > at.log && n > n`),
		tests: "engine", run: "^TestReaders$",
	},
	{
		name: "follow/changes of the catalog not noticed", in: "engine/internal/store", decl: "Store.unchanged",
		edit:  never(`err == nil && now != txid`),
		tests: "engine", run: "^TestFollow$",
	},
	{
		name: "follow/tombstones of an older state kept", in: "engine/internal/store", decl: "Store.adopt",
		edit:  drop(`db.current, db.resting, db.active, db.seq = fresh.current, nil, fresh.active, fresh.seq`),
		tests: "engine", run: "^TestReaders$",
	},
}
