package mutants

// writeMutants are mistakes in what a write does beside other writes, and in the numbers that
// writes get.
var writeMutants = []mutant{
	{
		"delete/version not compared", "engine", "Store.removableLocked",
		swap(`seq != *version`, `seq == 0`),
		"engine", "^Test(DeleteVersion|PruneSparesNewer)$",
	},
	{
		"delete/version compared for order", "engine", "Store.removableLocked",
		swap(`seq != *version`, `seq > *version`),
		"engine", "^TestDeleteVersion$",
	},
	{
		"delete/everybody is told that it deleted", "engine", "Store.effectiveLocked",
		swap(`r.Delete && !there`, `r.Delete && !there && r.Version != nil`),
		"engine", "^TestDeleteTellsOne$",
	},
	{
		"delete/expired documents count", "engine", "Store.removableLocked",
		swap(`stored >= expiry`, `stored >= 0`),
		"engine", "^TestDeleteVersion$",
	},
	{
		"prune/documents of memtables forgotten", "engine", "Store.Prune",
		never(`err == nil && flush`),
		"engine", "^TestPrune(Bounds|Model)$",
	},
	{
		"prune/counts what a write has replaced", "engine", "prune.delete",
		drop(`kill.AndNot(dead); n = int(kill.GetCardinality())`),
		"engine", "^TestPrune(SparesNewer|Model)$",
	},
	{
		"prune/one table after the other", "engine", "prune.publishLocked",
		swap(`edit.SetTombstones[part.Meta.Number] = dead`, `if err := p.enter(catalog.Edit{SetTombstones: map[uint64]*roaring.Bitmap{part.Meta.Number: dead}}, 0); err != nil { return false, false, err }`),
		"engine", "^TestCrashInPrune$",
	},
	{
		"merge/what died since comes back", "engine", "Store.publishCompaction",
		swap(`Dead.UpTo(0)`, `Dead.UpTo(view.Latest)`),
		"engine", "^TestPruneModel$",
	},
	{
		"prune/a replay brings back what a table stood for", "engine", "follows",
		swap(`first == 0 || first > part.Meta.MaxSeq`, `first == 0 || first > 0`),
		"engine", "^TestPruneOverTheLog$",
	},
	{
		"prune/what replaced a document is not safe yet", "engine", "prune.publishLocked",
		swap(`err := db.syncLogLocked()`, `err := error(nil)`),
		"engine", "^TestPruneSyncsTheLog$",
	},
	{
		"prune/drops a table that has more", "engine", "prune.delete",
		swap(`dead.GetCardinality()+kill.GetCardinality() == uint64(part.Meta.Docs)`, `dead.GetCardinality()+kill.GetCardinality() > 0`),
		"engine", "^TestPrune(Model|DropsTables)$",
	},
	{
		"prune/expired documents counted", "engine", "prune.table",
		swap(`n, err := part.CountLiving(ctx, dead, p.inFile(part))`, `n, err := int64(part.Meta.Docs)-int64(dead.GetCardinality()), error(nil)`),
		"engine", "^TestPruneModel$",
	},
	{
		"prune/what a merge makes meanwhile forgotten", "engine", "prune.publishLocked",
		never(`!done && p.concerns(part)`),
		"engine", "^TestPruneSparesLater$",
	},
	{
		"prune/documents of after it began", "engine", "prune.inFile",
		swap(`min(w.MaxSeq, part.Meta.MaxSeq)`, `part.Meta.MaxSeq`),
		"engine", "^TestPruneSparesLater$",
	},
	{
		"count/dead documents of a part that has not expired", "engine", "table.countLiving",
		swap(`at < w.From || at > w.To`, `at < w.From && at > w.To`),
		"engine", "^TestPruneModel$",
	},
	{
		"entries/dead documents with a prefix", "engine", "eachOf",
		swap(`ok, err := p.AliveAt(doc, v.Seq, f.Since)`, `ok, err := true, error(nil)`),
		"engine", "^TestEntriesWhere$",
	},
	{
		"entries/dead documents in order", "engine", "stream.turn",
		swap(`err != nil || !alive`, `err != nil || !alive && id == nil`),
		"engine", "^TestEntriesWhere$",
	},
	{
		"entries/parts that begin with a prefix forgotten", "sstable", "Divider.Range",
		swap(`!bytes.HasPrefix(b, prefix)`, `len(b) > 0`),
		"sstable/internal/idparts", "^TestParts$",
	},
	{
		"entries/a bound that equals the ID", "sstable", "Divider.decide",
		swap(`bytes.Compare(d.bounds[at+i], id) > 0`, `bytes.Compare(d.bounds[at+i], id) >= 0`),
		"sstable/internal/idparts", "^TestParts$",
	},
	{
		"written/bounds of a block taken for its values", "sstable", "Reader.writtenRanks",
		swap(`least >= lo && most <= hi`, `least >= lo || most <= hi`),
		"sstable", "^TestWritten$",
	},
	{
		"written/one range too many", "sstable", "rankSet.add",
		swap(`s.to < from && s.bits == nil`, `false`),
		"sstable", "^TestWritten$",
	},
	{
		"delete where/deletes whatever has the ID", "query", "run.delete",
		swap(`b.DeleteVersion(r.id, e.Seq)`, `_ = e; b.Delete(r.id)`),
		"query", "^TestDeleteWhereSparesNewer$",
	},
	{
		"load/numbers overlap the next write's", "engine", "publication.show",
		swap(`db.seq = p.table.Meta.MaxSeq`, `db.seq = max(first, p.table.Meta.MaxSeq-1)`),
		"engine", "^TestOrderOfWriting$",
	},
	{
		"load/numbers from before it was published", "engine", "publication.run",
		skip("NumberFrom"),
		"engine", "^Test(WritesBesidePublication|OrderOfWriting)$",
	},
	{
		"ingest/order of writing lost", "engine", "table.shiftSeq",
		swap(`stored + t.shift`, `min(max(stored+t.shift, t.Meta.MinSeq), t.Meta.MinSeq)`),
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"ingest/no numbers left for others", "engine", "table.numberFrom",
		never(`more > maxTableSeq-first`),
		"engine", "^TestIngestNumbers$",
	},
	{
		"ingest/table not verified", "engine", "Store.openForeign",
		skip("Verify"),
		"engine", "^TestIngestDamaged$",
	},
	{
		"catalog/numbers of a table not compared with its file", "engine", "Store.openTable",
		never(`t.shiftSeq(info.MaxSeq) != meta.MaxSeq`),
		"engine", "^TestCatalogNumbers$",
	},
	{
		"compaction/drops what a replay would bring back", "engine", "Snapshot.dropBefore",
		never(`first < p.Meta.MaxSeq`),
		"engine", "^TestExpiredAfterTheLog$",
	},
	{
		"compaction/numbers of the file taken for the database's", "engine", "mergeInputs",
		drop(`, SeqShift: p.shift`),
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"pack/numbers of the file taken for the database's", "engine/internal/pack", "inputsOf",
		drop(`SeqShift: p.shift,`),
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"novel/turned away before its twin is safe", "engine", "Store.PutUnless",
		swap(`if err := db.waitSafe(last); err != nil {`, `if found { return false, nil }; if err := db.waitSafe(last); err != nil {`),
		"engine", "^TestTurnedAwayWhenSafe$",
	},
	{
		"novel/what is submitted again is stored again", "engine", "DB.AddNovel",
		swap(`search.AnyKnown`, `search.AnyMatch`),
		"engine", "^TestAddNovel$",
	},
	{
		"novel/a group is reported before it is safe", "engine", "Store.PutEachUnless",
		swap(`failure := db.waitSafe(last)`, `failure := db.waitSafe(logPosition{log: last.log})`),
		"cmd/simdb", "^TestMatchAddKilled$",
	},
	{
		"delete/told that it is gone before that is safe", "engine", "Store.Write",
		swap(`if err := db.waitSafe(last); err != nil {`, `if deleted == 0 && recs[0].Delete { return 0, nil }; if err := db.waitSafe(last); err != nil {`),
		"engine", "^TestTurnedAwayWhenSafe$",
	},
	{
		"batch/visible write by write", "engine", "Store.commitLocked",
		swap(`if err := db.insertLocked(&have, &recs[i]); err != nil { return db.fail(err) }`, `if err := db.insertLocked(&have, &recs[i]); err != nil { return db.fail(err) }; db.publishLocked(recs[i].Doc.Seq)`),
		"engine", "^TestBatchIsVisibleAtOnce$",
	},
	{
		"expiry/a microsecond early in memory", "engine", "View.MemAlive",
		swap(`d.Time >= s.since`, `d.Time > s.since`),
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"expiry/a microsecond early in tables", "engine", "Part.AliveAt",
		swap(`t >= since`, `t > since`),
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"expiry/tables dropped a microsecond early", "compaction", "Table.gone",
		swap(`t.MaxTime < before`, `t.MaxTime <= before`),
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"load/documents replaced by later ones of the load counted", "engine", "publication.counts",
		drop(`- int64(p.again)`),
		"engine", "^TestLoadStatsAddUp$",
	},
	{
		"put/times out of range taken", "engine", "checkDoc",
		never(`off >= time.Microsecond`),
		"engine", "^TestTimeOutOfRange$",
	},
	{
		"memtable/searches by index see what was written later", "engine", "Searcher.visit",
		swap(`c.at <= n`, `c.at != 0`),
		"engine/internal/memindex", "^TestFind$",
	},
	{
		"memtable/a fingerprint found in two blocks is two hits", "engine", "firstIn",
		never(`bits.OnesCount16(uint16(diff>>(b*blockBits))) <= radius[b]`),
		"engine/internal/memindex", "^TestFind$",
	},
	{
		"memtable/the index forgets what it had when it grows", "engine", "Index.Add",
		drop(`copy(more, room)`),
		"engine/internal/memindex", "^TestFind$",
	},
	{
		"memtable/a search that gives up leaves what it found", "engine", "Searcher.visit",
		swap(`dst[:first], visits, false`, `dst[:max(first, len(dst))], visits, false`),
		"engine/internal/memindex", "^TestGivesUp$",
	},
	{
		"memtable/the index begins without the first fingerprints", "engine", "Memtable.addFingerprint",
		swap(`memindex.New(m.Cur.FPs)`, `memindex.New(make([]base.Fingerprint, len(m.Cur.FPs)))`),
		"engine", "^TestMemtableIndex$",
	},
	{
		"memtable/the index lacks a fingerprint", "engine", "Memtable.addFingerprint",
		swap(`m.Cur.Index.Add(fp)`, `m.Cur.Index.Add(^fp)`),
		"engine", "^TestMemtableIndex$",
	},
	{
		"memtable/a larger table of IDs is not shown to readers", "engine", "idTable.grow",
		drop(`t.slots.Store(&more)`),
		"engine/internal/view", "^TestMemtableFind$",
	},
	{
		"memtable/a replaced version is forgotten", "engine", "idTable.add",
		swap(`d.prev = old; old == nil`, `d.prev = nil; old == nil`),
		"engine/internal/view", "^TestMemtableFind$",
	},
	{
		"flush/documents without fingerprint are lost", "engine", "SortDocs",
		drop(`copy(docs[n:], bare)`),
		"engine/internal/tables", "^TestSortDocs$",
	},
	{
		"any match/a near one is named where there is an equal one", "engine", "existence.near",
		swap(`x.best.Distance == 0`, `true`),
		"engine", "^TestAnyMatch",
	},
	{
		"memtable/sketches written later are found", "engine", "postingTable.gather",
		swap(`if at := (what ^ tag) - 1; at < n { visits++`, `if at := (what ^ tag) - 1; at < maxSketches { visits++`),
		"engine/internal/memindex", "^TestGather",
	},
	{
		"memtable/sketches of a crowded hash are lost", "engine", "postingTable.add",
		drop(`x.list(mixed, tag|(at+1))`),
		"engine/internal/memindex", "^TestGather",
	},
	{
		"memtable/an index answers thresholds that it lacks postings for", "engine", "Searcher.Gather",
		swap(`t < x.t`, `t < 0`),
		"engine/internal/memindex", "^TestGather$",
	},
	{
		"memtable/a larger table of postings lacks the newest sketch", "engine", "Sketches.Add",
		swap(`range x.sketches`, `range x.sketches[:len(x.sketches)-1]`),
		"engine/internal/memindex", "^TestGather",
	},
	{
		"memtable/the index of sketches begins without the first ones", "engine", "Memtable.addSketch",
		drop(`for _, at := range m.Cur.BitmapDoc[:memindex.MinSketches-1] { m.Cur.Sketches.Add(m.Cur.Docs[at].Sketch) }`),
		"engine", "^TestMemtableSketches$",
	},
	{
		"memtable/what a search has seen stays seen", "engine", "positionSet.remove",
		swap(`s[at/64] = 0`, `_ = at`),
		"engine/internal/memindex", "^TestGather",
	},
	{
		"follow/new logs not read", "engine/internal/store", "Store.readLogs",
		swap(`n > at.log && n >= at.firstLog`, `n > at.log && n > n`),
		"engine", "^TestReaders$",
	},
	{
		"follow/changes of the catalog not noticed", "engine/internal/store", "Store.unchanged",
		never(`err == nil && now != txid`),
		"engine", "^TestFollow$",
	},
	{
		"follow/tombstones of an older state kept", "engine/internal/store", "Store.adopt",
		drop(`db.current, db.resting, db.active, db.seq = fresh.current, nil, fresh.active, fresh.seq`),
		"engine", "^TestReaders$",
	},
}
