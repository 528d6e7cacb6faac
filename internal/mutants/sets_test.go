package mutants

// The index of containment.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "sets/records of no document in the index", in: "internal/table", decl: "Sets.AppendKeys",
			edit:  always(`doc != NoDocument`),
			tests: "internal/table/internal/contain", run: "^TestCandidates$",
		},
		{
			name: "sets/documents left out by a merge stay", in: "internal/table", decl: "Renumber.keys",
			edit:  always(`!r.dead.Has(doc)`),
			tests: "internal/table", run: "^TestMergeSets$",
		},
		{
			name: "sets/key of no document taken by a merge", in: "internal/table", decl: "Renumber.keys",
			edit:  never(`doc >= r.numbers.Len()`),
			tests: "internal/table", run: "^TestVerifySets$",
		},
		{
			name: "sets/not those of the texts, not noticed", in: "internal/table", decl: "verifier.checkSets",
			edit:  never(`err == nil && got != want`),
			tests: "internal/table", run: "^TestVerifySets$",
		},
	}...)
}
