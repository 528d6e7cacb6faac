package mutants

// durableMutants are mistakes in what is given up, taken in or told after a failure.
var durableMutants = []mutant{
	{
		"write/taken after the catalog has failed", "engine/db.go",
		"if err := db.failed.Load(); err != nil {\n\t\treturn fmt", "if err := db.failed.Load(); false {\n\t\treturn fmt",
		"engine", "^TestFailedCatalogPoisons$",
	},
	{
		"compaction/merged tables never removed", "engine/compact.go",
		"p.obsolete.Store(true)", "p.obsolete.Store(false)",
		"engine", "^TestMergedTablesAreRemoved$",
	},
	{
		"ingest/taken without being verified", "engine/pack.go",
		"err = r.Verify(ctx, nil)", "err = nil",
		"engine", "^TestDamagedIngest$",
	},
	{
		"log/short write without an error overlooked", "engine/internal/wal/writer.go",
		"if err == nil && n < len(p) {", "if err == nil && n < 0 {",
		"engine/internal/wal", "^TestShortWrite$",
	},
	{
		"compaction/expired one microsecond early", "compaction/pick.go",
		"t.MaxTime < o.Expired", "t.MaxTime <= o.Expired",
		"compaction", "^TestPickAtExpiry$",
	},
	{
		"compaction/order of equal keys turned around", "compaction/merge.go",
		"return a.input < b.input", "return a.input > b.input",
		"compaction", "^TestMergeOrderOfEqualKeys$",
	},
	{
		"table/order of keys inside a block not checked", "sstable/internal/keyrun/run.go",
		"if keys[i] < keys[i-1] {", "if keys[i] < keys[i-1] && i < 0 {",
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"table/first key of a block not compared with the directory", "sstable/internal/keyrun/run.go",
		"if keys[0] != first {", "if keys[0] != first && n < 0 {",
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a block not compared with the next block's first", "sstable/internal/keyrun/run.go",
		"if keys[n-1] > limit || b+1", "if b+1",
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a run not compared with the directory", "sstable/internal/keyrun/run.go",
		" || b+1 == r.blocks && keys[n-1] != limit {", " {",
		"sstable/internal/keyrun", "^TestKeyRunForgedKeys$",
	},
	{
		"flush/deletions published before their log is", "engine/flush.go",
		"if dead, _ := p.dead.upTo(m.maxSeq); dead", "if dead, _ := p.dead.upTo(latest); dead",
		"engine", crashes,
	},
	{
		"flush/what a load replaced meanwhile comes back", "engine/flush.go",
		"if d.gone.Load() {", "if false && d.gone.Load() {",
		"engine", crashes,
	},
	{
		"flush/a log too many is given up", "engine/flush.go",
		"new(m.logs[len(m.logs)-1] + 1)", "new(m.logs[len(m.logs)-1] + 2)",
		"engine", crashes,
	},
	{
		"replay/first write after a flush skipped", "engine/replay.go",
		"if seq <= r.flushed {", "if seq <= r.flushed+1 {",
		"engine", crashes,
	},
	{
		"replay/numbers of writes given out again", "engine/replay.go",
		"db.seq = max(db.seq, seq)\n", "_ = max(db.seq, seq)\n",
		"engine", crashes,
	},
	{
		"open/numbers of logs given out again", "engine/open.go",
		"fileNumber(name, \".wal\"); ok {\n\t\t\tdb.nextFile = max(db.nextFile, n+1)", "fileNumber(name, \".wal\"); ok {",
		"engine", crashes,
	},
	{
		"allow/taken back in memory only", "engine/allow.go",
		", Unallow: catalogPairs(unallow)}", "}",
		"engine", "^TestAllow$",
	},
	{
		"catalog/end of the first log that is needed not noted", "engine/internal/catalog/edit.go",
		"end.Number >= p.fixed.firstWAL {", "end.Number > p.fixed.firstWAL {",
		"engine/internal/catalog", "^TestClosedMark$",
	},
	{
		"flush/only the first log removed", "engine/flush.go",
		"range m.logs {", "range m.logs[:1] {",
		"engine", "^TestFlushRemovesAllLogs$",
	},
	{
		"flush/table removed that the catalog may list", "engine/flush.go",
		"return t.drop(false)", "return t.drop(true)",
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"load/table removed that the catalog may list", "engine/flush.go",
		"return t.drop(db.failed.Load() == nil)", "return t.drop(true)",
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"write/acknowledged before the operating system has it", "engine/write.go",
		"wait = c.log.Flush", "wait = func(int64) error { return nil }",
		"engine", "^TestUnsyncedWritesSurviveKill$",
	},
}
