package mutants

// durableMutants are mistakes in what is given up, taken in or told after a failure.
var durableMutants = []mutant{
	{
		"write/taken after the catalog has failed", "engine", "Store.Writable",
		never(`err != nil`),
		"engine", "^TestFailedCatalogPoisons$",
	},
	{
		"compaction/merged tables never removed", "engine", "Store.publishCompaction",
		swap(`p.obsolete.Store(true)`, `p.obsolete.Store(false)`),
		"engine", "^TestMergedTablesAreRemoved$",
	},
	{
		"ingest/taken without being verified", "engine", "Store.openForeign",
		skip("Verify"),
		"engine", "^TestDamagedIngest$",
	},
	{
		"log/short write without an error overlooked", "engine", "write",
		never(`n < len(p)`),
		"engine/internal/wal", "^TestShortWrite$",
	},
	{
		"compaction/expired one microsecond early", "compaction", "Table.gone",
		swap(`t.MaxTime < before`, `t.MaxTime <= before`),
		"compaction", "^TestPickAtExpiry$",
	},
	{
		"merge/order of equal keys turned around", "sstable", "mergePairs",
		swap(`bits.Sub64(y, x, 0)`, `bits.Sub64(x, y, 0); less = 1 - less`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/fingerprints of documents left out stay", "sstable", "numbering.endGroup",
		never(`n.any && !n.kept`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/IDs of documents left out stay", "sstable", "merger.idPiece",
		swap(`!in.dead.has(doc)`, `true`),
		"sstable", "^TestMerge$",
	},
	{
		"order of IDs/a stretch begins with documents of the one before", "sstable", "tableFile.endStretch",
		swap(`w.parts[:0]`, `w.parts[:1]`),
		"sstable", "^TestStoredIDOrder$",
	},
	{
		"order of IDs/a document in another part not noticed", "sstable", "verifier.checkStretch",
		never(`o.divider.Part(id) != int(part)`),
		"sstable", "^TestStoredIDOrderRefused$",
	},
	{
		"merge/sequence numbers not shifted", "sstable", "merger.mergeSeqs",
		drop(`s.Add = in.SeqShift`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/records of a block written anew not counted", "sstable", "mergeInput.placeInResult",
		swap(`in.living.count(first, record-first)`, `record - first`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/a key of two pieces is there twice", "sstable", "merger.mergeRun",
		never(`any && len(keys) > 0 && keys[0] == last`),
		"sstable", "^TestMergeGoneRepeated$",
	},
	{
		"merge/bound of a rotated stream off by one", "sstable", "Stream.lowerBound",
		never(`s.Rotate > 0 && s.Lead < bound&(1<<uint(s.Rotate)-1)`),
		"sstable", "^TestMergeRotated$",
	},
	{
		"merge/documents left out not passed over", "sstable", "docsChunk.old",
		swap(`d.has(c.next[i])`, `false`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/columns of documents left out not passed over", "sstable", "readColumn",
		swap(`!dead.has(uint32(b<<keyrun.BlockShift + j))`, `true`),
		"sstable", "^TestMerge$",
	},
	{
		"merge/a number far away taken for a near one", "sstable", "Mapping.inGroup",
		never(`g.place == inFar`),
		"sstable/internal/merge", "^TestMapping$",
	},
	{
		"merge/blocks of records that do not follow each other not noticed", "sstable", "Records.BlockRecords",
		never(`e.count-1 >= MaxBlockRecords || uint64(e.first)+uint64(e.count) != uint64(d.firstOf(b+1)) || b == 0 && e.first != 0`),
		"sstable", "^TestMergeForged$",
	},
	{
		"merge/a fingerprint left out stays in a later piece", "sstable", "merger.goneKeys",
		swap(`pieces[from-1].Limit - 1`, `pieces[from-1].Limit`),
		"sstable", "^TestMergeGoneRepeated$",
	},
	{
		"merge/dead bytes of a block not weighed", "sstable", "merger.worthCopying",
		swap(`living*wholeShares >= all*liveShare`, `true`),
		"sstable", "^TestMergeDeadRecords$",
	},
	{
		"merge/records of no document beyond their numbers", "sstable", "merger.copyBlock",
		drop(`m.carried += n - alive`),
		"sstable", "^TestMergeSpareRecords$",
	},
	{
		"merge/records of an input that has lost some before taken for all alive", "sstable", "merger.mergePlaces",
		swap(`m.inputs[0].dead == nil`, `true`),
		"sstable", "^TestMergeChain$",
	},
	{
		"merge/a rank of two documents not noticed", "sstable", "mergeInput.findDeadRanks",
		never(`in.deadRanks.has(uint32(rank))`),
		"sstable", "^TestMergeRepeated$",
	},
	{
		"merge/documents of the last chunk not asked for", "sstable", "chunkOf",
		swap(`uint32(min(uint64(i+1)*docChunk, uint64(n)))`, `min(uint32(i+1)*docChunk, n)`),
		"sstable", "^TestChunkOf$",
	},
	{
		"merge/fingerprints left out counted", "sstable", "mergeInput.findDead",
		drop(`in.keptFP -= dead.count(0, in.keptFP)`),
		"sstable", "^TestFindDead$",
	},
	{
		"merge/end of the context not noticed among records", "sstable", "merger.copyRecords",
		never(`b%64 == 0 && m.ctx.Err() != nil`),
		"sstable", "^TestMergeCancelledInRecords$",
	},
	{
		"merge/records added before a copied block after it", "sstable", "RecordsWriter.AddBlock",
		drop(`w.EndBlock()`),
		"sstable", "^TestAddBlock$",
	},
	{
		"pack/texts of deleted documents stay", "engine", "Store.packFile",
		swap(`note, true`, `note, false`),
		"engine", "^TestPackErases$",
	},
	{
		"compact/texts of deleted documents stay", "engine", "Store.Compact",
		swap(`g, true, progress`, `g, false, progress`),
		"engine", "^TestPackErases$",
	},
	{
		"compact/a table that only has such texts is passed over", "engine", "Store.Groups",
		swap(`!dead`, `!dead || true`),
		"engine", "^TestPackErases$",
	},
	{
		"check/an ID in two tables overlooked", "engine", "duplicateIDs",
		skip("EachCommonID"),
		"engine/internal/inspect", "^TestDuplicateIDs$",
	},
	{
		"table/every other pair of keys not compared", "internal/kernel", "ascendingGo",
		drop(`|two`),
		"internal/kernel", "^TestAscending$",
	},
	{
		"table/bytes of the next ID taken for those of a short one", "sstable", "Scan.strings",
		swap(`min(size, 8)`, `min(size|8, 8)`),
		"sstable/internal/blobs", "^TestScan$",
	},
	{
		"table/size of an ID not checked by a scan", "sstable", "Scan.strings",
		drop(`if err := l.checkSize(b, i, start, end); err != nil { return nil, err }`),
		"sstable/internal/blobs", "^TestList(Flipped|Forged)$",
	},
	{
		"table/checksum of IDs not checked by a scan", "sstable", "Scan.Block",
		swap(`err = l.checkSum(b, block)`, `_ = block`),
		"sstable/internal/blobs", "^TestListFlipped$",
	},
	{
		"table/last keys of a block not compared", "internal/kernel", "ascendingAsm",
		drop(` && ascendAVX512(&keys[len(keys)-9], 1)`),
		"internal/kernel", "^TestAscending$",
	},
	{
		"table/order taken for known once the places are", "sstable", "Run.CheckKeys",
		swap(`r.know(b, parts)`, `r.entries[b].info.Or(wholeBits | checkedBit | orderedBit)`),
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"search/leads found in keys of unknown order", "sstable", "Run.CheckHead",
		never(`in.Width > r.leads.shift`),
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"table/parts of a block not compared with their checksums", "sstable", "Run.checkParts",
		never(`got != want`),
		"sstable/internal/keyrun", "^TestPartsOfDamagedBlock$",
	},
	{
		"search/keys of a range compared and not checked", "sstable", "Index.scanRange",
		never(`!known.Keys(lo, hi)`),
		"sstable/internal/hamming", "^TestDamageBesideChecked$",
	},
	{
		"pairs/line of a bucket copied over the end of the one before", "internal/selfjoin", "scatterer.flush",
		swap(`max(begin, s.first[bucket])`, `begin`),
		"internal/selfjoin", "^TestScatter$",
	},
	{
		"table/last part of a range of keys not checked", "sstable", "partsOf",
		swap(`(hi - 1) >> partShift`, `lo >> partShift`),
		"sstable/internal/keyrun", "^TestPartsOfDamagedBlock$",
	},
	{
		"table/whole block taken for known once a part is", "sstable", "Dir.know",
		always(`(d.entries[b].info.Or(bits)|bits)&wholeBits == wholeBits`),
		"sstable/internal/keyrun", "^TestKnownParts$",
	},
	{
		"table/order of keys inside a block not checked", "sstable", "Dir.checkAscent",
		never(`i > 0`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/first key of a block not compared with the directory", "sstable", "Dir.checkFirst",
		never(`key != d.Base(b)`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a block not compared with the next block's first", "sstable", "Dir.checkLast",
		swap(`last > limit || last != limit`, `last != limit`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a run not compared with the directory", "sstable", "Dir.checkLast",
		drop(`|| last != limit && d.keys && b+1 == d.blocks`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/document under a hash not compared with their number", "sstable", "Reader.docAt",
		never(`err == nil && v >= uint64(r.info.Docs)`),
		"sstable", "^TestForgedDocument$",
	},
	{
		"table/ID under a hash not compared", "sstable", "Reader.lookup",
		always(`bytes.Equal(name, id)`),
		"sstable", "^TestCollidingIDs$",
	},
	{
		"table/common IDs by their hashes alone", "sstable", "ifSameID",
		swap(`bytes.Equal(idA, idB)`, `(len(idA) > 0 || bytes.Equal(idA, idB))`),
		"sstable", "^TestCollidingIDs$",
	},
	{
		"table/common IDs of the first of two equal hashes alone", "sstable", "commonFinder.inBlock",
		swap(`j < len(f.keys) && f.keys[j] == key`, `j == at && j < len(f.keys) && f.keys[j] == key`),
		"sstable/internal/keyrun", "^TestEachCommon$",
	},
	{
		"table/rank of two documents not noticed", "sstable", "verifier.checkOnce",
		never(`seen[value>>6]&bit != 0`),
		"sstable", "^TestVerifyCompares$",
	},
	{
		"table/directory without its section taken", "sstable", "Reader.openSections",
		never(`!seen[[2]uint16{uint16(kind), s.Index}]`),
		"sstable", "^TestSectionsMissing$",
	},
	{
		"table/first documents without sketches forgotten", "sstable", "Writer.begin",
		swap(`w.earlier + w.before`, `w.before`),
		"sstable", "^TestLateSketches$",
	},
	{
		"table/records beyond the last block not noticed", "sstable", "verifier.checkRecords",
		never(`v.recordBlocks() > 0 && w.record != v.records.Len()`),
		"sstable", "^TestPlacesRefused$",
	},
	{
		"table/blocks of records that overlap are read", "sstable", "Records.extent",
		never(`prev.offset > e.offset || uint64(prev.stored) > e.offset-prev.offset`),
		"sstable", "^TestOverlappingBlocks$",
	},
	{
		"table/quantiles too many not noticed", "sstable", "verifier.checkTimes",
		never(`len(quantiles) != len(want)`),
		"sstable", "^TestOrderRefused$",
	},
	{
		"table/cursor does not go back in a block", "sstable", "RecordCursor.Get",
		never(`at < blk.passed`),
		"sstable/internal/blobs", "^TestRecords$",
	},
	{
		"flush/deletions published before their log is", "engine", "Store.publishFlush",
		swap(`if dead, _ := p.Dead.UpTo(m.MaxSeq)`, `if dead, _ := p.Dead.UpTo(view.Latest)`),
		"engine", crashes,
	},
	{
		"flush/what a load replaced meanwhile comes back", "engine", "Store.publishFlush",
		never(`d.gone.Load()`),
		"engine", crashes,
	},
	{
		"flush/a log too many is given up", "engine", "Store.publishFlush",
		swap(`m.Logs[len(m.Logs)-1] + 1`, `m.Logs[len(m.Logs)-1] + 2`),
		"engine", crashes,
	},
	{
		"replay/first write after a flush skipped", "engine", "replay.write",
		swap(`rec.doc.Seq > r.flushed`, `rec.doc.Seq > r.flushed+1`),
		"engine", crashes,
	},
	{
		"replay/numbers of writes given out again", "engine", "replay.write",
		swap(`r.seq = max(r.seq, rec.doc.Seq)`, `_ = max(r.seq, rec.doc.Seq)`),
		"engine", crashes,
	},
	{
		"open/numbers of logs given out again", "engine", "Store.tidy",
		swap(`n, ok := files.Number(name, ".wal"); ok { db.nextFile = max(db.nextFile, n+1)`, `n, ok := files.Number(name, ".wal"); ok { _ = n`),
		"engine", crashes,
	},
	{
		"allow/taken back in memory only", "engine", "Store.editAllowed",
		drop(`, Unallow: view.CatalogPairs(unallow)`),
		"engine", "^TestAllow$",
	},
	{
		"catalog/end of the first log that is needed not noted", "engine", "live.plan",
		swap(`end.Number >= p.fixed.firstWAL`, `end.Number > p.fixed.firstWAL`),
		"engine/internal/catalog", "^TestClosedMark$",
	},
	{
		"flush/only the first log removed", "engine", "Store.flush",
		swap(`range m.Logs {`, `range m.Logs[:1] {`),
		"engine", "^TestFlushRemovesAllLogs$",
	},
	{
		"flush/table removed that the catalog may list", "engine", "discard",
		swap(`t.drop(vfs.IsNoRoom(err))`, `t.drop(true)`),
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"load/table removed that the catalog may list", "engine", "Store.Drop",
		always(`db.failed.Load() == nil`),
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"full disk/frames that found no room dropped", "engine", "Writer.lead",
		swap(`append(buf[whole:], w.buf...)`, `w.buf`),
		"engine/internal/wal", "^TestFull$",
	},
	{
		"full disk/part of a frame left in the log", "engine", "Writer.lead",
		swap(`w.f.Truncate(start+int64(whole)) == nil`, `true`),
		"engine/internal/wal", "^TestFull$",
	},
	{
		"full disk/whole frames taken back that a reader may have seen", "engine", "Writer.lead",
		swap(`wholeFrames(buf[:n])`, `wholeFrames(buf[:n][:0])`),
		"engine/internal/wal", "^TestFull$",
	},
	{
		"full disk/end frame left where the log goes on", "engine", "Writer.finish",
		drop(`w.buf = w.buf[:len(w.buf)-frameHeader]`),
		"engine/internal/wal", "^TestFull$",
	},
	{
		"full disk/log without header left", "engine/internal/wal", "Create",
		swap(`remove(fs, name) == nil`, `true`),
		"engine/internal/wal", "^TestCreateFull$",
	},
	{
		"full disk/catalog goes on after it may have changed", "engine", "Catalog.unchanged",
		swap(`m.txid == c.txid`, `m.txid <= c.txid+1`),
		"engine/internal/catalog", "^TestFull$",
	},
	{
		"full disk/poisons", "engine", "Store.fail",
		never(`vfs.IsNoRoom(err)`),
		"engine", "^TestFullGoesOn$",
	},
	{
		"full disk/merges keep their space", "engine", "Store.again",
		swap(`db.merges.GiveWay(ctx) > 0 || tries == 0`, `tries == 0`),
		"engine", "^TestMergeGivesWay$",
	},
	{
		"write/acknowledged before the operating system has it", "engine", "Store.waitSafe",
		swap(`p.log.Flush`, `func(int64) error { return nil }`),
		"engine", "^TestUnsyncedWritesSurviveKill$",
	},
}
