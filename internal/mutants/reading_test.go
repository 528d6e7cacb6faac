package mutants

// readingMutants are mistakes in the meaning of files: records of several lines, foldings, paths of
// fields, reference documents, and what a folder has.
var readingMutants = []mutant{
	{
		name: "lines/a line that is cut off is decided on twice", in: "records/lines", decl: "starts.end",
		edit:  swap(`c.within, c.decided = true, !whole`, `c.within, c.decided = true, false`),
		tests: "records/lines", run: "^TestRecordStart(Large)?$",
	},
	{
		name: "lines/the end of a file decides nothing", in: "records/lines", decl: "splitter.finish",
		edit:  drop(`s.starts.last = true`),
		tests: "records/lines", run: "^TestRecordStart$",
	},
	{
		name: "lines/a line of quality begins a record", in: "records/lines", decl: "beginsFASTQ",
		edit:  swap(`missing -= len(line)`, `missing = 0`),
		tests: "records/lines", run: "^TestKinds$",
	},
	{
		name: "token/folded forms have one rune", in: "internal/token", decl: "props.append",
		edit:  never(`folded > unicode.MaxRune`),
		tests: "internal/token", run: "^Test(SplitWords|CharGrams|PropertyIsUnicode15)$",
	},
	{
		name: "features/words stay broken at line ends", in: "internal/features", decl: "normalizer.folded",
		edit:  never(`start >= 0`),
		tests: "internal/features", run: "^TestFoldings$",
	},
	{
		name: "jsonfield/the first key of a path wins", in: "internal/jsonfield", decl: "Path.Step",
		edit:  never(`p.Begins(Any)`),
		tests: "internal/jsonfield", run: "^Test",
	},
	{
		name: "dedup/inputs join each other with OnlyAgainst", in: "internal/setjoin", decl: "stars.choose",
		edit:  always(`!x.o.OnlyKnown`),
		tests: "dedup", run: "^TestOnlyAgainst$",
	},
	{
		name: "inputs/partitions lose their folders", in: "records/inputs", decl: "Places",
		edit:  never(`partition(of)`),
		tests: "records/inputs", run: "^TestPlaces",
	},
	{
		name: "files/nothing is said of what is left out", in: "records/files", decl: "walker.leave",
		edit:  drop(`w.tree.left = append(w.tree.left, entry{path: path, kind: kind, reason: reason})`),
		tests: "records/files", run: "^TestLeft$",
	},
	{
		name: "imagehash/chroma is not smoothed", in: "internal/imagehash", decl: "smoothed",
		edit:  swap(`3*near[x/2] + near[min(max(x/2+x%2*2-1, 0), len(near)-1)]`, `4*near[x/2]`),
		tests: "internal/imagehash", run: "^TestGolden$",
	},
}
