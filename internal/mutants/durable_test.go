package mutants

// durableMutants are mistakes in the handling of failures: in what is discarded, accepted or
// reported afterwards.
var durableMutants = []mutant{
	{
		name: "write/taken after the catalog has failed", in: "engine", decl: "Store.Writable",
		edit:  never(`err != nil`),
		tests: "engine", run: "^TestFailedCatalogPoisons$",
	},
	{
		name: "compaction/merged tables never removed", in: "engine", decl: "Store.publishCompaction",
		edit:  swap(`p.obsolete.Store(true)`, `p.obsolete.Store(false)`),
		tests: "engine", run: "^TestMergedTablesAreRemoved$",
	},
	{
		name: "ingest/taken without being verified", in: "engine", decl: "Store.openForeign",
		edit:  skip("Verify"),
		tests: "engine", run: "^TestDamagedIngest$",
	},
	{
		name: "log/short write without an error overlooked", in: "engine", decl: "write",
		edit:  never(`n < len(p)`),
		tests: "engine/internal/wal", run: "^TestShortWrite$",
	},
	{
		name: "compaction/expired one microsecond early", in: "compaction", decl: "Table.gone",
		edit:  swap(`t.MaxTime < before`, `t.MaxTime <= before`),
		tests: "compaction", run: "^TestPickAtExpiry$",
	},
	{
		name: "merge/order of equal keys turned around", in: "internal/table", decl: "mergePairs",
		edit:  swap(`bits.Sub64(y, x, 0)`, `bits.Sub64(x, y, 0); less = 1 - less`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/fingerprints of documents left out stay", in: "internal/table", decl: "numbering.endGroup",
		edit:  never(`n.any && !n.kept`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/IDs of documents left out stay", in: "internal/table", decl: "merger.idPiece",
		edit:  swap(`!in.dead.has(doc)`, `true`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "order of IDs/a document out of order not noticed", in: "internal/table", decl: "verifier.checkIDOrder",
		edit:  never(`bytes.Compare(c.ID, last) <= 0`),
		tests: "internal/table", run: "^TestIDOrderRefused$",
	},
	{
		name: "order of IDs/padded heads compared as they are", in: "internal/ordered", decl: "sortStrings",
		edit:  never(`slices.ContainsFunc(group, func(i uint32) bool { return len(at(i)) < skip+8 })`),
		tests: "internal/ordered", run: "^TestSortStrings$",
	},
	{
		name: "merge/documents left out stay in the order of IDs", in: "internal/table", decl: "merger.name",
		edit:  never(`v&deadFlag != 0`),
		tests: "internal/table", run: "^TestIDOrder$",
	},
	{
		name: "merge/records not laid in the order of IDs", in: "internal/table", decl: "merger.layRecords",
		edit:  swap(`in.Place(next[i])`, `in.Place(uint32(at))`),
		tests: "internal/table", run: "^TestIDOrder$",
	},
	{
		name: "merge/sequence numbers not shifted", in: "internal/table", decl: "merger.mergeSeqs",
		edit:  drop(`s.Add = in.SeqShift`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/records of a block written anew not counted", in: "internal/table", decl: "mergeInput.placeInResult",
		edit:  swap(`in.living.count(first, record-first)`, `record - first`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/a key of two pieces occurs twice", in: "internal/table", decl: "merger.mergeRun",
		edit:  never(`any && len(keys) > 0 && keys[0] == last`),
		tests: "internal/table", run: "^TestMergeGoneRepeated$",
	},
	{
		name: "merge/bound of a rotated stream off by one", in: "internal/table", decl: "Stream.lowerBound",
		edit:  never(`s.Rotate > 0 && s.Lead < bound&(1<<uint(s.Rotate)-1)`),
		tests: "internal/table", run: "^TestMergeRotated$",
	},
	{
		name: "merge/documents left out not passed over", in: "internal/table", decl: "docsChunk.old",
		edit:  swap(`d.has(c.next[i])`, `false`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/columns of documents left out not passed over", in: "internal/table", decl: "readColumn",
		edit:  swap(`!dead.has(uint32(b<<keyrun.BlockShift + j))`, `true`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/a number far away taken for a near one", in: "internal/table", decl: "Mapping.inGroup",
		edit:  never(`g.place == inFar`),
		tests: "internal/table/internal/merge", run: "^TestMapping$",
	},
	{
		name: "merge/blocks of records that do not follow each other not noticed", in: "internal/table", decl: "Records.BlockRecords",
		edit:  never(`e.count-1 >= MaxBlockRecords || uint64(e.first)+uint64(e.count) != uint64(d.firstOf(b+1)) || b == 0 && e.first != 0`),
		tests: "internal/table", run: "^TestMergeForged$",
	},
	{
		name: "merge/a fingerprint left out stays in a later piece", in: "internal/table", decl: "merger.goneKeys",
		edit:  swap(`pieces[from-1].Limit - 1`, `pieces[from-1].Limit`),
		tests: "internal/table", run: "^TestMergeGoneRepeated$",
	},
	{
		name: "merge/dead bytes of a block not weighed", in: "internal/table", decl: "merger.worthCopying",
		edit:  swap(`living*wholeShares >= all*liveShare`, `true`),
		tests: "internal/table", run: "^TestMergeDeadRecords$",
	},
	{
		name: "merge/records of no document beyond their numbers", in: "internal/table", decl: "merger.copyBlock",
		edit:  drop(`m.carried += n - alive`),
		tests: "internal/table", run: "^TestMergeSpareRecords$",
	},
	{
		name: "merge/records of an input that has lost some before taken for all alive", in: "internal/table", decl: "merger.mergePlaces",
		edit:  swap(`m.inputs[0].dead == nil`, `true`),
		tests: "internal/table", run: "^TestMerge$",
	},
	{
		name: "merge/a rank of two documents not noticed", in: "internal/table", decl: "mergeInput.findDeadRanks",
		edit:  never(`in.deadRanks.has(uint32(rank))`),
		tests: "internal/table", run: "^TestMergeRepeated$",
	},
	{
		name: "merge/documents of the last chunk not asked for", in: "internal/table", decl: "chunkOf",
		edit:  swap(`uint32(min(uint64(i+1)*docChunk, uint64(n)))`, `min(uint32(i+1)*docChunk, n)`),
		tests: "internal/table", run: "^TestChunkOf$",
	},
	{
		name: "merge/fingerprints left out counted", in: "internal/table", decl: "mergeInput.findDead",
		edit:  drop(`in.keptFP -= dead.count(0, in.keptFP)`),
		tests: "internal/table", run: "^TestFindDead$",
	},
	{
		name: "merge/end of the context not noticed among records", in: "internal/table", decl: "merger.copyRecords",
		edit:  never(`b%64 == 0 && m.ctx.Err() != nil`),
		tests: "internal/table", run: "^TestMergeCancelledInRecords$",
	},
	{
		name: "merge/records added before a copied block after it", in: "internal/table", decl: "RecordsWriter.AddBlock",
		edit:  drop(`w.EndBlock()`),
		tests: "internal/table", run: "^TestAddBlock$",
	},
	{
		name: "pack/texts of deleted documents stay", in: "engine", decl: "Store.packFile",
		edit:  swap(`note, true`, `note, false`),
		tests: "engine", run: "^TestPackErases$",
	},
	{
		name: "compact/texts of deleted documents stay", in: "engine", decl: "Store.Compact",
		edit:  swap(`db.merging(m, true, progress)`, `db.merging(m, false, progress)`),
		tests: "engine", run: "^TestPackErases$",
	},
	{
		name: "compact/a table that only has such texts is passed over", in: "engine", decl: "Store.Groups",
		edit:  swap(`!dead`, `!dead || true`),
		tests: "engine", run: "^TestPackErases$",
	},
	{
		name: "check/an ID in two tables overlooked", in: "engine", decl: "duplicateIDs",
		edit:  skip("EachCommonID"),
		tests: "engine", run: "^TestIDAliveTwice$",
	},
	{
		name: "table/every other pair of keys not compared", in: "internal/kernel", decl: "ascendingGo",
		edit:  drop(`|two`),
		tests: "internal/kernel", run: "^TestAscending$",
	},
	{
		name: "near/leads of a block that was not read taken for empty", in: "internal/table/internal/keyrun", decl: "Run.LocateLead",
		edit:  swap(`first != 0 && end != 0 && p.To-p.From <= most`, `p.To-p.From <= most`),
		tests: "internal/table/internal/hamming", run: "^TestNear(EqualsBruteForce|NoticesDamage)$",
	},
	{
		name: "table/last keys of a block not compared", in: "internal/kernel", decl: "ascendingAsm",
		edit:  drop(` && ascendAVX512(&keys[len(keys)-9], 1)`),
		tests: "internal/kernel", run: "^TestAscending$",
	},
	{
		name: "table/order taken for known once the places are", in: "internal/table", decl: "Run.CheckKeys",
		edit:  swap(`r.know(b, parts)`, `r.entries[b].info.Or(wholeBits | checkedBit | orderedBit)`),
		tests: "internal/table/internal/keyrun", run: "^TestKeyRunForgedKeys$",
	},
	{
		name: "table/parts of a block not compared with their checksums", in: "internal/table", decl: "Run.checkParts",
		edit:  never(`got != want`),
		tests: "internal/table/internal/keyrun", run: "^TestPartsOfDamagedBlock$",
	},
	{
		name: "table/last part of a range of keys not checked", in: "internal/table", decl: "partsOf",
		edit:  swap(`(hi - 1) >> partShift`, `lo >> partShift`),
		tests: "internal/table/internal/keyrun", run: "^TestPartsOfDamagedBlock$",
	},
	{
		name: "table/whole block taken for known once a part is", in: "internal/table", decl: "Dir.know",
		edit:  always(`(d.entries[b].info.Or(bits)|bits)&wholeBits == wholeBits`),
		tests: "internal/table/internal/keyrun", run: "^TestKnownParts$",
	},
	{
		name: "table/order of keys inside a block not checked", in: "internal/table", decl: "Dir.checkAscent",
		edit:  never(`i > 0`),
		tests: "internal/table", run: "^TestKeyRunForgedKeys$",
	},
	{
		name: "table/first key of a block not compared with the directory", in: "internal/table", decl: "Dir.checkFirst",
		edit:  never(`key != d.Base(b)`),
		tests: "internal/table", run: "^TestKeyRunForgedKeys$",
	},
	{
		name: "table/last key of a block not compared with the next block's first", in: "internal/table", decl: "Dir.checkLast",
		edit:  swap(`last > limit || last != limit`, `last != limit`),
		tests: "internal/table", run: "^TestKeyRunForgedKeys$",
	},
	{
		name: "table/last key of a run not compared with the directory", in: "internal/table", decl: "Dir.checkLast",
		edit:  drop(`|| last != limit && d.keys && b+1 == d.blocks`),
		tests: "internal/table", run: "^TestKeyRunForgedKeys$",
	},
	{
		name: "table/document under a hash not compared with their number", in: "internal/table", decl: "Reader.docAt",
		edit:  never(`err == nil && v >= uint64(r.info.Docs)`),
		tests: "internal/table", run: "^TestForgedDocument$",
	},
	{
		name: "table/ID under a hash not compared", in: "internal/table", decl: "Reader.lookup",
		edit:  always(`bytes.Equal(name, id)`),
		tests: "internal/table", run: "^TestCollidingIDs$",
	},
	{
		name: "table/common IDs by their hashes alone", in: "internal/table", decl: "ifSameID",
		edit:  swap(`bytes.Equal(idA, idB)`, `(len(idA) > 0 || bytes.Equal(idA, idB))`),
		tests: "internal/table", run: "^TestCollidingIDs$",
	},
	{
		name: "table/common IDs of the first of two equal hashes alone", in: "internal/table", decl: "commonFinder.inBlock",
		edit:  swap(`j < len(f.keys) && f.keys[j] == key`, `j == at && j < len(f.keys) && f.keys[j] == key`),
		tests: "internal/table/internal/keyrun", run: "^TestEachCommon$",
	},
	{
		name: "table/rank of two documents not noticed", in: "internal/table", decl: "verifier.checkOnce",
		edit:  never(`seen[value>>6]&bit != 0`),
		tests: "internal/table", run: "^TestVerifyCompares$",
	},
	{
		name: "table/directory without its section taken", in: "internal/table", decl: "Reader.openSections",
		edit:  never(`!seen[[2]uint16{uint16(kind), s.Index}]`),
		tests: "internal/table", run: "^TestSectionsMissing$",
	},
	{
		name: "table/first documents without sketches forgotten", in: "internal/table", decl: "Writer.begin",
		edit:  swap(`w.earlier + w.before`, `w.before`),
		tests: "internal/table", run: "^TestLateSketches$",
	},
	{
		name: "table/records beyond the last block not noticed", in: "internal/table", decl: "verifier.checkRecords",
		edit:  never(`v.recordBlocks() > 0 && w.record != v.t.Records.Len()`),
		tests: "internal/table", run: "^TestPlacesRefused$",
	},
	{
		name: "table/blocks of records that overlap are read", in: "internal/table", decl: "Records.extent",
		edit:  never(`prev.offset > e.offset || uint64(prev.stored) > e.offset-prev.offset`),
		tests: "internal/table", run: "^TestOverlappingBlocks$",
	},
	{
		name: "table/quantiles too many not noticed", in: "internal/table", decl: "verifier.checkTimes",
		edit:  never(`len(quantiles) != len(want)`),
		tests: "internal/table", run: "^TestOrderRefused$",
	},
	{
		name: "table/cursor does not go back in a block", in: "internal/table", decl: "RecordCursor.Get",
		edit:  never(`at < blk.passed`),
		tests: "internal/table/internal/blobs", run: "^TestRecords$",
	},
	{
		name: "flush/deletions published before their log is", in: "engine", decl: "Store.publishFlush",
		edit:  swap(`if dead, _ := p.Dead.Recent(m.MaxSeq)`, `if dead, _ := p.Dead.Recent(view.Latest)`),
		tests: "engine", run: crashes,
	},
	{
		name: "flush/what a load replaced meanwhile comes back", in: "engine", decl: "Store.publishFlush",
		edit:  never(`d.gone.Load()`),
		tests: "engine", run: crashes,
	},
	{
		name: "flush/a log too many is given up", in: "engine", decl: "Store.publishFlush",
		edit:  swap(`m.Logs[len(m.Logs)-1] + 1`, `m.Logs[len(m.Logs)-1] + 2`),
		tests: "engine", run: crashes,
	},
	{
		name: "replay/first write after a flush skipped", in: "engine", decl: "replay.write",
		edit:  swap(`rec.doc.Seq > r.flushed`, `rec.doc.Seq > r.flushed+1`),
		tests: "engine", run: crashes,
	},
	{
		name: "share/logs of a dead process not repaired", in: "engine", decl: "Store.beginTurn",
		edit:  swap(`err = db.repairLogs()`, `_ = db`),
		tests: "engine", run: "^TestSharedDeath$",
	},
	{
		name: "share/frames left in memory", in: "engine", decl: "Store.leaveLogsLocked",
		edit:  swap(`w.Flush(at.end)`, `error(nil)`),
		tests: "engine", run: "^TestShared",
	},
	{
		name: "share/writes of others not read", in: "engine", decl: "Store.beginTurn",
		edit:  swap(`err = db.readNew()`, `_ = db.readNew`),
		tests: "engine", run: "^TestShared",
	},
	{
		name: "share/reads without the writes of others", in: "engine", decl: "Store.follow",
		edit:  swap(`s == nil ||`, `true ||`),
		tests: "engine", run: "^TestSharedDeath$",
	},
	{
		name: "share/torn frame of a dead process stays", in: "engine", decl: "Store.attachLocked",
		edit:  swap(`info.Size > at.end`, `info.Size < at.end`),
		tests: "engine", run: "^TestSharedDeath$",
	},
	{
		name: "share/merge of tables that are gone", in: "engine", decl: "Store.publishMerge",
		edit:  swap(`!db.haveAll(in)`, `false`),
		tests: "engine", run: "^TestShared",
	},
	{
		name: "replay/numbers of writes given out again", in: "engine", decl: "replay.write",
		edit:  swap(`r.first, r.seq = cmp.Or(r.first, rec.doc.Seq), max(r.seq, rec.doc.Seq)`, `r.first = cmp.Or(r.first, rec.doc.Seq)`),
		tests: "engine", run: crashes,
	},
	{
		name: "open/numbers of logs given out again", in: "engine", decl: "Store.tidy",
		edit:  swap(`n, ok := files.Number(name, ".wal"); ok { db.nextFile = max(db.nextFile, n+1)`, `n, ok := files.Number(name, ".wal"); ok { _ = n`),
		tests: "engine", run: crashes,
	},
	{
		name: "allow/taken back in memory only", in: "engine", decl: "Store.SetAllowed",
		edit:  drop(`, Unallow: view.CatalogPairs(unallow)`),
		tests: "engine", run: "^TestAllow$",
	},
	{
		name: "catalog/end of the first log that is needed not noted", in: "engine", decl: "live.plan",
		edit:  swap(`end.Number >= p.fixed.firstWAL`, `end.Number > p.fixed.firstWAL`),
		tests: "engine/internal/catalog", run: "^TestClosedMark$",
	},
	{
		name: "flush/only the first log removed", in: "engine", decl: "Store.flush",
		edit:  swap(`range m.Logs {`, `range m.Logs[:1] {`),
		tests: "engine", run: "^TestFlushRemovesAllLogs$",
	},
	{
		name: "flush/table removed that the catalog may list", in: "engine", decl: "Store.flush",
		edit:  swap(`errors.Join(db.fail(err), db.Drop(t))`, `errors.Join(err, db.Drop(t))`),
		tests: "engine", run: "^TestFailedCommitKeepsTable$",
	},
	{
		name: "load/table removed that the catalog may list", in: "engine", decl: "Store.Drop",
		edit:  always(`db.failed.Load() == nil`),
		tests: "engine", run: "^TestFailedCommitKeepsTable$",
	},
	{
		name: "full disk/frames that found no room dropped", in: "engine", decl: "Writer.lead",
		edit:  swap(`append(buf[whole:], w.buf...)`, `w.buf`),
		tests: "engine/internal/wal", run: "^TestFull$",
	},
	{
		name: "full disk/part of a frame left in the log", in: "engine", decl: "Writer.lead",
		edit:  swap(`w.f.Truncate(start+int64(whole)) == nil`, `true`),
		tests: "engine/internal/wal", run: "^TestFull$",
	},
	{
		name: "full disk/whole frames taken back that a reader may have seen", in: "engine", decl: "Writer.lead",
		edit:  swap(`wholeFrames(buf[:n])`, `wholeFrames(buf[:n][:0])`),
		tests: "engine/internal/wal", run: "^TestFull$",
	},
	{
		name: "full disk/end frame left where the log goes on", in: "engine", decl: "Writer.finish",
		edit:  drop(`w.buf = w.buf[:len(w.buf)-frameHeader]`),
		tests: "engine/internal/wal", run: "^TestFull$",
	},
	{
		name: "full disk/log without header left", in: "engine/internal/wal", decl: "Writer.create",
		edit:  swap(`remove(w.fs, w.name) == nil`, `true`),
		tests: "engine/internal/wal", run: "^TestCreateFull$",
	},
	{
		name: "full disk/catalog goes on after it may have changed", in: "engine", decl: "Catalog.unchanged",
		edit:  swap(`m.txid == c.txid`, `m.txid <= c.txid+1`),
		tests: "engine/internal/catalog", run: "^TestFull$",
	},
	{
		name: "full disk/poisons", in: "engine", decl: "Store.fail",
		edit:  never(`vfs.IsNoSpace(err)`),
		tests: "engine", run: "^TestFullContinues$",
	},
	{
		name: "full disk/merges keep their space", in: "engine", decl: "Store.shouldRetry",
		edit:  swap(`db.merges.GiveWay(ctx) > 0 || tries == 0`, `tries == 0`),
		tests: "engine", run: "^TestMergeGivesWay$",
	},
	{
		name: "merge/limit of bytes forgotten", in: "compaction", decl: "Options.fits",
		edit:  swap(`e.bytes <= o.MaxBytes && e.docs`, `e.docs`),
		tests: "compaction", run: "^Test(Data|Bounded)$",
	},
	{
		name: "merge/two tables rewritten at once for space", in: "engine/internal/merges", decl: "Schedule.candidates",
		edit:  swap(`j.Reason == compaction.ReasonDead`, `false`),
		tests: "engine/internal/merges", run: "^TestOneForSpace$",
	},
	{
		name: "close/waits for a merge that lasts longer than expected", in: "engine/internal/merges", decl: "Scheduler.Finish",
		edit:  swap(`g.cancelAll`, `func() {}`),
		tests: "engine/internal/merges", run: "^TestFinish$",
	},
	{
		name: "merge/short-lived processes begin only what they do not finish", in: "engine/internal/merges", decl: "Scheduler.Next",
		edit:  never(`j == nil && most == math.MaxInt64`),
		tests: "engine/internal/merges", run: "^TestShortLived$",
	},
	{
		name: "catalog/new tombstones lost when deltas are folded", in: "engine/internal/catalog", decl: "plan.fold",
		edit:  swap(`more.Clone()`, `roaring.New()`),
		tests: "engine/internal/catalog", run: "^Test(Deltas|ApplyFollowsModel)$",
	},
	{
		name: "catalog/a delta overwrites an earlier one", in: "engine/internal/catalog", decl: "plan.editTombstones",
		edit:  swap(`deltaRecords(table, t.count, dead)`, `deltaRecords(table, 0, dead)`),
		tests: "engine/internal/catalog", run: "^Test(Deltas|ApplyFollowsModel)$",
	},
	{
		name: "catalog/a missing delta is accepted", in: "engine/internal/catalog", decl: "State.decodeTombstones",
		edit:  never(`binary.BigEndian.Uint32(at[8:]) != size.count`),
		tests: "engine/internal/catalog", run: "^TestMissingDelta$",
	},
	{
		name: "flush/only the newest durable tombstones stay", in: "engine/internal/view", decl: "Tombstones.With",
		edit:  swap(`roaring.Or(t.added, dead)`, `dead`),
		tests: "engine/internal/view", run: "^TestTombstones$",
	},
	{
		name: "write/acknowledged before the operating system has it", in: "engine", decl: "Store.waitSafe",
		edit:  swap(`p.log.Flush`, `func(int64) error { return nil }`),
		tests: "engine", run: "^TestUnsyncedWritesSurviveKill$",
	},
}
