package mutants

// loadMutants are mistakes in how a load creates tables.
var loadMutants = []mutant{
	{
		name: "load/the first of equal IDs counts", in: "internal/table", decl: "BatchOrder.dropEarlier",
		edit:  swap(`o.dropped.add(alive[i])`, `o.dropped.add(pos)`),
		tests: "internal/table", run: "^TestBatch$",
	},
	{
		name: "load/equal hashes taken for equal IDs", in: "internal/table", decl: "BatchOrder.dropEarlier",
		edit:  swap(`bytes.Equal(o.ID(e), o.ID(pos))`, `len(o.ID(e)) > 0 && bytes.Equal(nil, nil)`),
		tests: "internal/table", run: "^TestBatchOfEqualHashes$",
	},
	{
		name: "load/fingerprints sorted by their leading bits alone", in: "internal/table", decl: "inOrder",
		edit:  swap(`o.sortOthers(ctx, keys, tmp, workers)`, `ctx.Err()`),
		tests: "internal/table", run: "^TestBatch$",
	},
	{
		name: "load/documents left out keep their ranks", in: "internal/table", decl: "batchOrder.rank",
		edit:  always(`o.dropped == nil`),
		tests: "internal/table", run: "^TestBatch$",
	},
	{
		name: "load/documents left out keep their IDs", in: "internal/table", decl: "BatchWriter.writeBatchIDs",
		edit:  never(`b.dropped != nil`),
		tests: "internal/table", run: "^TestBatch$",
	},
	{
		name: "load/records taken for those of the document's number", in: "internal/table", decl: "BatchWriter.writePlaces",
		edit:  swap(`place(doc) == uint64(doc)`, `place(doc) >= 0`),
		tests: "internal/table", run: "^TestBatch$",
	},
	{
		name: "load/offsets of a part not moved", in: "internal/table", decl: "frameWriter.append",
		edit:  swap(`uint64(f.bytes>>3)<<16`, `uint64(0)<<16`),
		tests: "internal/table/internal/keyrun", run: "^TestAppend$",
	},
	{
		name: "load/a part with keys that are less taken", in: "internal/table", decl: "Writer.Append",
		edit:  swap(`first < k.last()`, `first < 0`),
		tests: "internal/table/internal/keyrun", run: "^TestAppendRefuses$",
	},
	{
		name: "merge/shares of a run in another order", in: "internal/table", decl: "ParallelWriter.take",
		edit:  swap(`s := p.handed[0]`, `p.handed[0], p.handed[len(p.handed)-1] = p.handed[len(p.handed)-1], p.handed[0]; s := p.handed[0]`),
		tests: "internal/table/internal/keyrun", run: "^TestParallelWriter$",
	},
	{
		name: "merge/an error of a share forgotten", in: "internal/table", decl: "ParallelWriter.Finish",
		edit:  swap(`cmp.Or(p.err, err)`, `err`),
		tests: "internal/table/internal/keyrun", run: "^TestParallelWriterErrors$",
	},
	{
		name: "merge/IDs of a part where the first is", in: "internal/table", decl: "ListWriter.Append",
		edit:  swap(`le.Uint64(e)+uint64(len(d.chunk))-uint64(begin)`, `le.Uint64(e)-uint64(begin)`),
		tests: "internal/table/internal/blobs", run: "^TestListAppend$",
	},
	{
		name: "merge/times sampled from the start of each chunk", in: "internal/table", decl: "timesWriter.sampleOf",
		edit:  swap(`first%w.sample.stride`, `0%w.sample.stride`),
		tests: "internal/table", run: "^TestTimesInParts$",
	},
	{
		name: "load/records of a window noted for others", in: "engine", decl: "hasher.write",
		edit:  swap(`first + uint32(i)`, `first + uint32(i&0) + at`),
		tests: "engine", run: "^TestLoadSums$",
	},
	{
		name: "load/tables of a load picked while it goes on", in: "engine", decl: "Loader.write",
		edit:  skip("Reserve"),
		tests: "engine", run: "^TestLoadMergesOnce$",
	},
	{
		name: "load/tables of an ended load never merged", in: "engine", decl: "Loader.merge",
		edit:  swap(`l.db.WantMerged(l.fresh[1+n/2:])`, `l.db.Release(l.fresh[1+n/2:])`),
		tests: "engine", run: "^TestLoadMergesOnce$",
	},
	{
		name: "load/mark of one source taken for that of another", in: "engine", decl: "chunk.mark",
		edit:  never(`c.last.source != source`),
		tests: "cmd/simdb", run: "^TestLoadResumesEachFile$",
	},
	{
		name: "load/a closing database waits for texts", in: "engine", decl: "Store.start",
		edit:  swap(`cancel, ctx.Done()`, `cancel, nil`),
		tests: "engine", run: "^TestCloseEndsLoad$",
	},
	{
		name: "load/an ended load leaves its table", in: "engine", decl: "Loader.write",
		edit:  never(`c.drop`),
		tests: "engine", run: "^TestLoadAborted$",
	},
	{
		name: "load/tables of others taken for those of the load", in: "engine", decl: "Loaded.hasAll",
		edit:  swap(`l.Seqs[i].First <= first`, `l.Seqs[i].First > 0`),
		tests: "engine/internal/store", run: "^TestLoadedHasAll$",
	},
	{
		name: "load/spans of IDs that overlap taken for apart", in: "engine", decl: "idSpan.apart",
		edit:  swap(`s.less(s.greatest, o.least) < 0`, `s.less(s.greatest, o.greatest) < 0`),
		tests: "engine/internal/loader", run: "^TestLoadedIDs$",
	},
	{
		name: "load/the last limit of control groups counts", in: "internal/vfs", decl: "groupLimit",
		edit:  swap(`n = min(n, limit)`, `n = limit`),
		tests: "internal/vfs", run: "^TestGroupLimit$",
	},
	{
		name: "check/a later check's damage reported", in: "internal/table", decl: "Reader.Verify",
		edit:  swap(`cmp.Or(errs...)`, `cmp.Or(errs[1:]...)`),
		tests: "internal/table", run: "^TestVerifySideBySide$",
	},
}
