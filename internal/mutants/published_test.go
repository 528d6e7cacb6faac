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
		name: "commit/a transaction that failed forgotten", in: "query", decl: "run.commit",
		edit:  swap(`errors.Is(err, engine.ErrConflict)`, `err != nil`),
		tests: "query", run: "^TestTransactionErrors$",
	},
}
