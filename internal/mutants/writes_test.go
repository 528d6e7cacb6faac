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
		name: "delete/version compared for order", in: "engine", decl: "Store.effectiveLocked",
		edit:  swap(`stored == *r.Version`, `stored <= *r.Version`),
		tests: "engine", run: "^TestDeleteVersion$",
	},
	{
		name: "delete/everybody is told that it deleted", in: "engine", decl: "Store.effectiveLocked",
		edit:  swap(`r.Delete && !there`, `r.Delete && !there && r.Version != nil`),
		tests: "engine", run: "^TestDeleteTellsOne$",
	},
	{
		name: "delete/expired documents count", in: "engine", decl: "Store.versionLocked",
		edit:  swap(`stored < expiry`, `stored < 0`),
		tests: "engine", run: "^TestDeleteVersion$",
	},
	{
		name: "conflict/any version of a document does", in: "engine", decl: "Store.checkLocked",
		edit:  swap(`stored != n.Version &&`, `(stored == 0) != (n.Version == 0) &&`),
		tests: "engine", run: "^TestPreconditions$",
	},
	{
		name: "conflict/preconditions not checked", in: "engine", decl: "Store.checkLocked",
		edit:  swap(`range needs`, `range needs[:0]`),
		tests: "engine", run: "^TestOneWriterWins$",
	},
	{
		name: "prune/documents of memtables forgotten", in: "engine", decl: "Store.Prune",
		edit:  never(`err == nil && flush`),
		tests: "engine", run: "^TestPrune(Bounds|Model)$",
	},
	{
		name: "prune/counts what a write has replaced", in: "engine", decl: "prune.delete",
		edit:  swap(`roaring.AndNot(kill, none)`, `roaring.Or(kill, none)`),
		tests: "engine", run: "^TestPrune(SparesNewer|Model)$",
	},
	{
		name: "prune/one table after the other", in: "engine", decl: "prune.publishLocked",
		edit:  swap(`edit.SetTombstones[part.Meta.Number] = dead`, `if err := p.enter(catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{part.Meta.Number: dead}}, 0); err != nil { return false, false, err }`),
		tests: "engine", run: "^TestCrashInPrune$",
	},
	{
		name: "merge/what died since comes back", in: "engine", decl: "Store.publishCompaction",
		edit:  swap(`Dead.UpTo(0)`, `Dead.UpTo(view.Latest)`),
		tests: "engine", run: "^TestPruneModel$",
	},
	{
		name: "prune/a replay brings back what a table stood for", in: "engine", decl: "follows",
		edit:  swap(`first == 0 || first > part.Meta.MaxSeq`, `first == 0 || first > 0`),
		tests: "engine", run: "^TestPruneOverTheLog$",
	},
	{
		name: "prune/what replaced a document is not safe yet", in: "engine", decl: "prune.publishLocked",
		edit:  swap(`err := db.syncLogLocked()`, `err := error(nil)`),
		tests: "engine", run: "^TestPruneSyncsTheLog$",
	},
	{
		name: "prune/drops a table that has more", in: "engine", decl: "prune.delete",
		edit:  swap(`dead.GetCardinality()+kill.GetCardinality() == uint64(part.Meta.Docs)`, `dead.GetCardinality()+kill.GetCardinality() > 0`),
		tests: "engine", run: "^TestPrune(Model|DropsTables)$",
	},
	{
		name: "prune/expired documents counted", in: "engine", decl: "prune.table",
		edit:  swap(`n, err := part.CountLiving(ctx, dead, p.inFile(part))`, `n, err := int64(part.Meta.Docs)-int64(dead.GetCardinality()), error(nil)`),
		tests: "engine", run: "^TestPruneModel$",
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
		name: "count/dead documents of a part that has not expired", in: "engine", decl: "table.countLiving",
		edit:  swap(`at < w.From || at > w.To`, `at < w.From && at > w.To`),
		tests: "engine", run: "^TestPruneModel$",
	},
	{
		name: "entries/dead documents with a prefix", in: "engine", decl: "eachOf",
		edit:  swap(`ok, err := p.AliveAt(doc, v.Seq, f.Since)`, `ok, err := true, error(nil)`),
		tests: "engine", run: "^TestEntriesWhere$",
	},
	{
		name: "entries/dead documents in order", in: "engine", decl: "stream.turn",
		edit:  swap(`err != nil || !alive`, `err != nil || !alive && id == nil`),
		tests: "engine", run: "^TestEntriesWhere$",
	},
	{
		name: "entries/the part of the end of a range forgotten", in: "sstable", decl: "IDDivider.Range",
		edit:  swap(`d.Part(to)+1`, `d.Part(to)`),
		tests: "sstable/internal/table", run: "^TestIDParts$",
	},
	{
		name: "entries/a bound that equals the ID", in: "sstable", decl: "IDDivider.decide",
		edit:  swap(`bytes.Compare(d.bounds[at+i], id) > 0`, `bytes.Compare(d.bounds[at+i], id) >= 0`),
		tests: "sstable/internal/table", run: "^TestIDParts$",
	},
	{
		name: "written/bounds of a block taken for its values", in: "sstable", decl: "Reader.writtenRanks",
		edit:  swap(`least >= lo && most <= hi`, `least >= lo || most <= hi`),
		tests: "sstable", run: "^TestWritten$",
	},
	{
		name: "written/one range too many", in: "sstable", decl: "rankSet.add",
		edit:  swap(`s.to < from && s.bits == nil`, `false`),
		tests: "sstable", run: "^TestWritten$",
	},
	{
		name: "delete where/deletes whatever has the ID", in: "query", decl: "run.delete",
		edit:  swap(`b.DeleteVersion(v.id, v.seq)`, `b.Delete(v.id)`),
		tests: "query", run: "^TestDeleteWhereSparesNewer$",
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
		name: "set/what a database does not show counts", in: "engine/internal/backup", decl: "hidden",
		edit:  never(`!shown`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "set/fingerprints of replaced documents count", in: "engine/internal/backup", decl: "hidden",
		edit:  swap(`!v.Several`, `true`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "set/memtables left out", in: "engine/internal/backup", decl: "Members",
		edit:  swap(`mem == nil`, `true`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "set/what is dead replaces", in: "engine", decl: "publication.inTable",
		edit:  swap(`!p.own.Contains(doc)`, `true`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "set/order of writing among tables of a database lost", in: "engine", decl: "Store.include",
		edit:  swap(`part.Meta.MinSeq - least`, `least - least`),
		tests: "engine", run: "^TestSetOfDatabases$",
	},
	{
		name: "set/layout of the first table is that of all", in: "engine", decl: "Store.setParams",
		edit:  never(`db.Dir == nil`),
		tests: "engine", run: "^TestSetRefused$",
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
		edit:  swap(`return db.last, err`, `if found { return logPosition{}, err }; return db.last, err`),
		tests: "engine", run: "^TestTurnedAwayWhenSafe$",
	},
	{
		name: "novel/the document that is replaced stays", in: "engine", decl: "Store.writeUnless",
		edit:  swap(`err = db.commitLocked(recs, payload, old)`, `old = view.Place{}; err = db.commitLocked(recs, payload, old)`),
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
		name: "delete/told that it is gone before that is safe", in: "engine", decl: "Store.Write",
		edit:  swap(`return deleted, cmp.Or(db.waitSafe(last), err)`, `if deleted == 0 && recs[0].Delete { return 0, nil }; return deleted, cmp.Or(db.waitSafe(last), err)`),
		tests: "engine", run: "^TestTurnedAwayWhenSafe$",
	},
	{
		name: "batch/visible write by write", in: "engine", decl: "Store.commitLocked",
		edit:  swap(`db.insertLocked(replaced[i], &recs[i])`, `db.insertLocked(replaced[i], &recs[i]); db.publishLocked(recs[i].Doc.Seq)`),
		tests: "engine", run: "^TestBatchIsVisibleAtOnce$",
	},
	{
		name: "expiry/a microsecond early in memory", in: "engine", decl: "View.MemAlive",
		edit:  swap(`d.Time >= s.since`, `d.Time > s.since`),
		tests: "engine", run: "^TestExpiryToTheMicrosecond$",
	},
	{
		name: "expiry/a microsecond early in tables", in: "engine", decl: "Part.AliveAt",
		edit:  swap(`t >= since`, `t > since`),
		tests: "engine", run: "^TestExpiryToTheMicrosecond$",
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
		name: "several/codes of an earlier version count", in: "engine", decl: "View.Counts",
		edit:  swap(`stored < seq`, `stored < seq || true`),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "several/codes of a load's dead documents live", in: "engine", decl: "publication.resolveCodes",
		edit:  skip("Add"),
		tests: "engine", run: "^TestSeveralLoadedBeside$",
	},
	{
		name: "several/codes are kept by merges", in: "engine", decl: "mergeInputs",
		edit:  never(`snap.Several && ok && err == nil`),
		tests: "engine", run: "^TestSeveralLoadedBeside$",
	},
	{
		name: "several/a batch looks for first fingerprints alone", in: "engine", decl: "Snapshot.batchPrints",
		edit:  swap(` && docs[n].Fingerprints == nil`, ``),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "several/a document is found by each fingerprint of a question", in: "engine", decl: "nearestBatch.flush",
		edit:  swap(`return a.ID == b.ID`, `return false`),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "several/a document is found twice in a batch", in: "engine", decl: "nearBatch.order",
		edit:  never(`b.v.Several`),
		tests: "fuzz", run: "^FuzzHistory$",
	},
	{
		name: "put/times out of range taken", in: "engine", decl: "checkDoc",
		edit:  never(`off >= time.Microsecond`),
		tests: "engine", run: "^TestTimeOutOfRange$",
	},
	{
		name: "memtable/searches by index see what was written later", in: "engine", decl: "Searcher.visit",
		edit:  swap(`c.at <= n`, `c.at != 0`),
		tests: "engine/internal/memindex", run: "^TestFind$",
	},
	{
		name: "memtable/a fingerprint found in two blocks is two hits", in: "engine", decl: "firstIn",
		edit:  never(`bits.OnesCount16(uint16(diff>>(b*blockBits))&mask) <= radius[b]`),
		tests: "engine/internal/memindex", run: "^TestFind$",
	},
	{
		name: "memtable/the index forgets what it had when it grows", in: "engine", decl: "Index.Add",
		edit:  swap(`c.entries[at].fp`, `0`),
		tests: "engine/internal/memindex", run: "^TestFind$",
	},
	{
		name: "memtable/a search that gives up leaves what it found", in: "engine", decl: "Searcher.visit",
		edit:  swap(`dst[:first], visits, false`, `dst[:max(first, len(dst))], visits, false`),
		tests: "engine/internal/memindex", run: "^TestGivesUp$",
	},
	{
		name: "memtable/the index begins without the first fingerprints", in: "engine", decl: "Memtable.addFingerprint",
		edit:  swap(`memindex.New(m.Cur.FPs)`, `memindex.New(make([]base.Fingerprint, len(m.Cur.FPs)))`),
		tests: "engine", run: "^TestMemtableIndex$",
	},
	{
		name: "memtable/the index lacks a fingerprint", in: "engine", decl: "Memtable.addFingerprint",
		edit:  swap(`m.Cur.Index.Add(fp)`, `m.Cur.Index.Add(^fp)`),
		tests: "engine", run: "^TestMemtableIndex$",
	},
	{
		name: "memtable/a larger table of IDs is not shown to readers", in: "engine", decl: "idTable.grow",
		edit:  drop(`t.slots.Store(&more)`),
		tests: "engine/internal/view", run: "^TestMemtableFind$",
	},
	{
		name: "memtable/a replaced version is forgotten", in: "engine", decl: "idTable.add",
		edit:  swap(`d.follow(old)`, `d.follow(nil)`),
		tests: "engine/internal/view", run: "^TestMemtableFind$",
	},
	{
		name: "flush/documents without fingerprint are lost", in: "engine", decl: "SortDocs",
		edit:  drop(`copy(docs[n:], bare)`),
		tests: "engine/internal/tables", run: "^TestSortDocs$",
	},
	{
		name: "any match/a near one is named where there is an equal one", in: "engine", decl: "existence.near",
		edit:  swap(`x.best.Distance == 0`, `true`),
		tests: "engine", run: "^TestAnyMatch",
	},
	{
		name: "memtable/sketches written later are found", in: "engine", decl: "postingTable.gather",
		edit:  swap(`if at := (what ^ tag) - 1; at < n { visits++`, `if at := (what ^ tag) - 1; at < maxSketches { visits++`),
		tests: "engine/internal/memindex", run: "^TestGather",
	},
	{
		name: "memtable/sketches of a crowded hash are lost", in: "engine", decl: "postingTable.add",
		edit:  drop(`x.list(mixed, tag|(at+1))`),
		tests: "engine/internal/memindex", run: "^TestGather",
	},
	{
		name: "memtable/sketches of hot hashes are in no group", in: "engine", decl: "postingTable.add",
		edit:  drop(`x.groups.Add(at, &p.shape)`),
		tests: "engine/internal/memindex", run: "^TestGather",
	},
	{
		name: "crowds/a group with just enough hot hashes is passed over", in: "internal/hot", decl: "Groups.Each",
		edit:  swap(`need > min(s.hot, x.hot)`, `need >= min(s.hot, x.hot)`),
		tests: "internal/hot", run: "^TestGroups$",
	},
	{
		name: "memtable/an index answers thresholds that it lacks postings for", in: "engine", decl: "Searcher.Gather",
		edit:  swap(`t < x.t`, `t < 0`),
		tests: "engine/internal/memindex", run: "^TestGather$",
	},
	{
		name: "memtable/a larger table of postings lacks the newest sketch", in: "engine", decl: "Sketches.Add",
		edit:  swap(`range x.sketches`, `range x.sketches[:len(x.sketches)-1]`),
		tests: "engine/internal/memindex", run: "^TestGather",
	},
	{
		name: "memtable/the index of sketches begins without the first ones", in: "engine", decl: "Memtable.addSketch",
		edit:  drop(`for _, at := range m.Cur.BitmapDoc[:memindex.MinSketches-1] { m.Cur.Sketches.Add(m.Cur.Docs[at].Sketch) }`),
		tests: "engine", run: "^TestMemtableSketches$",
	},
	{
		name: "memtable/what a search has seen stays seen", in: "engine", decl: "positionSet.remove",
		edit:  swap(`s[at/64] = 0`, `_ = at`),
		tests: "engine/internal/memindex", run: "^TestGather",
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
