package mutants

// publishedMutants are errors after the point of no return, and values used despite an error.
var publishedMutants = []mutant{
	{
		name: "publish/an error after the table is published", in: "engine/internal/store", decl: "Store.Publish",
		edit:  swap(`return p.counts(), nil`, `return p.counts(), ctx.Err()`),
		tests: "engine", run: "^TestUses$",
	},
	{
		name: "publish/a published table dropped", in: "engine/internal/view", decl: "Table.Drop",
		edit:  never(`t.refs.Load() > 0`),
		tests: "engine", run: "^TestPublishedTableStays$",
	},
	{
		name: "prune/a file that cannot be removed undoes nothing, and is an error", in: "engine/internal/store", decl: "prune.enter",
		edit:  swap(`db.unref(old); return nil`, `return old.Unref()`),
		tests: "engine", run: "^TestUses$",
	},
	{
		name: "changes/removals of a flush not recorded", in: "engine/internal/store", decl: "Store.publishFlush",
		edit:  swap(`edit.FlushedSeq, edit.Removed = &m.MaxSeq, m.Cur.Removed`, `edit.FlushedSeq = &m.MaxSeq`),
		tests: "engine", run: "^TestChanges$",
	},
	{
		name: "changes/an expired document that was stored again leaves", in: "engine/internal/store", decl: "Store.removals",
		edit:  swap(`some = roaring.AndNot(some, db.current.Part(number).Dead.UpTo(view.Latest))`, `some = some.Clone()`),
		tests: "engine", run: "^TestChanges$",
	},
	{
		name: "changes/the numbers of removals given again", in: "engine/internal/store", decl: "prune.enter",
		edit:  drop(`db.showLocked(edit.Removed)`),
		tests: "engine", run: "^TestChanges$",
	},
	{
		name: "changes/a write that may be lost", in: "engine/internal/store", decl: "Store.Removed",
		edit:  skip("waitSafe"),
		tests: "engine", run: "^TestChangesCrash$",
	},
	{
		name: "commit/a transaction that failed forgotten", in: "query", decl: "run.commit",
		edit:  swap(`errors.Is(err, engine.ErrConflict)`, `err != nil`),
		tests: "query", run: "^TestTransactionErrors$",
	},
}
