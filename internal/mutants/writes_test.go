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
}
