package mutants

const (
	crashes = "^TestCrashAtEveryOperation$"
	damages = "^TestDamagedFiles$"
	traced  = "^TestSyncOrder$"
	strays  = "^Test(NoStrayFiles|Leftovers|TableWithoutItsName|PackReplacesNothing|FolderReplaced)$"
	flips   = "^Test(EveryByteFlipped|FlippedBytes|KeyRunNoticesDamage)$"
)

var mutants = []mutant{
	// What is durable, and in which order.
	{
		"log/write not synced", "engine/internal/wal/writer.go",
		"\tif written && sync {\n\t\terr = w.f.Sync()\n\t}\n", "",
		"engine", crashes,
	},
	{
		"log/new file not synced", "engine/internal/wal/writer.go",
		"\tif err == nil {\n\t\terr = f.Sync()\n\t}\n", "",
		"engine/internal/wal", "^TestCrashEverywhere$",
	},
	{
		"log/name not synced", "engine/internal/wal/writer.go",
		"err = fs.SyncDir(filepath.Dir(name))", "_ = filepath.Dir(name)",
		"engine", crashes,
	},
	{
		"log/not closed at rotation", "engine/db.go",
		"if err := w.Close(); err != nil {\n\t\t\treturn db.fail(fmt.Errorf(\"writing the log", "if err := error(nil); err != nil {\n\t\t\treturn db.fail(fmt.Errorf(\"writing the log",
		"engine", crashes,
	},
	{
		"log/cut not synced before its end frame", "engine/internal/wal/replay.go",
		"if err := f.Sync(); err != nil {\n\t\treturn err\n\t}\n\t_, seed", "_, seed",
		"engine/internal/wal", "^TestC(ut|rash)",
	},
	{
		"log/failure not remembered", "engine/internal/wal/writer.go",
		"w.err = fmt.Errorf(\"write log %s: %w\", w.name, err)", "_ = fmt.Errorf(\"write log %s: %w\", w.name, err)\n\t\tw.synced = target",
		"engine/internal/wal", "Poison",
	},
	{
		"write/acknowledged before it is synced", "engine/write.go",
		"wait := c.log.Sync\n", "wait := c.log.Flush\n",
		"engine", crashes,
	},
	{
		"write/cause of a failure lost", "engine/write.go",
		"if err := wait(c.end); err != nil {\n\t\treturn db.fail(fmt.Errorf(\"writing the log: %w\"", "if err := wait(c.end); err != nil {\n\t\treturn (fmt.Errorf(\"writing the log: %v\"",
		"engine", "^TestErrorAtEveryOperation$",
	},
	{
		"table/not synced", "engine/flush.go",
		"\tif err == nil {\n\t\terr = f.Sync()\n\t}\n", "",
		"engine", crashes,
	},
	{
		"table/name not synced", "engine/flush.go",
		"\tif err == nil {\n\t\terr = db.dir.SyncDir(\".\")\n\t}\n", "",
		"engine", crashes,
	},
	{
		"table/ingested copy not synced", "engine/pack.go",
		"\tif err == nil {\n\t\terr = dst.Sync()\n\t}\n", "",
		"engine", crashes,
	},
	{
		"table/ingested name not synced", "engine/pack.go",
		"\tif err == nil {\n\t\terr = db.dir.SyncDir(\".\")\n\t}\n", "",
		"engine", crashes,
	},
	{
		"pack/name not synced", "engine/pack.go",
		"return db.fs.SyncDir(filepath.Dir(path))", "_ = filepath.Dir(path)\n\treturn nil",
		"engine", crashes,
	},
	{
		"pack/written in its place", "engine/pack.go",
		"temp := packTemp(path)", "temp := path",
		"engine", crashes,
	},
	{
		"catalog/name not synced", "engine/internal/catalog/catalog.go",
		"return fs.SyncDir(filepath.Dir(name))", "_ = filepath.Dir(name)\n\treturn nil",
		"engine/internal/catalog", "^TestCrashEverywhere$",
	},
	{
		"catalog/failure not remembered", "engine/internal/catalog/catalog.go",
		"c.err = fmt.Errorf(\"write catalog %s: %w\", c.name, errnoOf(err))\n\t\treturn c.err", "return fmt.Errorf(\"write catalog %s: %w\", c.name, errnoOf(err))",
		"engine/internal/catalog", "^TestFailedCommitPoisons$",
	},
	{
		"database/its own name not synced", "engine/open.go",
		"names := []name{{filepath.Dir(path), true}}", "names := []name{}",
		"engine", crashes,
	},
	{
		"database/names of its parents not synced", "engine/open.go",
		"names = append(names, name{filepath.Dir(p), errors.Is(err, fs.ErrNotExist)})", "_ = err",
		"engine", crashes,
	},
	{
		"database/parents that were found taken for durable", "engine/open.go",
		"errors.Is(err, fs.ErrNotExist)})\n\t}\n", "errors.Is(err, fs.ErrNotExist)})\n\t\tif err == nil {\n\t\t\tnames = names[:len(names)-1]\n\t\t}\n\t}\n",
		"engine", "^TestNewFolders$",
	},
	{
		"disk/names not synced", "internal/vfs/disk.go",
		"errors.Join(syncDir(f), f.Close())", "errors.Join(f.Close())",
		"engine", traced,
	},
	{
		"disk/files not synced", "internal/vfs/sync_linux.go",
		"err = retryEINTR(func() error { return unix.Fdatasync(int(fd)) })", "_ = unix.Fdatasync",
		"engine", traced,
	},
	{
		"disk/transactions of the catalog not synced", "engine/internal/catalog/bolt.go",
		"NoFreelistSync: true,", "NoFreelistSync: true, NoSync: true,",
		"engine", traced,
	},
	{
		"disk/files emptied that are there", "internal/vfs/disk.go",
		"os.O_CREATE|os.O_EXCL|os.O_APPEND", "os.O_CREATE|os.O_TRUNC|os.O_APPEND",
		"internal/vfs", "^TestNothingIsReplaced$",
	},
	{
		"table/never gets its name", "engine/flush.go",
		"if err := db.dir.Rename(newTableName(t.Number), tableName(t.Number)); err != nil {", "if err := error(nil); err != nil || t.Number == 0 {",
		"engine", strays,
	},
	{
		"open/table without its name not found", "engine/open.go",
		"if _, e := db.dir.Stat(temp); e != nil {", "if true {",
		"engine", strays + "|" + crashes,
	},
	{
		"open/unfinished tables stay", "engine/open.go",
		"if isNew || name ==", "if isNew && n == 0 || name ==",
		"engine", strays,
	},
	{
		"open/unfinished catalog stays", "engine/open.go",
		"if isNew || name == catalogName+catalog.TempSuffix {", "if isNew {",
		"engine", strays,
	},
	{
		"open/whole table of unknown origin removed", "engine/open.go",
		"if n >= s.NextFile && db.isTable(name) {", "if false {",
		"engine", strays,
	},
	{
		"pack/replaces what came meanwhile", "engine/pack.go",
		"if err = db.fs.RenameNew(temp, path);", "if err = db.fs.Rename(temp, path);",
		"engine", strays,
	},
	{
		"pack/fixed temporary name", "engine/pack.go",
		"temp := packTemp(path)", "temp := path + \".tmp\"",
		"engine", strays,
	},
	{
		"pack/unfinished file stays", "engine/pack.go",
		"return errors.Join(err, removeIfThere(db.fs, temp))", "return err",
		"engine", strays,
	},
	{
		"flush/log removed before the table is published", "engine/flush.go",
		"if err := db.publishFlush(m, t, docs); err != nil {", "for _, n := range m.logs {\n\t\tdb.dir.Remove(logName(n))\n\t}\n\tif err := db.publishFlush(m, t, docs); err != nil {",
		"engine", crashes,
	},
	{
		"flush/deletions not published", "engine/flush.go",
		"edit.SetTombstones[p.meta.Number] = dead\n", "_ = dead\n",
		"engine", crashes,
	},
	{
		"compaction/tables removed before the merged one is published", "engine/compact.go",
		"edit.DropTables = append(edit.DropTables, p.meta.Number)", "edit.DropTables = append(edit.DropTables, p.meta.Number)\n\t\tdb.dir.Remove(p.name)",
		"engine", crashes,
	},
	{
		"compaction/published before what it gives up is safe", "engine/compact.go",
		"if err = db.syncLog(); err == nil {", "if err == nil {",
		"engine", crashes,
	},
	{
		"load/published before what it gives up is safe", "engine/publish.go",
		"if err := db.syncLogLocked(); err != nil {", "if err := error(nil); err != nil {",
		"engine", crashes,
	},
	{
		"load/replaced documents not deleted", "engine/publish.go",
		"p.killed[old.part].Add(old.doc)", "_ = old.doc",
		"engine", crashes,
	},
	{
		"load/mark not published with its table", "engine/publish.go",
		"edit := catalog.Edit{SetMarks: p.marks, ", "edit := catalog.Edit{",
		"engine", crashes,
	},
	{
		"catalog/next file number not kept", "engine/flush.go",
		"e.NextFile = new(db.nextFile)\n", "",
		"engine", crashes,
	},
	{
		"flush/its logs stay needed", "engine/flush.go",
		"edit.FirstWAL = new(m.logs[len(m.logs)-1] + 1)\n", "",
		"engine", crashes,
	},
	// What recovery does.
	{
		"replay/older versions stay", "engine/replay.go",
		"p.dead.kill(doc, seq)", "_ = doc",
		"engine", crashes,
	},
	{
		"log/cut not synced after its end frame", "engine/internal/wal/replay.go",
		"\treturn f.Sync()\n}\n", "\treturn nil\n}\n",
		"engine/internal/wal", "^TestCut",
	},
	{
		"log/removed but not durably", "engine/internal/wal/replay.go",
		"return fs.SyncDir(filepath.Dir(name))", "_ = filepath.Dir(name)\n\t\treturn nil",
		"engine/internal/wal", "^TestCut",
	},
	{
		"log/predecessor not named", "engine/db.go",
		"encodeLogStart(db.newestLog.Number)", "encodeLogStart(0)",
		"engine", "^TestMissingLogs$",
	},
	{
		"replay/first of several logs skipped", "engine/replay.go",
		"last := i == len(logs)-1\n", "last := i == len(logs)-1\n\t\tif i == 0 && !last {\n\t\t\tcontinue\n\t\t}\n",
		"engine", crashes,
	},
	{
		"replay/newer version overwritten", "engine/replay.go",
		"if !rec.del && !newer {", "_ = newer\n\tif !rec.del {",
		"engine", crashes + "|^TestHistories$",
	},
	{
		"replay/missing log overlooked", "engine/replay.go",
		"if before != r.before && before >= r.firstLog {", "if false {",
		"engine", "^TestMissingLogs$",
	},
	{
		"log/end frame that was found taken for durable", "engine/internal/wal/replay.go",
		"size, err = res.End, syncLog(fs, name)", "size = res.End",
		"engine", crashes + "|^TestErrorAtEveryOperation$",
	},
	{
		"catalog/what was found taken for durable", "engine/internal/catalog/catalog.go",
		"if err == nil && !opts.ReadOnly {\n\t\terr = syncFile(fs, name)\n\t}\n", "",
		"engine", crashes,
	},
	{
		"open/names that were found taken for durable", "engine/open.go",
		"if err := db.dir.SyncDir(\".\"); err != nil {\n\t\treturn nil, err\n\t}\n", "",
		"engine", "^TestKilledThenCut$",
	},
	{
		"log/one that recovery removed named as predecessor", "engine/replay.go",
		"if size > 0 { // else", "if size >= 0 { // else",
		"engine", crashes,
	},
	{
		"log/one that recovery removed is the newest", "engine/open.go",
		"\t\t\tif n >= s.FirstWAL {", "\t\t\tdefer func() { db.newestLog.Number = max(db.newestLog.Number, n) }()\n\t\t\tif n >= s.FirstWAL {",
		"engine", crashes,
	},
	{
		"close/end of the log not noted", "engine/db.go",
		"db.markClosed()\n\t\t}\n", "}\n",
		"engine", damages,
	},
	{
		"close/end of the log noted before it has one", "engine/db.go",
		"err := db.closeLogLocked()\n\t\tif err == nil {\n\t\t\tdb.markClosed()\n\t\t}\n", "db.markClosed()\n\t\terr := db.closeLogLocked()\n",
		"engine", crashes + "|" + damages,
	},
	{
		"close/noted although the log failed", "engine/db.go",
		"if err == nil {\n\t\t\tdb.markClosed()\n\t\t}", "db.markClosed()",
		"engine", "^TestErrorAtEveryOperation$",
	},
	{
		"close/size of a rotated log not noted", "engine/db.go",
		"\t\tdb.newestLog.Size = w.Size()\n\t}\n\tdb.mu.Lock()", "\t}\n\tdb.mu.Lock()",
		"engine", crashes + "|" + damages,
	},
	{
		"replay/log missing since a clean close overlooked", "engine/replay.go",
		"if n := s.Closed.Number; n > 0 &&", "if n := s.Closed.Number; n < 0 &&",
		"engine", damages,
	},
	{
		"replay/shorter log of a clean close overlooked", "engine/replay.go",
		"if number == s.Closed.Number && res.End != s.Closed.Size {", "if false {",
		"engine", damages + "|^TestOlderLog$",
	},
	{
		"replay/torn end not cut", "engine/replay.go",
		"if size, err = wal.Cut(db.dir, r.name, res); err != nil {", "if err := error(nil); err != nil {",
		"engine", crashes,
	},
	// What is checked.
	{
		"log/checksums of frames not compared", "engine/internal/wal/replay.go",
		"if frameCRC(s.seed, pos, buf) !=", "if false && frameCRC(s.seed, pos, buf) !=",
		"engine/internal/wal", flips,
	},
	{
		"catalog/checksums of records not compared", "engine/internal/catalog/record.go",
		"if recordCRC(r.key, r.value[crcSize:]) !=", "if false && recordCRC(r.key, r.value[crcSize:]) !=",
		"engine/internal/catalog", "Flipped|Every|Damage|Hostile",
	},
	{
		"catalog/lost root overlooked", "engine/internal/catalog/pages.go",
		"case newer.txid-older.txid != 1:", "case false:",
		"engine/internal/catalog", "^TestLostRootWrite$",
	},
	{
		"catalog/checksums of root pages not compared", "engine/internal/catalog/pages.go",
		"case hash.Sum64() != order.Uint64(body[56:]):", "case false && hash.Sum64() != 0:",
		"engine/internal/catalog", "^TestEveryMetaByte$",
	},
	{
		"table/checksums of key runs not compared", "sstable/internal/keyrun/dir.go",
		"if got != want {\n\t\treturn d.Corrupt(at, \"block", "if got != want && b < 0 {\n\t\treturn d.Corrupt(at, \"block",
		"sstable", flips,
	},
	{
		"table/checksums of texts not compared", "sstable/internal/blobs/records.go",
		"!= e.sum {", "!= e.sum && b < 0 {",
		"sstable", flips,
	},
	{
		"table/checksums of IDs not compared", "sstable/internal/blobs/list.go",
		"if crc.Sum(block) != binary", "if b < 0 && crc.Sum(block) != binary",
		"sstable", flips,
	},
	{
		"table/checksums of bitmaps not compared", "sstable/bitmaps.go",
		"if crc.Sum(block) != binary", "if i < 0 && crc.Sum(block) != binary",
		"sstable", flips,
	},
	{
		"table/checksum of the directory not compared", "sstable/format.go",
		"if le.Uint32(t[12:]) != crc.Sum(dir) {", "if false {",
		"sstable", flips,
	},
	{
		"table/swapped file overlooked", "engine/open.go",
		"case info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs:", "case info.Docs < 0:",
		"engine", "^TestCutFiles$",
	},
	{
		"search/unknown places taken for known", "sstable/internal/keyrun/probe.go",
		"if first == 0 || end == 0 || to-from > most {", "if to-from > most {",
		"sstable/internal/keyrun", "^TestLeadIndex$",
	},
	{
		"search/places cut to 16 bits", "sstable/internal/keyrun/leads.go",
		"at < 1<<16 {", "at > 0 {",
		"sstable/internal/keyrun", "^TestLeadIndex$",
	},
	{
		"search/blocks of a span not checked", "sstable/internal/hamming/spans.go",
		"if !checked || in.Width < least", "if in.Width < least",
		"sstable/internal/hamming", "^TestSpanOfUncheckedBlock$",
	},
	{
		"search/hits of other leads reported twice", "sstable/internal/hamming/search.go",
		"if key < f.first || key > f.last {", "if false {",
		"sstable/internal/hamming", "^TestNear",
	},
	{
		"query/a predicate bound as another", "query/internal/predicate/table.go",
		"bindSimilar(text.Levenshtein)", "bindSimilar(text.Cosine)",
		"query", "^TestPredicateTable$",
	},
	{
		"query/a predicate in the grammar alone", "query/internal/syntax/grammar.go",
		"@Predicate\"`\n\tArgs", "@( Predicate | 'LIKE' )\"`\n\tArgs",
		"query", "^TestKeywords$",
	},
	{
		"query/a statement that writes opened for reading", "query/statements.go",
		`word: "FLUSH", shape: syntax.Bare, writes: true,`, `word: "FLUSH", shape: syntax.Bare,`,
		"cmd/simdb", "^TestMayWrite$",
	},
	{
		"words/a word that begins with a mark cut at the next letter", "internal/token/words.go",
		"open, word = openKinds[class], word[:0]", "open, word = min(openKinds[class]+openKind(class/classMark), openSolo), word[:0]",
		"internal/token", "^TestSplitWords$",
	},
	{
		"limits/hits as far as the last that is kept dropped", "engine/near.go",
		"int(h.Distance) > sc.far", "int(h.Distance) >= sc.far && sc.want.first > 0",
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/too few documents of a group of equal fingerprints", "engine/firstpairs.go",
		"Most: l.n + 1", "Most: l.n",
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/only the first page of entries", "engine/entries.go",
		"if err != nil || !more {", "if more = false; !more {",
		"engine", "^TestFirstUnorderedCount$",
	},
	{
		"limits/hits held without bound", "engine/near.go",
		"case len(sc.hits) == sc.most:", "case sc.most < 0:",
		"engine", "^TestMemory$",
	},
	{
		"limits/rows held without bound", "query/internal/predicate/scope.go",
		"x.held > x.DB.Memory() {", "x.held < 0 {",
		"query", "^TestHold$",
	},
	{
		"limits/a sort goes on after its context", "internal/ordered/ordered.go",
		"if err := ctx.Err(); err != nil {", "if err := ctx.Err(); err != nil && len(items) < 0 {",
		"internal/ordered", "^TestRunsAndLimited$",
	},
	// How fingerprints are written.
	{
		"notation/16 digits are decimal", "internal/fptext/fptext.go",
		"if len(s) == width && n != Decimal {", "if len(s) == width && n == Hex {",
		"internal/fptext", "^TestRule$",
	},
	{
		"notation/both in one file accepted", "cmd/simdb/internal/input/lines/notation.go",
		"if e.hex.line == 0 || e.decimal.line == 0 {", "if e.hex.line >= 0 {",
		"cmd/simdb/internal/input/lines", "^TestBothNotations$",
	},
	{
		"notation/first lines delivered undecided", "cmd/simdb/internal/input/lines/file.go",
		"case !f.seen.undecided() || all:", "case len(head) > 0:",
		"cmd/simdb/internal/input/lines", "^TestBothNotationsFarApart$",
	},
	{
		"list/first row taken for a header", "cmd/simdb/internal/input/lines/sample.go",
		"if i == 0 && !found && !slices.ContainsFunc(cols, beginsWithDigit) {", "if i == 0 {",
		"cmd/simdb/internal/input/lines", "^TestLists$",
	},
	{
		"input/ids that look like fingerprints, under a header", "cmd/simdb/internal/input/lines/sample.go",
		"return named(c) && 2*", "return named(1-c) && 2*",
		"cmd/simdb/internal/input/lines", "^TestLists$",
	},
	{
		"output/format of a file holds behind it", "repl/repl.go",
		"s.options = s.cfg.Output; s.moded", "s.options = s.cfg.Output; format >= 0",
		"repl", "^TestOutputFormat$",
	},
	{
		"engine/rows go on after the context", "engine/order.go",
		"err = ctx.Err()\n\t\t\t}\n\t\t\tif err != nil {\n\t\t\t\tvar none", "err = nil\n\t\t\t}\n\t\t\tif err != nil {\n\t\t\t\tvar none",
		"engine", "^TestCancelRows$",
	},
	{
		"query/rows go on after the context", "query/exec.go",
		"err = x.Ctx.Err() // the rows", "err = nil // the rows",
		"query", "^TestRowsStop$",
	},
	{
		"statements/progress not ended before rows", "repl/statement.go",
		"\tb.do()\n", "",
		"repl", "^TestProgressEndsBeforeRows$",
	},
	{
		"crowds/members of a window stay in the index as keepers", "engine/internal/jaccardjoin/stars.go",
		"x.b.entries[entry] = dead", "_ = dead",
		"engine/internal/jaccardjoin", "^TestStars$",
	},
	{
		"crowds/of equally similar keepers the last", "engine/internal/jaccardjoin/stars.go",
		"p.Score == x.best[g] && p.I < have", "p.Score == x.best[g]",
		"engine/internal/jaccardjoin", "^TestStars$",
	},
	{
		"crowds/a later equal set misses the keepers made since", "engine/internal/jaccardjoin/stars.go",
		"x.seen[g] < known && x.best[g] < 1", "x.seen[g] == 0 && x.best[g] < 1",
		"engine/internal/jaccardjoin", "^TestStars$",
	},
	{
		"crowds/equal sketches taken for equal texts", "engine/joinset.go",
		"if err := j.splitByText(ctx); err != nil {", "if err := ctx.Err(); err != nil {",
		"engine", "^TestEqualSets$",
	},
	{
		"crowds/texts of one beginning taken for equal as they are grouped", "engine/equalsets.go",
		"bytes.Equal(x.key[head:], text)", "bytes.Equal(x.key[head:][:1], text[:1])",
		"engine", "^TestEqualSets$",
	},
	{
		"crowds/texts of one beginning taken for equal as they are loaded", "engine/load.go",
		"!bytes.Equal(text, last.text)", "!bytes.HasPrefix(last.text, text[:1])",
		"engine", "^TestLoadSums$",
	},
	{
		"audit/a row overtakes those that wait", "cmd/simdb/internal/dedup/audit.go",
		"if len(a.waiting) == 0 && a.place(row) {", "if a.place(row) {",
		"cmd/simdb", "^TestAuditOrder$",
	},
	{
		"crowds/an allowed pair turns a document away", "engine/anymatch.go",
		" && !x.s.allowed.has(string(id), string(x.of.ID))", "",
		"engine", "^TestAnyMatchIsAllowed$",
	},
	{
		"crowds/a dead document answers a question of existence", "engine/anymatch.go",
		"if ok, err = x.s.alive(p, doc); !ok || err != nil {", "if ok, err = true, error(nil); !ok || err != nil {",
		"engine", "^TestAnyMatch$",
	},
	{
		"crowds/the first refused hit ends the search", "sstable/internal/hamming/first.go",
		"if err == nil && ok {", "if err == nil && (ok || s.offered > 0) {",
		"sstable/internal/hamming", "^TestNearFirst$",
	},
	{
		"crowds/only the first block of postings", "sstable/jaccard_first.go",
		"if found, err := f.candidates(s.found); found || err != nil {\n\t\t\t\treturn found, err\n\t\t\t}\n\t\t\tif scan", "if found, err := f.candidates(s.found); true {\n\t\t\t\treturn found, err\n\t\t\t}\n\t\t\tif scan",
		"sstable", "^TestJaccard",
	},
	{
		"crowds/a sort in place goes on after its context", "internal/ordered/inplace.go",
		"if i%runLength == 0 && ctx.Err() != nil {", "if i < 0 {",
		"internal/ordered", "^TestInPlace$",
	},
}
