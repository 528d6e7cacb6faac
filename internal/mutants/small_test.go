package mutants

// The index of small tables, and the filters of IDs.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "small tables/searched twice", in: "engine/internal/view", decl: "indexed.of",
			edit:  drop(`delete(at, r.table)`),
			tests: "engine", run: "^TestSmallTables$",
		},
		{
			name: "small tables/a fingerprint of the table before", in: "engine/internal/view", decl: "Small.Range",
			edit:  swap(`s.ranges[i].first > at `, `s.ranges[i].first+1 > at && at > 0 `),
			tests: "engine", run: "^TestSmallTables$",
		},
		{
			name: "small tables/half of a damaged one answers for it", in: "engine/internal/view", decl: "SmallTables.index",
			edit:  never(`err != nil`),
			tests: "engine", run: "^TestSmallTablesDamaged$",
		},
		{
			name: "small tables/a damaged filter answers", in: "engine/internal/view", decl: "SmallTables.filter",
			edit:  swap(`if err == nil {`, `if true {`),
			tests: "engine", run: "^TestSmallTablesDamaged$",
		},
		{
			name: "small tables/words of fingerprints in wrong rows", in: "engine/internal/view", decl: "SmallTables.read",
			edit:  drop(`rest = rest[words:]`),
			tests: "engine", run: "^TestSmallTables$",
		},
		{
			name: "small tables/a candidate of many words counts at any distance", in: "engine/internal/search", decl: "lookWords",
			edit:  swap(`return c.Distance(q, i) > k`, `return false`),
			tests: "engine", run: "^TestSmallTables$",
		},
		{
			name: "small tables/an ID is not in its table", in: "engine/internal/view", decl: "Version.Locate",
			edit:  swap(`!ids.Has(hash)`, `!ids.Has(hash+1<<40)`),
			tests: "engine", run: "^TestSmallTables$",
		},
		{
			name: "view/a document of a table is read into words of the memtable", in: "engine/internal/view", decl: "Place.Unnamed",
			edit:  swap(`append(d.Rest[:0], m.Rest...)`, `m.Rest`),
			tests: "engine", run: "^TestRangeWideMemtable$",
		},
	}...)
}
