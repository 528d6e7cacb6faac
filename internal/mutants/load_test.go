package mutants

// loadMutants are mistakes in how a load makes tables.
var loadMutants = []mutant{
	{
		"load/the first of equal IDs counts", "sstable", "batchOrder.dropEarlier",
		swap(`o.dropped.add(alive[i])`, `o.dropped.add(pos)`),
		"sstable", "^TestBatch$",
	},
	{
		"load/equal hashes taken for equal IDs", "sstable", "batchOrder.dropEarlier",
		swap(`bytes.Equal(o.id(e), o.id(pos))`, `len(o.id(e)) > 0 && bytes.Equal(nil, nil)`),
		"sstable", "^TestBatchOfEqualHashes$",
	},
	{
		"load/fingerprints sorted by their leading bits alone", "sstable", "inOrder",
		swap(`o.sortOthers(ctx, keys, tmp, workers)`, `ctx.Err()`),
		"sstable", "^TestBatch$",
	},
	{
		"load/documents left out keep their ranks", "sstable", "batchOrder.rank",
		always(`o.dropped == nil`),
		"sstable", "^TestBatch$",
	},
	{
		"load/documents left out keep their IDs", "sstable", "BatchWriter.writeBatchIDs",
		never(`b.dropped != nil`),
		"sstable", "^TestBatch$",
	},
	{
		"load/a near-duplicate put before its leader", "engine/internal/loader", "window.gather",
		swap(`w.lead[i] = ends[lead]`, `w.lead[i] = uint32(i)`),
		"engine/internal/loader", "^TestArrange$",
	},
	{
		"load/the fastest level whatever it costs", "sstable", "BatchWriter.sampleLevel",
		never(`fastest > other+other/mostLarger`),
		"sstable", "^TestSampleLevel$",
	},
	{
		"scan/texts read by number", "sstable", "Reader.eachInTextOrder",
		swap(`slices.Sort(order)`, `_ = slices.Sort[[]uint64]`),
		"sstable", "^TestEachInTextOrder$",
	},
	{
		"load/records taken for those of the document's number", "sstable", "BatchWriter.writePlaces",
		swap(`place(doc) == uint64(doc)`, `place(doc) >= 0`),
		"sstable", "^TestBatch$",
	},
	{
		"load/offsets of a part not moved", "sstable", "frameWriter.append",
		swap(`uint64(f.bytes>>3)<<16`, `uint64(0)<<16`),
		"sstable/internal/keyrun", "^TestAppend$",
	},
	{
		"load/a part with keys that are less taken", "sstable", "Writer.Append",
		swap(`first < k.last()`, `first < 0`),
		"sstable/internal/keyrun", "^TestAppendRefuses$",
	},
	{
		"sketches/bits of a byte that two hashes share lost", "minhash", "setLow",
		swap(`pending |= bits << (have & 63)`, `pending = bits << (have & 63)`),
		"minhash", "^TestEncodeDecode$",
	},
	{
		"sketches/the least hot hashes counted wrong", "sstable/internal/sketchidx", "appendLeast",
		swap(`int(*p) < n`, `int(*p)+1 < n`),
		"sstable/internal/sketchidx", "^TestPrefixOrder$",
	},
	{
		"merge/shares of a run in another order", "sstable", "ParallelWriter.take",
		swap(`s := p.handed[0]`, `s := p.handed[len(p.handed)-1]`),
		"sstable/internal/keyrun", "^TestParallelWriter$",
	},
	{
		"merge/an error of a share forgotten", "sstable", "ParallelWriter.Finish",
		swap(`cmp.Or(p.err, err)`, `err`),
		"sstable/internal/keyrun", "^TestParallelWriterErrors$",
	},
	{
		"merge/IDs of a part where the first is", "sstable", "ListWriter.Append",
		swap(`le.Uint64(e)+uint64(len(d.chunk))-uint64(begin)`, `le.Uint64(e)-uint64(begin)`),
		"sstable/internal/blobs", "^TestListAppend$",
	},
	{
		"merge/times sampled from the start of each chunk", "sstable", "timesWriter.sampleOf",
		swap(`first%w.sample.stride`, `0%w.sample.stride`),
		"sstable", "^TestTimesInParts$",
	},
	{
		"editdist/blocks left out too early", "internal/editdist", "band.possible",
		swap(`b.most+slack`, `b.most-64`),
		"internal/editdist", "^TestDistance",
	},
	{
		"editdist/the row above a band forgets a column", "internal/editdist", "kernel.eight",
		swap(`b.above += together`, `b.above += together - 1`),
		"internal/editdist", "^TestTogether$",
	},
	{
		"editdist/rows beyond the pattern counted", "internal/editdist", "Pattern.within",
		never(`r < 64`),
		"internal/editdist", "^TestDistance$",
	},
	{
		"join/a share of a batch left out", "engine", "Snapshot.jaccardBatch",
		swap(`next < shares`, `next < shares-1`),
		"engine", "^TestJaccardBatch$",
	},
	{
		"join/matches that are many forgotten", "engine", "Snapshot.jaccardShare",
		swap(`f.matches = nil`, `f.matches = f.matches[:0]`),
		"engine", "^TestJaccardBatch",
	},
	{
		"join/a document like itself", "cmd/simdb", "joining.lookUp",
		never(`j.self[line] && m.ID == j.queries[line]`),
		"cmd/simdb", "^TestScripts$",
	},
	{
		"load/records of a window noted for others", "engine", "hasher.write",
		swap(`first + uint32(i)`, `first + uint32(i&0) + at`),
		"engine", "^TestLoadSums$",
	},
	{
		"load/tables of a load picked while it goes on", "engine", "Loader.write",
		skip("Reserve"),
		"engine", "^TestLoadMergesOnce$",
	},
	{
		"load/tables of an ended load never merged", "engine", "Loader.merge",
		swap(`l.db.WantMerged(l.fresh[1+n/2:])`, `l.db.Release(l.fresh[1+n/2:])`),
		"engine", "^TestLoadMergesOnce$",
	},
	{
		"load/mark of one source taken for that of another", "engine", "chunk.mark",
		never(`c.last.source != source`),
		"cmd/simdb", "^TestLoadResumesEachFile$",
	},
	{
		"load/a closing database waits for texts", "engine", "Store.start",
		swap(`cancel, ctx.Done()`, `cancel, nil`),
		"engine", "^TestCloseEndsLoad$",
	},
	{
		"load/an ended load leaves its table", "engine", "Loader.write",
		never(`c.drop`),
		"engine", "^TestLoadAborted$",
	},
	{
		"load/tables of others taken for those of the load", "engine", "Loaded.hasAll",
		swap(`l.Seqs[i].First <= first`, `l.Seqs[i].First > 0`),
		"engine/internal/store", "^TestLoadedHasAll$",
	},
	{
		"load/spans of IDs that overlap taken for apart", "engine", "idSpan.apart",
		swap(`s.less(s.greatest, o.least) < 0`, `s.less(s.greatest, o.greatest) < 0`),
		"engine/internal/loader", "^TestLoadedIDs$",
	},
	{
		"load/a count of one kept when all become less", "cmd/simdb/internal/app", "counters.decrement",
		swap(`s.N > 1`, `s.N > 0`),
		"cmd/simdb/internal/app", "^TestCounters$",
	},
	{
		"load/more fingerprints counted than there is room for", "cmd/simdb/internal/app", "counters.add",
		swap(`c.used < candidates`, `c.used <= candidates`),
		"cmd/simdb/internal/app", "^TestCounters$",
	},
	{
		"load/the last limit of control groups counts", "internal/vfs", "groupLimit",
		swap(`n = min(n, limit)`, `n = limit`),
		"internal/vfs", "^TestGroupLimit$",
	},
	{
		"check/a later check's damage reported", "sstable", "Reader.Verify",
		swap(`cmp.Or(errs...)`, `cmp.Or(errs[1:]...)`),
		"sstable", "^TestVerifySideBySide$",
	},
}
