package mutants

// The cache of decoded blocks.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "cache/blocks of a closed table stay", in: "internal/table/internal/format", decl: "Table.Close",
			edit:  skip("Uncache"),
			tests: "engine", run: "^TestCache$",
		},
		{
			name: "cache/larger than its size", in: "internal/table/internal/blobs", decl: "Cache.insert",
			edit:  swap(`c.used+size > c.size`, `false`),
			tests: "internal/table/internal/blobs", run: "^TestCache$",
		},
		{
			name: "cache/visits do not matter", in: "internal/table/internal/blobs", decl: "Cache.evict",
			edit:  swap(`!b.visited.Load()`, `true`),
			tests: "internal/table/internal/blobs", run: "^TestCacheKeepsVisited$",
		},
		{
			name: "cache/a block that two decode is inserted twice", in: "internal/table/internal/blobs", decl: "Cache.insert",
			edit:  swap(`!b.slot().CompareAndSwap(nil, b)`, `b.slot().Swap(b) == b`),
			tests: "internal/table/internal/blobs", run: "^TestCacheInsertedTwice$",
		},
		{
			name: "cache/a cursor decodes into a cached block", in: "internal/table/internal/blobs", decl: "Records.Decode",
			edit:  never(`blk.shared`),
			tests: "internal/table/internal/blobs", run: "^TestCursorShares$",
		},
	}...)
}
