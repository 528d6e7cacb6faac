package mutants

const (
	crashes  = "^TestCrashAtEveryOperation$"
	replayed = "^TestReplay"
	damages  = "^TestDamagedFiles$"
	traced   = "^TestSyncOrder$"
	strays   = "^Test(NoStrayFiles|Leftovers|TableWithoutItsName|PackReplacesNothing|FolderReplaced)$"
	flips    = "^Test(EveryByteFlipped|FlippedBytes|KeyRunNoticesDamage)$"
)

var mutants = []mutant{
	// Durability, and its order.
	{
		name: "log/write not synced", in: "engine", decl: "Writer.lead",
		edit:  skip("Sync"),
		tests: "engine", run: crashes,
	},
	{
		name: "log/new file not synced", in: "engine/internal/wal", decl: "Writer.create",
		edit:  skip("Sync"),
		tests: "engine/internal/wal", run: "^TestCrashEverywhere$",
	},
	{
		name: "log/name not synced", in: "engine/internal/wal", decl: "Writer.create",
		edit:  skip("SyncDir"),
		tests: "engine", run: crashes,
	},
	{
		name: "log/closed without space for its end", in: "engine/internal/wal", decl: "Writer.close",
		edit:  never(`vfs.IsNoSpace(err)`),
		tests: "engine/internal/wal", run: "^TestChainFull$",
	},
	{
		name: "log/frames before the previous log has ended", in: "engine/internal/wal", decl: "Writer.begin",
		edit:  swap(`err := w.before.End()`, `err := error(nil)`),
		tests: "engine/internal/wal", run: "^TestChain",
	},
	{
		name: "log/taken for ended while another call ends it", in: "engine/internal/wal", decl: "Writer.finish",
		edit:  swap(`case w.whole:`, `case w.ended:`),
		tests: "engine/internal/wal", run: "^TestChain",
	},
	{
		name: "replay/newer version of a load not looked for", in: "engine", decl: "replayed.mayBeIn",
		edit:  never(`p.Meta.MaxSeq > w.Doc.Seq`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/document of a merged table not looked for", in: "engine", decl: "replayed.mayBeIn",
		edit:  swap(`return !here && p.Meta.Number > r.Table`, `return false`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/document of a flushed memtable not looked for", in: "engine", decl: "replayed.mayBeIn",
		edit:  swap(`r.Seq <= flushed`, `false`),
		tests: "engine", run: replayed,
	},
	{
		name: "log/cut not synced before its end frame", in: "engine", decl: "cut",
		edit:  drop(`if err := f.Sync(); err != nil { return err }`),
		tests: "engine/internal/wal", run: "^TestC(ut|rash)",
	},
	{
		name: "log/failure not remembered", in: "engine", decl: "Writer.lead",
		edit:  swap(`w.err = fmt.Errorf("write log %s: %w", w.name, err)`, `_ = fmt.Errorf("write log %s: %w", w.name, err); w.synced = target`),
		tests: "engine/internal/wal", run: "Poison",
	},
	{
		name: "write/acknowledged before it is synced", in: "engine", decl: "Store.waitSafe",
		edit:  drop(`wait = p.log.Sync`),
		tests: "engine", run: crashes,
	},
	{
		name: "write/cause of a failure lost", in: "engine", decl: "Store.failLog",
		edit:  swap(`db.fail(fmt.Errorf("writing the log: %w", err))`, `fmt.Errorf("writing the log: %v", err)`),
		tests: "engine", run: "^TestErrorAtEveryOperation$",
	},
	{
		name: "table/not synced", in: "engine", decl: "WriteFile",
		edit:  skip("Sync"),
		tests: "engine", run: crashes,
	},
	{
		name: "table/name not synced", in: "engine/internal/tables", decl: "Folder.Create",
		edit:  skip("SyncDir"),
		tests: "engine", run: crashes,
	},
	{
		name: "table/ingested copy not synced", in: "engine", decl: "Folder.copyTable",
		edit:  skip("Sync"),
		tests: "engine", run: crashes,
	},
	{
		name: "table/ingested name not synced", in: "engine", decl: "Folder.Adopt",
		edit:  skip("SyncDir"),
		tests: "engine", run: crashes,
	},
	{
		name: "pack/name not synced", in: "engine/internal/backup", decl: "Write",
		edit:  skip("SyncDir"),
		tests: "engine", run: crashes,
	},
	{
		name: "pack/written in its place", in: "engine/internal/backup", decl: "Write",
		edit:  swap(`tempName(path)`, `path`),
		tests: "engine", run: crashes,
	},
	{
		name: "catalog/name not synced", in: "engine/internal/catalog", decl: "Complete",
		edit:  skip("SyncDir"),
		tests: "engine/internal/catalog", run: "^TestCrashEverywhere$",
	},
	{
		name: "catalog/failure not remembered", in: "engine", decl: "Catalog.Apply",
		edit:  swap(`c.err = err; return c.err`, `return err`),
		tests: "engine/internal/catalog", run: "^TestFailedCommitPoisons$",
	},
	{
		name: "database/its own name not synced", in: "engine", decl: "makeFolder",
		edit:  drop(`{filepath.Dir(path), true}`),
		tests: "engine", run: crashes,
	},
	{
		name: "database/names of its parents not synced", in: "engine", decl: "makeFolder",
		edit:  swap(`names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})`, `_ = errors.Is(err, fs.ErrNotExist)`),
		tests: "engine", run: crashes,
	},
	{
		name: "database/parents that were found taken for durable", in: "engine", decl: "makeFolder",
		edit:  swap(`names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})`, `names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)}); if err == nil { names = names[:len(names)-1] }`),
		tests: "engine", run: "^TestNewFolders$",
	},
	{
		name: "disk/names not synced", in: "internal/vfs", decl: "disk.SyncDir",
		edit:  skip("syncDir"),
		tests: "engine", run: traced,
	},
	{
		name: "disk/files not synced", in: "internal/vfs", decl: "syncFile",
		edit:  skip("retryEINTR"),
		tests: "engine", run: traced,
	},
	{
		name: "disk/transactions of the catalog not synced", in: "engine", decl: "boltOptions",
		edit:  swap(`NoFreelistSync: true`, `NoFreelistSync: true, NoSync: true`),
		tests: "engine", run: traced,
	},
	{
		name: "disk/files emptied that are there", in: "internal/vfs", decl: "disk.Create",
		edit:  swap(`O_EXCL`, `O_TRUNC`),
		tests: "internal/vfs", run: "^TestNothingIsReplaced$",
	},
	{
		name: "table/never gets its name", in: "engine", decl: "Folder.Name",
		edit:  skip("Rename"),
		tests: "engine", run: strays,
	},
	{
		name: "open/table without its name not found", in: "engine", decl: "Store.openListed",
		edit:  swap(`_, e := db.Dir.Stat(temp); e != nil`, `true`),
		tests: "engine", run: strays + "|" + crashes,
	},
	{
		name: "open/unfinished tables stay", in: "engine", decl: "Store.tidy",
		edit:  swap(`isNew || name`, `isNew && n == 0 || name`),
		tests: "engine", run: strays,
	},
	{
		name: "open/unfinished catalog stays", in: "engine", decl: "Store.tidy",
		edit:  never(`name == files.NewCatalog && !db.building`),
		tests: "engine", run: strays,
	},
	{
		name: "open/whole table of unknown origin removed", in: "engine", decl: "Store.tidy",
		edit:  never(`n >= s.NextFile && db.Tables.IsTable(name)`),
		tests: "engine", run: strays,
	},
	{
		name: "pack/replaces what came meanwhile", in: "engine/internal/backup", decl: "Write",
		edit:  swap(`RenameNew`, `Rename`),
		tests: "engine", run: strays,
	},
	{
		name: "pack/fixed temporary name", in: "engine/internal/backup", decl: "Write",
		edit:  swap(`tempName(path)`, `path + ".tmp"`),
		tests: "engine", run: strays,
	},
	{
		name: "pack/unfinished file stays", in: "engine/internal/backup", decl: "Write",
		edit:  swap(`errors.Join(err, files.RemoveIfThere(fsys, temp))`, `errors.Join(err, files.RemoveIfThere(fsys, temp+"x"))`),
		tests: "engine", run: strays,
	},
	{
		name: "flush/log removed before the table is published", in: "engine", decl: "Store.flush",
		edit:  swap(`if err := db.publishFlush(m, t, docs); err != nil {`, `for _, n := range m.Logs { db.Dir.Remove(files.LogName(n)) }; if err := db.publishFlush(m, t, docs); err != nil {`),
		tests: "engine", run: crashes,
	},
	{
		name: "flush/deletions not published", in: "engine", decl: "Store.publishFlush",
		edit:  swap(`edit.AddTombstones[p.Meta.Number] = dead`, `_ = dead`),
		tests: "engine", run: crashes,
	},
	{
		name: "compaction/tables removed before the merged one is published", in: "engine", decl: "Store.publishCompaction",
		edit:  swap(`edit.DropTables = append(edit.DropTables, p.Meta.Number)`, `edit.DropTables = append(edit.DropTables, p.Meta.Number); db.Dir.Remove(p.Name)`),
		tests: "engine", run: crashes,
	},
	{
		name: "compaction/published before what it gives up is safe", in: "engine", decl: "Store.publishMerge",
		edit:  skip("syncLog"),
		tests: "engine", run: crashes,
	},
	{
		name: "load/published before what it gives up is safe", in: "engine", decl: "publication.run",
		edit:  skip("sync"),
		tests: "engine", run: crashes,
	},
	{
		name: "load/replaced documents not deleted", in: "engine", decl: "publication.kill",
		edit:  swap(`p.killed[old.part].Add(old.doc)`, `_ = old.doc`),
		tests: "engine", run: crashes,
	},
	{
		name: "load/mark not published with its table", in: "engine", decl: "publication.enter",
		edit:  drop(`SetMarks: p.marks,`),
		tests: "engine", run: crashes,
	},
	{
		name: "catalog/next file number not kept", in: "engine", decl: "Store.editCatalog",
		edit:  swap(`e.NextFile, e.HistoryLimit = new(db.nextFileLocked()), db.historyLimit()`, `e.HistoryLimit = db.historyLimit()`),
		tests: "engine", run: crashes,
	},
	{
		name: "catalog/last sequence number not kept", in: "engine", decl: "Store.editCatalog",
		edit:  swap(`p.Meta.MaxSeq`, `0*number`),
		tests: "engine", run: "^TestVersionsNeverRepeat$",
	},
	{
		name: "backup/last sequence number of dropped tables lost", in: "engine", decl: "Store.freeze",
		edit:  drop(`LastSeq: db.seq,`),
		tests: "engine", run: "^TestVersionsNeverRepeat$",
	},
	{
		name: "replay/flushed although an older version may be in a damaged table", in: "engine", decl: "Store.flush",
		edit:  drop(`if err := m.Cur.Doubt.Older; err != nil { return err }`),
		tests: "engine", run: "^TestDamagedSections$",
	},
	{
		name: "replay/shown although a newer version may be in a damaged table", in: "engine", decl: "replayed.unknown",
		edit:  never(`p.Meta.MaxSeq > w.Doc.Seq`),
		tests: "engine", run: "^TestOvertakenByDamaged$",
	},
	{
		name: "flush/its logs stay needed", in: "engine", decl: "Store.publishFlush",
		edit:  drop(`edit.FirstWAL = new(m.Logs[len(m.Logs)-1] + 1)`),
		tests: "engine", run: crashes,
	},
	// Recovery.
	{
		name: "replay/older versions stay", in: "engine", decl: "Store.killOlder",
		edit:  swap(`s.part.Dead.Kill(s.doc, w.Doc.Seq)`, `_ = s.doc`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/last writes left out", in: "engine", decl: "replay.run",
		edit:  swap(`err = r.apply()`, `err = nil`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/IDs of one write not looked up", in: "engine", decl: "inShares",
		edit:  swap(`work(n*i/shares`, `work(n*i/shares+20*i`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/damage that a lookup finds overlooked", in: "engine", decl: "inShares",
		edit:  skip("Each"),
		tests: "engine", run: replayed,
	},
	{
		name: "log/appended during an fsync and taken for durable", in: "engine", decl: "Writer.lead",
		edit:  swap(`w.synced = target`, `w.synced = w.end`),
		tests: "engine", run: "^TestCrashBesideWriters$",
	},
	{
		name: "log/cut not synced after its end frame", in: "engine", decl: "cut",
		edit:  swap(`return f.Sync()`, `return nil`),
		tests: "engine/internal/wal", run: "^TestCut",
	},
	{
		name: "log/removed but not durably", in: "engine", decl: "remove",
		edit:  skip("SyncDir"),
		tests: "engine/internal/wal", run: "^TestCut",
	},
	{
		name: "log/predecessor not named", in: "engine", decl: "Store.startLogLocked",
		edit:  swap(`db.newestLog.Number`, `0`),
		tests: "engine", run: "^TestMissingLogs$",
	},
	{
		name: "replay/first of several logs skipped", in: "engine", decl: "Store.replayLogs",
		edit:  swap(`r := replay{`, `if i == 0 && !last { continue }; r := replay{`),
		tests: "engine", run: crashes,
	},
	{
		name: "replay/newer version overwritten", in: "engine", decl: "replay.apply",
		edit:  always(`!newer`),
		tests: "engine", run: replayed,
	},
	{
		name: "replay/missing log overlooked", in: "engine", decl: "replay.start",
		edit:  never(`before != r.before && before >= r.firstLog`),
		tests: "engine", run: "^TestMissingLogs$",
	},
	{
		name: "log/end frame that was found taken for durable", in: "engine", decl: "Cut",
		edit:  skip("SyncFile"),
		tests: "engine", run: crashes + "|^TestErrorAtEveryOperation$",
	},
	{
		name: "catalog/what was found taken for durable", in: "engine", decl: "Open",
		edit:  skip("SyncFile"),
		tests: "engine/internal/catalog", run: "^TestOpenMakesDurable$",
	},
	{
		name: "open/names that were found taken for durable", in: "engine", decl: "Store.tidy",
		edit:  skip("SyncDir"),
		tests: "engine", run: "^TestKilledThenCut$",
	},
	{
		name: "log/one that recovery removed named as predecessor", in: "engine", decl: "Store.replayLogs",
		edit:  swap(`size > 0`, `size >= 0`),
		tests: "engine", run: crashes,
	},
	{
		name: "log/one that recovery removed is the newest", in: "engine", decl: "Store.tidy",
		edit:  swap(`if n >= s.FirstWAL {`, `defer func() { db.newestLog.Number = max(db.newestLog.Number, n) }(); if n >= s.FirstWAL {`),
		tests: "engine", run: crashes,
	},
	{
		name: "close/end of the log not noted", in: "engine", decl: "Store.Close",
		edit:  skip("markClosed"),
		tests: "engine", run: damages,
	},
	{
		name: "close/end of the log noted before it has one", in: "engine", decl: "Store.Close",
		edit:  swap(`if err = db.closeLogsLocked(); err == nil { db.markClosed() }`, `db.markClosed(); err = db.closeLogsLocked()`),
		tests: "engine", run: crashes + "|" + damages,
	},
	{
		name: "close/noted although the log failed", in: "engine", decl: "Store.Close",
		edit:  swap(`if err = db.closeLogsLocked(); err == nil { db.markClosed() }`, `err = db.closeLogsLocked(); db.markClosed()`),
		tests: "engine", run: "^TestErrorAtEveryOperation$",
	},
	{
		name: "close/size of the log not noted", in: "engine", decl: "Store.closeLogsLocked",
		edit:  drop(`db.newestLog.Size = db.newest.Size()`),
		tests: "engine", run: crashes + "|" + damages,
	},
	{
		name: "replay/log missing since a clean close overlooked", in: "engine", decl: "Store.replayLogs",
		edit:  never(`n > 0`),
		tests: "engine", run: damages,
	},
	{
		name: "replay/shorter log of a clean close overlooked", in: "engine", decl: "Store.replayLogs",
		edit:  never(`number == s.Closed.Number && res.End != s.Closed.Size`),
		tests: "engine", run: damages + "|^TestOlderLog$",
	},
	{
		name: "replay/torn end not cut", in: "engine", decl: "Store.replayLogs",
		edit:  swap(`size, err = wal.Cut(db.Dir, r.name, res)`, `err := error(nil)`),
		tests: "engine", run: crashes,
	},
	// Checks.
	{
		name: "log/checksums of frames not compared", in: "engine", decl: "scanner.frame",
		edit:  never(`frameCRC(s.seed, pos, buf) != binary.LittleEndian.Uint32(buf)`),
		tests: "engine/internal/wal", run: flips,
	},
	{
		name: "catalog/checksums of records not compared", in: "engine", decl: "record.payload",
		edit:  never(`recordCRC(r.key, r.value[crcSize:]) != binary.LittleEndian.Uint32(r.value)`),
		tests: "engine/internal/catalog", run: "Flipped|Every|Damage|Hostile",
	},
	{
		name: "catalog/lost root overlooked", in: "engine", decl: "walker.meta",
		edit:  never(`newer.txid-older.txid != 1`),
		tests: "engine/internal/catalog", run: "^TestLostRootWrite$",
	},
	{
		name: "catalog/checksums of root pages not compared", in: "engine", decl: "walker.metaPage",
		edit:  never(`hash.Sum64() != order.Uint64(body[56:])`),
		tests: "engine/internal/catalog", run: "^TestEveryMetaByte$",
	},
	{
		name: "table/checksums of key runs not compared", in: "internal/table", decl: "Dir.checkSum",
		edit:  never(`got != want`),
		tests: "internal/table", run: flips,
	},
	{
		name: "table/checksums of texts not compared", in: "internal/table", decl: "Records.extent",
		edit:  never(`sumEntry(sum, d.dir.Data[b*RecordsEntry:][:RecordsEntry]) != e.sum`),
		tests: "internal/table", run: flips,
	},
	{
		name: "table/checksums of IDs not compared", in: "internal/table", decl: "List.checkSum",
		edit:  never(`sumEntry(kernel.CRC32C(0, block), entry) != binary.LittleEndian.Uint32(entry[ListEntry-4:])`),
		tests: "internal/table", run: flips,
	},
	{
		name: "table/checksums of bitmaps not compared", in: "internal/table", decl: "bitmaps.check",
		edit:  never(`kernel.CRC32C(0, block) != binary.LittleEndian.Uint32(b.sums[4*i:])`),
		tests: "internal/table", run: flips,
	},
	{
		name: "table/checksum of the directory not compared", in: "internal/table", decl: "findDirectory",
		edit:  never(`le.Uint32(t[12:]) != kernel.CRC32C(0, dir)`),
		tests: "internal/table", run: flips,
	},
	{
		name: "table/swapped file overlooked", in: "engine", decl: "Store.openTable",
		edit:  never(`info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs`),
		tests: "engine", run: "^TestCutFiles$",
	},
	{
		name: "table/unmapped while it is being loaded", in: "internal/table", decl: "Table.Close",
		edit:  drop(`t.loader.Wait()`),
		tests: "internal/table/internal/pages", run: "^TestClose$",
	},
	{
		name: "table/loaded beyond the budget", in: "internal/table", decl: "Table.reserve",
		edit:  never(`loaded.Add(t.size) > t.limits.Budget`),
		tests: "internal/table/internal/pages", run: "^TestBudget$",
	},
	// Notation of fingerprints.
	{
		name: "parquet/pages decompressed to more than they declare", in: "records", decl: "limited",
		edit:  swap(`n > int64(size)`, `n < 0`),
		tests: "records/parquet", run: "^TestBombs$",
	},
	{
		name: "output/format of a file holds behind it", in: "repl", decl: "session.closeOutput",
		edit:  swap(`s.moded`, `format >= 0`),
		tests: "repl", run: "^TestOutputFormat$",
	},
	// Limits of a table, and layouts by size.
	{
		name: "layout/tables of another one refused", in: "engine", decl: "Store.checkParams",
		edit:  swap(`p.Compatible(db.Params)`, `p == db.Params`),
		tests: "engine", run: "^TestMixedLayout",
	},
}
