package mutants

// The index of fields.
func init() {
	mutants = append(mutants, []mutant{
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
	}...)
}
