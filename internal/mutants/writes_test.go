package mutants

// writeMutants are mistakes in what a write does beside other writes, and in the numbers that writes get.
var writeMutants = []mutant{
	{
		"delete/version not compared", "engine/delete.go",
		"err != nil || seq != *version {", "err != nil || seq == 0 {",
		"engine", "^Test(DeleteVersion|PruneSparesNewer)$",
	},
	{
		"delete/version compared for order", "engine/delete.go",
		"err != nil || seq != *version {", "err != nil || seq > *version {",
		"engine", "^TestDeleteVersion$",
	},
	{
		"delete/everybody is told that it deleted", "engine/delete.go",
		"if r.del && !there {", "if r.del && !there && r.version != nil {",
		"engine", "^TestDeleteTellsOne$",
	},
	{
		"delete/expired documents count", "engine/delete.go",
		"return stored >= expiry, err", "return stored >= 0, err",
		"engine", "^TestDeleteVersion$",
	},
	{
		"prune/deletes whatever has the ID", "engine/delete.go",
		"if b.DeleteVersion(e.ID, e.Seq); b.Len() == batch", "if b.Delete(e.ID); b.Len() == batch",
		"engine", "^TestPruneSparesNewer$",
	},
	{
		"delete where/deletes whatever has the ID", "query/write.go",
		"b.DeleteVersion(r.id, e.Seq)", "_ = e\n\t\tb.Delete(r.id)",
		"query", "^TestDeleteWhereSparesNewer$",
	},
	{
		"load/numbers overlap the next write's", "engine/publish.go",
		"db.seq = p.table.meta.MaxSeq\n", "db.seq = max(first, p.table.meta.MaxSeq-1)\n",
		"engine", "^TestOrderOfWriting$",
	},
	{
		"load/numbers from before it was published", "engine/publish.go",
		"p.table.numberFrom(db.nextSeq())", "error(nil)",
		"engine", "^Test(WritesBesidePublication|OrderOfWriting)$",
	},
	{
		"ingest/order of writing lost", "engine/version.go",
		"return stored + t.shift }", "return min(max(stored+t.shift, t.meta.MinSeq), t.meta.MinSeq) }",
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"ingest/no numbers left for others", "engine/version.go",
		"|| more > maxTableSeq-first {", "{",
		"engine", "^TestIngestNumbers$",
	},
	{
		"ingest/table not verified", "engine/pack.go",
		"err = r.Verify(ctx, nil)\n", "_ = ctx\n",
		"engine", "^TestIngestDamaged$",
	},
	{
		"catalog/numbers of a table not compared with its file", "engine/open.go",
		"case t.shiftSeq(info.MaxSeq) != meta.MaxSeq || meta.MinSeq > meta.MaxSeq:", "case meta.MinSeq > meta.MaxSeq:",
		"engine", "^TestCatalogNumbers$",
	},
	{
		"compaction/drops what a replay would bring back", "engine/compact.go",
		"if first < p.meta.MaxSeq {", "if false {",
		"engine", "^TestExpiredAfterTheLog$",
	},
	{
		"compaction/numbers of the file taken for the database's", "engine/compact.go",
		"Seq:    p.shiftSeq,\n", "",
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"pack/numbers of the file taken for the database's", "engine/pack.go",
		"Seq: p.shiftSeq, ", "",
		"engine", "^TestIngestEqualsLoad$",
	},
	{
		"novel/turned away before its twin is safe", "engine/write.go",
		"\tif err := db.settle(c); err != nil {\n\t\treturn Match{}, false, err", "\tif found {\n\t\treturn m, false, nil\n\t}\n\tif err := db.settle(c); err != nil {\n\t\treturn Match{}, false, err",
		"engine", "^TestTurnedAwayWhenSafe$",
	},
	{
		"delete/told that it is gone before that is safe", "engine/write.go",
		"\tif err := db.settle(c); err != nil {\n\t\treturn 0, err", "\tif len(kept) == 0 {\n\t\treturn 0, nil\n\t}\n\tif err := db.settle(c); err != nil {\n\t\treturn 0, err",
		"engine", "^TestTurnedAwayWhenSafe$",
	},
	{
		"batch/visible write by write", "engine/write.go",
		"if err := db.applyLocked(recs[i]); err != nil {\n\t\t\treturn db.fail(err)\n\t\t}\n", "if err := db.applyLocked(recs[i]); err != nil {\n\t\t\treturn db.fail(err)\n\t\t}\n\t\tdb.publishLocked(recs[i].doc.Seq)\n",
		"engine", "^TestBatchIsVisibleAtOnce$",
	},
	{
		"expiry/a microsecond early in memory", "engine/snapshot.go",
		"d.aliveAt(s.seq) && d.Time >= s.since }", "d.aliveAt(s.seq) && d.Time > s.since }",
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"expiry/a microsecond early in tables", "engine/version.go",
		"return t >= since, err", "return t > since, err",
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"expiry/tables dropped a microsecond early", "compaction/pick.go",
		"t.MaxTime < o.Expired {", "t.MaxTime <= o.Expired {",
		"engine", "^TestExpiryToTheMicrosecond$",
	},
	{
		"load/documents replaced by later ones of the load counted", "engine/publish.go",
		"int64(m.Docs) - dead - int64(p.again)", "int64(m.Docs) - dead",
		"engine", "^TestLoadStatsAddUp$",
	},
	{
		"put/times out of range taken", "engine/write.go",
		"(off < 0 || off >= time.Microsecond) {", "off < 0 {",
		"engine", "^TestTimeOutOfRange$",
	},
}
