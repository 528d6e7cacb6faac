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
		{
			name: "contained/sets in the order of preference", in: "internal/setjoin", decl: "join.bySize",
			edit:  swap(`cmp.Compare(j.s.Size(int(b)), j.s.Size(int(a)))`, `cmp.Compare(a, b)`),
			tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
		},
		{
			name: "contained/known sets by size, too", in: "internal/setjoin", decl: "join.bySize",
			edit:  swap(`order[j.o.Known:]`, `order`),
			tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
		},
		{
			name: "contained/one element too few looked up", in: "internal/setjoin", decl: "prefixer.of",
			edit:  swap(`max(0, n-f.alone)`, `max(0, n-f.alone-1)`),
			tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
		},
		{
			name: "contained/a share of the smaller set asked of the larger", in: "internal/setjoin", decl: "FewFinder.score",
			edit:  swap(`float64(len(set))`, `float64(size)`),
			tests: "internal/setjoin", run: "^TestFew$",
		},
		{
			name: "contained/one element too few in the table", in: "internal/setjoin", decl: "Few.entries",
			edit:  swap(`ranked[:long]`, `ranked[:long-1]`),
			tests: "internal/setjoin", run: "^TestFew$",
		},
		{
			name: "contained/a document is its own match in a batch", in: "engine", decl: "Snapshot.containedBatch",
			edit:  swap(`id == docs[i].ID`, `false`),
			tests: "fuzz", run: "^FuzzHistory$",
		},
		{
			name: "contained/the rest of a batch not found", in: "engine/internal/contain", decl: "batch.undone",
			edit:  swap(`wanted > 0`, `wanted == 0`),
			tests: "cmd/simdb", run: "^TestContained$",
		},
		{
			name: "lookup/documents without a fingerprint shift those after them", in: "dedup", decl: "lookupLot.hash",
			edit:  swap(`b.docs[n], b.at[n] = b.docs[i], b.at[i]`, `b.docs[n] = b.docs[i]`),
			tests: "dedup", run: "^TestJoin$",
		},
		{
			name: "contained/lines of several lots taken for those of the first", in: "dedup", decl: "lookupFiles.find",
			edit:  swap(`query, stored, id = place, m.Set, f.ids[m.Set]`, `query, stored, id = m.Set, m.Set, f.ids[m.Set]`),
			tests: "cmd/simdb", run: "^TestContained$",
		},
	}...)
}
