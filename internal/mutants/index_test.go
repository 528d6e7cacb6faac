package mutants

// The index of fields.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "index/a value that is cut off decides", in: "internal/table", decl: "FieldRange.Exact",
			edit:  swap(`len(from) < jsonfield.MostKey && len(to) < jsonfield.MostKey`, `len(from)+len(to) >= 0`),
			tests: "query", run: "^TestIndex$",
		},
		{
			name: "index/bounds that are cut off leave out", in: "internal/table", decl: "FieldRange.rangeOf",
			edit:  drop(`&& len(from) < cut`),
			tests: "internal/table", run: "^TestFields$",
		},
		{
			name: "index/documents that a view does not have", in: "internal/table", decl: "FieldIndex.Candidates",
			edit:  always(`k.Record < uint32(n)`),
			tests: "internal/table", run: "^TestFieldIndex$",
		},
		{
			name: "index/values in memory lost when more come", in: "internal/table/internal/fieldidx", decl: "Growing.Grow",
			edit:  swap(`slices.Concat(runs[len(runs)-1], last)`, `last`),
			tests: "internal/table", run: "^TestFieldIndex$",
		},
		{
			name: "index/documents left out by a merge stay", in: "internal/table/internal/merge", decl: "fieldStream.next",
			edit:  never(`s.in.dead.Has(s.Doc)`),
			tests: "internal/table", run: "^TestFields$",
		},
		{
			name: "index/values in no order, not noticed by a merge", in: "internal/table/internal/merge", decl: "fieldStream.next",
			edit:  never(`fieldidx.Compare(last, lastDoc, s.Key, s.Doc) > 0`),
			tests: "internal/table", run: "^TestVerifyFields$",
		},
		{
			name: "index/not those of the fields, not noticed", in: "internal/table", decl: "verifier.checkFields",
			edit:  never(`err == nil && got[i] != want[i]`),
			tests: "internal/table", run: "^TestVerifyFields$",
		},
		{
			name: "index/decides though another field has not been looked at", in: "engine", decl: "Filter.found",
			edit:  swap(`decided = false`, `_ = i`),
			tests: "engine", run: "^TestIndexStays$",
		},
		{
			name: "index/decides where a pattern does not", in: "query", decl: "field.bindLike",
			edit:  swap(`p.decided = pattern.PrefixOnly()`, `p.decided = true`),
			tests: "query", run: "^TestIndex$",
		},
		{
			name: "index/NOT taken for what it denies", in: "query", decl: "field.not",
			edit:  swap(`p.decided = false`, `p.decided = true`),
			tests: "query", run: "^TestIndex$",
		},
	}...)
}
