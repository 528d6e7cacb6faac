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
		"log/short write without an error overlooked", "engine", "writeAll",
		never(`n < len(p)`),
		"engine/internal/wal", "^TestShortWrite$",
	},
	{
		"compaction/expired one microsecond early", "compaction", "Pick",
		swap(`t.MaxTime < o.Expired`, `t.MaxTime <= o.Expired`),
		"compaction", "^TestPickAtExpiry$",
	},
	{
		"compaction/order of equal keys turned around", "compaction", "cursors.Less",
		swap(`a.input < b.input`, `a.input > b.input`),
		"compaction", "^TestMergeOrderOfEqualKeys$",
	},
	{
		"table/order of keys inside a block not checked", "sstable", "keyRun.checkSlow",
		never(`keys[i] < keys[i-1]`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/first key of a block not compared with the directory", "sstable", "keyRun.checkSlow",
		never(`keys[0] != first`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a block not compared with the next block's first", "sstable", "keyRun.checkSlow",
		never(`keys[n-1] > limit`),
		"sstable", "^TestKeyRunForgedKeys$",
	},
	{
		"table/last key of a run not compared with the directory", "sstable", "keyRun.checkSlow",
		never(`b+1 == r.blocks && keys[n-1] != limit`),
		"sstable", "^TestKeyRunForgedKeys$",
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
		swap(`seq <= r.flushed`, `seq <= r.flushed+1`),
		"engine", crashes,
	},
	{
		"replay/numbers of writes given out again", "engine", "replay.write",
		swap(`db.seq = max(db.seq, seq)`, `_ = max(db.seq, seq)`),
		"engine", crashes,
	},
	{
		"open/numbers of logs given out again", "engine", "Store.tidy",
		swap(`n, ok := files.Number(name, ".wal"); ok { db.nextFile = max(db.nextFile, n+1)`, `n, ok := files.Number(name, ".wal"); ok { _ = n`),
		"engine", crashes,
	},
	{
		"allow/taken back in memory only", "engine", "Store.editAllowed",
		drop(`, Unallow: catalogPairs(unallow)`),
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
		swap(`t.drop(false)`, `t.drop(true)`),
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"load/table removed that the catalog may list", "engine", "Store.Drop",
		always(`db.failed.Load() == nil`),
		"engine", "^TestFailedCommitKeepsTable$",
	},
	{
		"write/acknowledged before the operating system has it", "engine", "Store.waitSafe",
		swap(`p.log.Flush`, `func(int64) error { return nil }`),
		"engine", "^TestUnsyncedWritesSurviveKill$",
	},
}
