package mutants

// The index of containment.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "sets/features of one bin counted once", in: "sstable/internal/contain", decl: "Index.Candidates",
			edit:  swap(`lists[n-1].weight++`, `_ = n`),
			tests: "sstable/internal/contain", run: "^TestCandidates$",
		},
		{
			name: "sets/one feature too few looked for", in: "sstable/internal/contain", decl: "Index.Candidates",
			edit:  swap(`lists[:n], weight-lacking`, `lists[:n], weight-lacking+1`),
			tests: "sstable/internal/contain", run: "^TestCandidates$",
		},
		{
			name: "sets/a run between two features that are looked for", in: "sstable/internal/contain", decl: "Index.Runs",
			edit:  swap(`recent[0] < i-number`, `recent[0] < i-number-1`),
			tests: "sstable/internal/contain", run: "^TestRuns$",
		},
		{
			name: "sets/fields of required words taken for all", in: "engine", decl: "Hasher.InOrder",
			edit:  drop(`|| s.RequireWords != nil`),
			tests: "engine", run: "^TestPassagesIndex$",
		},
		{
			name: "sets/records of no document in the index", in: "sstable", decl: "Sets.AppendKeys",
			edit:  always(`doc != NoDocument`),
			tests: "sstable/internal/contain", run: "^TestCandidates$",
		},
		{
			name: "sets/documents left out by a merge stay", in: "sstable", decl: "Renumber.keys",
			edit:  always(`!r.dead.Has(doc)`),
			tests: "sstable", run: "^TestMergeSets$",
		},
		{
			name: "sets/key of no document taken by a merge", in: "sstable", decl: "Renumber.keys",
			edit:  never(`doc >= r.numbers.Len()`),
			tests: "sstable", run: "^TestVerifySets$",
		},
		{
			name: "sets/what is left of a piece not cut", in: "sstable", decl: "merger.distinctPiece",
			edit:  drop(`[:len(keys)]`),
			tests: "sstable", run: "^TestMergeSets$",
		},
		{
			name: "sets/not those of the texts, not noticed", in: "sstable", decl: "verifier.checkSets",
			edit:  never(`err == nil && got != want`),
			tests: "sstable", run: "^TestVerifySets$",
		},
	}...)
}
