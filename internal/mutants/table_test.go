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
	// What is durable, and in which order.
	{
		"log/write not synced", "engine", "Writer.lead",
		skip("Sync"),
		"engine", crashes,
	},
	{
		"log/new file not synced", "engine/internal/wal", "Create",
		skip("Sync"),
		"engine/internal/wal", "^TestCrashEverywhere$",
	},
	{
		"log/name not synced", "engine/internal/wal", "Create",
		skip("SyncDir"),
		"engine", crashes,
	},
	{
		"log/closed at a rotation that finds no room", "engine", "Store.rotateLocked",
		swap(`w.Finish()`, `error(nil)`),
		"engine", "^TestRotationFindsNoRoom$",
	},
	{
		"log/cut not synced before its end frame", "engine", "cut",
		drop(`if err := f.Sync(); err != nil { return err }`),
		"engine/internal/wal", "^TestC(ut|rash)",
	},
	{
		"log/failure not remembered", "engine", "Writer.lead",
		swap(`w.err = fmt.Errorf("write log %s: %w", w.name, err)`, `_ = fmt.Errorf("write log %s: %w", w.name, err); w.synced = target`),
		"engine/internal/wal", "Poison",
	},
	{
		"write/acknowledged before it is synced", "engine", "Store.waitSafe",
		swap(`wait := p.log.Sync`, `wait := p.log.Flush`),
		"engine", crashes,
	},
	{
		"write/cause of a failure lost", "engine", "Store.waitSafe",
		swap(`db.fail(fmt.Errorf("writing the log: %w", err))`, `fmt.Errorf("writing the log: %v", err)`),
		"engine", "^TestErrorAtEveryOperation$",
	},
	{
		"table/not synced", "engine", "WriteFile",
		skip("Sync"),
		"engine", crashes,
	},
	{
		"table/name not synced", "engine/internal/tables", "Folder.Create",
		skip("SyncDir"),
		"engine", crashes,
	},
	{
		"table/ingested copy not synced", "engine", "Folder.copyTable",
		skip("Sync"),
		"engine", crashes,
	},
	{
		"table/ingested name not synced", "engine", "Folder.Adopt",
		skip("SyncDir"),
		"engine", crashes,
	},
	{
		"pack/name not synced", "engine/internal/pack", "Write",
		skip("SyncDir"),
		"engine", crashes,
	},
	{
		"pack/written in its place", "engine/internal/pack", "Write",
		swap(`tempName(path)`, `path`),
		"engine", crashes,
	},
	{
		"catalog/name not synced", "engine", "create",
		skip("SyncDir"),
		"engine/internal/catalog", "^TestCrashEverywhere$",
	},
	{
		"catalog/failure not remembered", "engine", "Catalog.Apply",
		swap(`c.err = err; return c.err`, `return err`),
		"engine/internal/catalog", "^TestFailedCommitPoisons$",
	},
	{
		"database/its own name not synced", "engine", "makeFolder",
		drop(`{filepath.Dir(path), true}`),
		"engine", crashes,
	},
	{
		"database/names of its parents not synced", "engine", "makeFolder",
		swap(`names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})`, `_ = errors.Is(err, fs.ErrNotExist)`),
		"engine", crashes,
	},
	{
		"database/parents that were found taken for durable", "engine", "makeFolder",
		swap(`names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})`, `names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)}); if err == nil { names = names[:len(names)-1] }`),
		"engine", "^TestNewFolders$",
	},
	{
		"disk/names not synced", "internal/vfs", "disk.SyncDir",
		skip("syncDir"),
		"engine", traced,
	},
	{
		"disk/files not synced", "internal/vfs", "syncFile",
		skip("retryEINTR"),
		"engine", traced,
	},
	{
		"disk/transactions of the catalog not synced", "engine", "boltOptions",
		swap(`NoFreelistSync: true`, `NoFreelistSync: true, NoSync: true`),
		"engine", traced,
	},
	{
		"disk/files emptied that are there", "internal/vfs", "disk.Create",
		swap(`O_EXCL`, `O_TRUNC`),
		"internal/vfs", "^TestNothingIsReplaced$",
	},
	{
		"table/never gets its name", "engine", "Folder.Name",
		skip("Rename"),
		"engine", strays,
	},
	{
		"open/table without its name not found", "engine", "Store.openListed",
		swap(`_, e := db.Dir.Stat(temp); e != nil`, `true`),
		"engine", strays + "|" + crashes,
	},
	{
		"open/unfinished tables stay", "engine", "Store.tidy",
		swap(`isNew || name`, `isNew && n == 0 || name`),
		"engine", strays,
	},
	{
		"open/unfinished catalog stays", "engine", "Store.tidy",
		never(`name == files.Catalog+catalog.TempSuffix`),
		"engine", strays,
	},
	{
		"open/whole table of unknown origin removed", "engine", "Store.tidy",
		never(`n >= s.NextFile && db.Tables.IsTable(name)`),
		"engine", strays,
	},
	{
		"pack/replaces what came meanwhile", "engine/internal/pack", "Write",
		swap(`RenameNew`, `Rename`),
		"engine", strays,
	},
	{
		"pack/fixed temporary name", "engine/internal/pack", "Write",
		swap(`tempName(path)`, `path + ".tmp"`),
		"engine", strays,
	},
	{
		"pack/unfinished file stays", "engine/internal/pack", "Write",
		swap(`errors.Join(err, files.RemoveIfThere(fsys, temp))`, `errors.Join(err, files.RemoveIfThere(fsys, temp+"x"))`),
		"engine", strays,
	},
	{
		"flush/log removed before the table is published", "engine", "Store.flush",
		swap(`if err := db.publishFlush(m, t, docs); err != nil {`, `for _, n := range m.Logs { db.Dir.Remove(files.LogName(n)) }; if err := db.publishFlush(m, t, docs); err != nil {`),
		"engine", crashes,
	},
	{
		"flush/deletions not published", "engine", "Store.publishFlush",
		swap(`edit.SetTombstones[p.Meta.Number] = dead`, `_ = dead`),
		"engine", crashes,
	},
	{
		"compaction/tables removed before the merged one is published", "engine", "Store.publishCompaction",
		swap(`edit.DropTables = append(edit.DropTables, p.Meta.Number)`, `edit.DropTables = append(edit.DropTables, p.Meta.Number); db.Dir.Remove(p.Name)`),
		"engine", crashes,
	},
	{
		"compaction/published before what it gives up is safe", "engine", "Store.mergeAndPublish",
		skip("syncLog"),
		"engine", crashes,
	},
	{
		"load/published before what it gives up is safe", "engine", "publication.run",
		skip("syncLogLocked"),
		"engine", crashes,
	},
	{
		"load/replaced documents not deleted", "engine", "publication.resolveOne",
		swap(`p.killed[old.part].Add(old.doc)`, `_ = old.doc`),
		"engine", crashes,
	},
	{
		"load/mark not published with its table", "engine", "publication.enter",
		drop(`SetMarks: p.marks,`),
		"engine", crashes,
	},
	{
		"catalog/next file number not kept", "engine", "Store.editCatalog",
		drop(`e.NextFile = new(db.nextFile)`),
		"engine", crashes,
	},
	{
		"flush/its logs stay needed", "engine", "Store.publishFlush",
		drop(`edit.FirstWAL = new(m.Logs[len(m.Logs)-1] + 1)`),
		"engine", crashes,
	},
	// What recovery does.
	{
		"replay/older versions stay", "engine", "Store.killOlder",
		swap(`s.part.Dead.Kill(s.doc, w.Doc.Seq)`, `_ = s.doc`),
		"engine", replayed,
	},
	{
		"replay/last writes left out", "engine", "replay.run",
		swap(`err = r.apply()`, `err = nil`),
		"engine", replayed,
	},
	{
		"replay/IDs of one write not looked up", "engine", "replay.locate",
		swap(`len(r.writes)*i/shares`, `len(r.writes)*i/shares+20*i`),
		"engine", replayed,
	},
	{
		"replay/damage that a lookup finds overlooked", "engine", "replay.locate",
		swap(`cmp.Or(errs...)`, `cmp.Or(errs[:0]...)`),
		"engine", replayed,
	},
	{
		"log/appended during an fsync and taken for durable", "engine", "Writer.lead",
		swap(`w.synced = target`, `w.synced = w.end`),
		"engine", "^TestCrashBesideWriters$",
	},
	{
		"log/cut not synced after its end frame", "engine", "cut",
		swap(`return f.Sync()`, `return nil`),
		"engine/internal/wal", "^TestCut",
	},
	{
		"log/removed but not durably", "engine", "remove",
		skip("SyncDir"),
		"engine/internal/wal", "^TestCut",
	},
	{
		"log/predecessor not named", "engine", "Store.startLogLocked",
		swap(`db.newestLog.Number`, `0`),
		"engine", "^TestMissingLogs$",
	},
	{
		"replay/first of several logs skipped", "engine", "Store.replayLogs",
		swap(`r := replay{`, `if i == 0 && !last { continue }; r := replay{`),
		"engine", crashes,
	},
	{
		"replay/newer version overwritten", "engine", "replay.apply",
		always(`!newer`),
		"engine", replayed,
	},
	{
		"replay/missing log overlooked", "engine", "replay.start",
		never(`before != r.before && before >= r.firstLog`),
		"engine", "^TestMissingLogs$",
	},
	{
		"log/end frame that was found taken for durable", "engine", "Cut",
		skip("syncLog"),
		"engine", crashes + "|^TestErrorAtEveryOperation$",
	},
	{
		"catalog/what was found taken for durable", "engine", "Open",
		skip("syncFile"),
		"engine/internal/catalog", "^TestOpenMakesDurable$",
	},
	{
		"open/names that were found taken for durable", "engine", "Store.tidy",
		skip("SyncDir"),
		"engine", "^TestKilledThenCut$",
	},
	{
		"log/one that recovery removed named as predecessor", "engine", "Store.replayLogs",
		swap(`size > 0`, `size >= 0`),
		"engine", crashes,
	},
	{
		"log/one that recovery removed is the newest", "engine", "Store.tidy",
		swap(`if n >= s.FirstWAL {`, `defer func() { db.newestLog.Number = max(db.newestLog.Number, n) }(); if n >= s.FirstWAL {`),
		"engine", crashes,
	},
	{
		"close/end of the log not noted", "engine", "Store.Close",
		skip("markClosed"),
		"engine", damages,
	},
	{
		"close/end of the log noted before it has one", "engine", "Store.Close",
		swap(`err := db.closeLogLocked(); if err == nil { db.markClosed() }`, `db.markClosed(); err := db.closeLogLocked()`),
		"engine", crashes + "|" + damages,
	},
	{
		"close/noted although the log failed", "engine", "Store.Close",
		swap(`if err == nil { db.markClosed() }`, `db.markClosed()`),
		"engine", "^TestErrorAtEveryOperation$",
	},
	{
		"close/size of a rotated log not noted", "engine", "Store.rotateLocked",
		drop(`db.newestLog.Size = w.Size()`),
		"engine", crashes + "|" + damages,
	},
	{
		"replay/log missing since a clean close overlooked", "engine", "Store.replayLogs",
		never(`n > 0`),
		"engine", damages,
	},
	{
		"replay/shorter log of a clean close overlooked", "engine", "Store.replayLogs",
		never(`number == s.Closed.Number && res.End != s.Closed.Size`),
		"engine", damages + "|^TestOlderLog$",
	},
	{
		"replay/torn end not cut", "engine", "Store.replayLogs",
		swap(`size, err = wal.Cut(db.Dir, r.name, res)`, `err := error(nil)`),
		"engine", crashes,
	},
	// What is checked.
	{
		"log/checksums of frames not compared", "engine", "scanner.frame",
		never(`frameCRC(s.seed, pos, buf) != binary.LittleEndian.Uint32(buf)`),
		"engine/internal/wal", flips,
	},
	{
		"catalog/checksums of records not compared", "engine", "record.payload",
		never(`recordCRC(r.key, r.value[crcSize:]) != binary.LittleEndian.Uint32(r.value)`),
		"engine/internal/catalog", "Flipped|Every|Damage|Hostile",
	},
	{
		"catalog/lost root overlooked", "engine", "walker.meta",
		never(`newer.txid-older.txid != 1`),
		"engine/internal/catalog", "^TestLostRootWrite$",
	},
	{
		"catalog/checksums of root pages not compared", "engine", "walker.metaPage",
		never(`hash.Sum64() != order.Uint64(body[56:])`),
		"engine/internal/catalog", "^TestEveryMetaByte$",
	},
	{
		"table/checksums of key runs not compared", "sstable", "Dir.checkSum",
		never(`got != want`),
		"sstable", flips,
	},
	{
		"table/checksums of texts not compared", "sstable", "Records.extent",
		never(`sumEntry(sum, d.dir.Data[b*RecordsEntry:][:RecordsEntry]) != e.sum`),
		"sstable", flips,
	},
	{
		"table/checksums of IDs not compared", "sstable", "List.checkSum",
		never(`sumEntry(crc.Sum(block), entry) != binary.LittleEndian.Uint32(entry[ListEntry-4:])`),
		"sstable", flips,
	},
	{
		"table/checksums of bitmaps not compared", "sstable", "bitmaps.check",
		never(`crc.Sum(block) != binary.LittleEndian.Uint32(b.sums[4*i:])`),
		"sstable", flips,
	},
	{
		"table/checksum of the directory not compared", "sstable", "findDirectory",
		never(`le.Uint32(t[12:]) != crc.Sum(dir)`),
		"sstable", flips,
	},
	{
		"table/swapped file overlooked", "engine", "Store.openTable",
		never(`info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs`),
		"engine", "^TestCutFiles$",
	},
	{
		"table/unmapped while it is being loaded", "sstable", "Table.Close",
		drop(`t.loader.Wait()`),
		"sstable/internal/pages", "^TestClose$",
	},
	{
		"table/loaded beyond the budget", "sstable", "Table.reserve",
		never(`loaded.Add(t.size) > t.limits.Budget`),
		"sstable/internal/pages", "^TestBudget$",
	},
	{
		"search/unknown places taken for known", "sstable", "permuted.look",
		never(`first == 0 || end == 0`),
		"sstable", "^TestLeadIndex$",
	},
	{
		"search/places cut to 16 bits", "sstable", "keyRun.fillLeads",
		swap(`at < 1<<16`, `at > 0`),
		"sstable", "^TestLeadIndex$",
	},
	{
		"search/blocks of a span not checked", "sstable", "permuted.addSpans",
		never(`!known.All() && !known.Keys(lo, hi)`),
		"sstable", "^TestSpanOfUncheckedBlock$",
	},
	{
		"search/hits of other leads reported twice", "sstable", "Index.accept",
		never(`key < f.first || key > f.last`),
		"sstable", "^TestNear",
	},
	{
		"search/candidates that were not held taken for none", "engine", "AnyMatches",
		swap(`return single(from + left[i])`, `return nil`),
		"engine", "^TestAnyMatchesAmongMany$",
	},
	{
		"search/shingles of a template that a page lacks taken for its own", "engine", "commons.follow",
		swap(`c.add(c.masks[i], -1)`, `c.add(c.masks[i], 0)`),
		"engine", "^TestCrowds$",
	},
	{
		"search/candidates of a batch that do not fit left out", "engine", "EachVerified",
		never(`g.err == nil && b.to < end`),
		"engine", "^TestVerifiedBatches$",
	},
	{
		"query/a predicate bound as another", "query", "Definitions",
		swap(`levenshtein.bind`, `cosine.bind`),
		"query", "^TestPredicateTable$",
	},
	{
		"query/a predicate in the grammar alone", "query", "call",
		swap("`parser:\"@Predicate\"`", "`parser:\"@( Predicate | 'LIKE' )\"`"),
		"query", "^TestKeywords$",
	},
	{
		"query/a statement that writes opened for reading", "query", "statementDefs",
		swap(`word: "FLUSH", shape: syntax.Bare, writes: true`, `word: "FLUSH", shape: syntax.Bare`),
		"cmd/simdb", "^TestMayWrite$",
	},
	{
		"words/a word that begins with a mark cut at the next letter", "internal/token", "Bounds",
		swap(`start, open = i, openKinds[class]`, `start, open = i, min(openKinds[class]+openKind(class/classMark), openSolo)`),
		"internal/token", "^TestSplitWords$",
	},
	{
		"limits/hits as far as the last that is kept dropped", "engine", "Near.takeHits",
		swap(`int(h.Distance) > q.far`, `int(h.Distance) >= q.far && q.Want.First > 0`),
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/too few documents of a group of equal fingerprints", "engine", "pairsLimit.firstIDs",
		swap(`l.n + 1`, `l.n`),
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/only the first page of entries", "engine", "stream.turn",
		swap(`s.page, s.more, err = found.Sorted(ctx)`, `s.page, _, err = found.Sorted(ctx)`),
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/hits held without bound", "engine", "Near.add",
		never(`len(sc.hits) == sc.most`),
		"engine", "^TestMemory$",
	},
	{
		"limits/rows held without bound", "query", "Scope.Hold",
		never(`x.held > x.DB.Memory()`),
		"query", "^TestHold$",
	},
	{
		"limits/a sort goes on after its context", "internal/ordered", "Sort",
		never(`err != nil`),
		"internal/ordered", "^TestRunsAndLimited$",
	},
	// How fingerprints are written.
	{
		"notation/16 digits are decimal", "internal/fptext", "Parse",
		swap(`len(s) == width && n != Decimal`, `len(s) == width && n == Hex`),
		"internal/fptext", "^TestRule$",
	},
	{
		"notation/both in one file accepted", "internal/fptext", "Evidence.Conflict",
		always(`a.place == 0`),
		"internal/fptext", "^TestEvidence$",
	},
	{
		"parquet/pages decompressed to more than they declare", "cmd/simdb", "limited",
		swap(`n > int64(size)`, `n < 0`),
		"cmd/simdb", "^TestBombs$",
	},
	{
		"rows/fingerprints of a statement shown as numbers", "repl/output", "OfStatement",
		swap(`row[i] = Fingerprint(v)`, `row[i] = v`),
		"cmd/simdb", "^TestVerbsAreStatements$",
	},
	{
		"notation/first lines delivered undecided", "cmd/simdb", "File.settle",
		swap(`case !f.seen.Undecided() || all:`, `case all || len(head) > 0:`),
		"cmd/simdb", "^TestBothNotationsFarApart$",
	},
	{
		"list/first row taken for a header", "cmd/simdb", "newSample",
		swap(`i == 0 && !found && !slices.ContainsFunc(cols, beginsWithDigit)`, `i == 0`),
		"cmd/simdb", "^TestLists$",
	},
	{
		"input/ids that look like fingerprints, under a header", "cmd/simdb", "sample.fingerprintColumn",
		swap(`named(c)`, `named(1-c)`),
		"cmd/simdb", "^TestLists$",
	},
	{
		"output/format of a file holds behind it", "repl", "session.closeOutput",
		swap(`s.moded`, `format >= 0`),
		"repl", "^TestOutputFormat$",
	},
	{
		"engine/rows go on after the context", "engine", "UntilDone",
		swap(`ctx.Err()`, `nil`),
		"engine", "^TestCancelRows$",
	},
	{
		"query/rows go on after the context", "query", "run.plainRows",
		swap(`x.Ctx.Err()`, `nil`),
		"query", "^TestRowsStop$",
	},
	{
		"statements/progress not ended before rows", "repl", "beforeWrite.Write",
		skip("do"),
		"repl", "^TestProgressEndsBeforeRows$",
	},
	{
		"crowds/a full sketch needs less of a smaller one", "internal/setjoin", "threshold.need",
		swap(`max(x, y) >= t.N`, `min(x, y) >= t.N`),
		"internal/setjoin", "^TestSketches$",
	},
	{
		"crowds/a sketch meets full ones by its first part alone", "internal/setjoin", "threshold.short",
		swap(`t.need(n, max(n, t.N))`, `t.need(n, n)`),
		"internal/setjoin", "^TestSketches$",
	},
	{
		"crowds/the best keeper by common hashes, not by score", "internal/setjoin", "join.best",
		swap(`&& j.t.Kind == Jaccard`, ``),
		"internal/setjoin", "^TestSketches$",
	},
	{
		"crowds/equal sets not taken for one", "engine", "joinSet.setNumbers",
		swap(`numbers[key]; known`, `numbers[setKey{}]; known`),
		"engine/internal/cluster", "^TestEqualSets$",
	},
	{
		"crowds/texts of one beginning taken for equal as they are grouped", "engine", "joinSet.setNumbers",
		swap(`bytes.Equal(text, last)`, `bytes.Equal(text[:1], last[:1])`),
		"engine/internal/cluster", "^TestEqualSets$",
	},
	{
		"crowds/texts of one beginning taken for equal as they are loaded", "engine", "hasher.sumShare",
		swap(`bytes.Equal(text, last.text)`, `bytes.HasPrefix(last.text, text[:1])`),
		"engine", "^TestLoadSums$",
	},
	{
		"audit/keepers that come later not looked for", "cmd/simdb", "job.placeKeepers",
		always(`d.keep.rules.all[0].name == "first" && !d.decided.reorders() || d.out.dropped == 0`),
		"cmd/simdb", "^TestAuditOrder$",
	},
	{
		"crowds/an allowed pair turns a document away", "engine", "existence.accepts",
		always(`!x.v.Allowed.Has(string(id), string(x.of.ID))`),
		"engine", "^TestAnyMatchIsAllowed$",
	},
	{
		"crowds/a dead document answers a question of existence", "engine", "existence.named",
		swap(`ok, err = x.v.Alive(p, doc)`, `ok, err = true, error(nil)`),
		"engine", "^TestAnyMatch$",
	},
	{
		"crowds/the first refused hit ends the search", "sstable", "Scratch.offer",
		swap(`err == nil && ok`, `err == nil && (ok || s.offered > 0)`),
		"sstable", "^TestNearFirst$",
	},
	{
		"crowds/only the first block of postings", "sstable", "firstSearch.segment",
		always(`found || err != nil`),
		"sstable", "^TestJaccard",
	},
	{
		"crowds/a sort in place goes on after its context", "internal/ordered", "InPlace",
		never(`i%runLength == 0 && ctx.Err() != nil`),
		"internal/ordered", "^TestInPlace$",
	},
	// Limits of a table, and layouts by size.
	{
		"policy/expired documents not counted as dead", "compaction", "mostlyDead",
		drop(`n += t.Expired(o.Expired)`),
		"compaction", "^Test(Data|Windows)$",
	},
	{
		"policy/tables of all windows merged together", "compaction", "windows",
		swap(`min(floorDiv(t.MaxTime, window), now)`, `now`),
		"compaction", "^Test(Data|Windows)$",
	},
	{
		"policy/documents that must stay counted as expired", "compaction", "Table.gone",
		drop(`&& !t.Held`),
		"compaction", "^TestData$",
	},
	{
		"schedule/tables that are being merged are picked", "compaction", "Schedule.candidates",
		swap(`!s.Taken(t.Number)`, `true`),
		"compaction", "^TestData$",
	},
	{
		"schedule/large merges beside large ones", "compaction", "Schedule.Room",
		swap(`bytes > j.Bytes/nestedShare`, `bytes > j.Bytes*nestedShare`),
		"compaction", "^TestData$",
	},
	{
		"merges/writers never stopped", "engine", "Store.tooManyTables",
		swap(`db.countTables() >= stopTables`, `false`),
		"engine", "^TestTableBound$",
	},
	{
		"merges/writers stopped while merging is paused", "engine", "Scheduler.Unfinished",
		drop(`&& !g.Throttle.Paused()`),
		"engine", "^TestStoppedWriter$",
	},
	{
		"merges/given up by Close", "engine", "Store.Close",
		swap(`db.finishMerges(db.opts.CloseWait)`, `db.finishMerges(-1)`),
		"engine", "^TestCloseFinishes$",
	},
	{
		"merges/large ones in a process that was just started", "engine", "Scheduler.Next",
		swap(`max(SmallWork, g.speed.within(age))`, `int64(math.MaxInt64)`),
		"engine/internal/merges", "^TestMergeWaitsForAge$",
	},
	{
		"merges/paused ones go on", "engine", "Throttle.look",
		swap(`background && t.paused && t.lifted == 0`, `false`),
		"engine/internal/throttle", "^TestThrottle$",
	},
	{
		"merges/rate ignored", "engine", "Throttle.look",
		swap(`t.next.After(now)`, `false`),
		"engine/internal/throttle", "^TestThrottle$",
	},
	{
		"limit/a tier is merged beyond it", "compaction", "fitting",
		swap(`docs > maxDocs`, `docs > maxDocs+1`),
		"compaction", "^TestPick(At)?Limit$",
	},
	{
		"limit/full tables count for a tier", "compaction", "mergeable",
		swap(`t.living() <= o.MaxDocs/2`, `t.living() <= o.MaxDocs`),
		"compaction", "^TestPick(At)?Limit$",
	},
	{
		"limit/groups beyond it", "compaction", "Group",
		swap(`n+t.living() <= maxDocs`, `n < maxDocs`),
		"compaction", "^TestGroup$",
	},
	{
		"limit/not known to the picker", "engine", "Store.Policy",
		swap(`o.MaxDocs = max(0, db.expiry()), db.TTL.Microseconds(), db.Tables.MaxDocs()`, `o.MaxDocs = max(0, db.expiry()), db.TTL.Microseconds(), int64(0)`),
		"engine", "^TestTableLimit$",
	},
	{
		"limit/not known to Compact", "engine", "Store.Groups",
		swap(`db.Tables.MaxDocs()`, `0`),
		"engine", "^TestTableLimit$",
	},
	{
		"limit/not known to a load", "engine", "New",
		swap(`min(maxChunkDocs, db.Tables.MaxDocs())`, `maxChunkDocs`),
		"engine", "^TestTableLimit$",
	},
	{
		"limit/not known to pack", "engine/internal/pack", "Write",
		never(`docs > most`),
		"engine", "^TestPackLimit$",
	},
	{
		"layout/tables of another one refused", "engine", "Store.checkParams",
		swap(`p.Compatible(db.Params)`, `p == db.Params`),
		"engine", "^TestMixedLayout",
	},
	{
		"layout/keys of the table before reused", "sstable", "Index.permute",
		swap(`s.layout == x.layout`, `true`),
		"engine", "^TestMixedLayouts$",
	},
}
