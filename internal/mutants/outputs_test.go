package mutants

const hurts = "^Test(OutputsHurtNothing|OutputsWork)$"

// outputMutants are mistakes in protecting the user's files from outputs, and in cleaning up.
var outputMutants = []mutant{
	{
		name: "output/inputs not compared", in: "internal/outfile", decl: "Guard.used",
		edit:  swap(`g.uses.same(info); ok`, `g.uses.same(info); !ok && u.path != ""`),
		tests: "cmd/simdb", run: hurts,
	},
	{
		name: "output/written through a link", in: "internal/outfile", decl: "Guard.look",
		edit:  swap(`ModeSymlink`, `ModeSocket`),
		tests: "cmd/simdb", run: hurts,
	},
	{
		name: "output/content not looked at", in: "internal/outfile", decl: "Guard.look",
		edit:  swap(`if what != "" { return nil, false`, `if what == "-" { return nil, false`),
		tests: "cmd/simdb", run: hurts,
	},
	{
		name: "output/new files in databases", in: "internal/outfile", decl: "Guard.lookFolder",
		edit:  never(`what != ""`),
		tests: "cmd/simdb", run: hurts,
	},
	{
		name: "output/a database without catalog not known", in: "engine", decl: "isDatabase",
		edit:  never(`what == Damaged`),
		tests: "engine", run: "^TestIdentify$",
	},
	{
		name: "output/not looked at again before it is renamed", in: "internal/outfile", decl: "Writer.finish",
		edit:  swap(`_, _, err = w.guard.look(w.flag, w.path)`, `err = nil`),
		tests: "internal/outfile", run: "^TestCommitLooksAgain$",
	},
	{
		name: "output/a killed process leaves what it was writing", in: "internal/outfile", decl: "Writer.createTemp",
		edit:  never(`err == nil`),
		tests: "internal/outfile", run: "^TestHidden$",
	},
	{
		name: "output/published one by one", in: "internal/outfile", decl: "Commit",
		edit:  swap(`err = w.finish()`, `if err = w.finish(); err == nil { err = w.publish() }`),
		tests: "internal/outfile", run: "^TestCommitAllOrNone$",
	},
	{
		name: "output/not declared before the command begins", in: "cmd/simdb", decl: "run",
		edit:  swap(`a.Declare(ctx); err != nil`, `a.Declare(ctx); err != nil && a == nil`),
		tests: "cmd/simdb", run: "^Test(Wrong|OutputsHurtNothing)$",
	},
	{
		name: "output/endings not checked", in: "internal/outfile", decl: "Guard.Claim",
		edit:  swap(`!direct`, `direct`),
		tests: "internal/outfile", run: "^TestClaim$",
	},
	{
		name: "dedup/damaged input published as if whole", in: "dedup", decl: "dedup.damage",
		edit:  always(`len(d.failed) == 0`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "dedup/formats mixed", in: "records/inputs", decl: "OneOutput",
		edit:  swap(`a.Format != b.Format || a.Shape != b.Shape`, `a.Format == "" || a.Shape == ""`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "load/empty database left by a failure", in: "engine", decl: "Store.Discard",
		edit:  never(`db.building || db.site != nil && db.current != nil && db.seq == 0 && len(db.current.Parts) == 0`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "signals/hangup leaves temporary files", in: "cmd/simdb", decl: "app.context",
		edit:  drop(`, syscall.SIGHUP`),
		tests: "cmd/simdb", run: "^TestInterruptedDedup$",
	},
	{
		name: "output/two inputs go to one file of a folder", in: "records/inputs", decl: "OutFolder.Distinct",
		edit:  swap(`seen[folded]; ok {`, `seen[folded]; ok && other == "" {`),
		tests: "cmd/simdb", run: "^TestScripts$",
	},
	{
		name: "output/changed inputs of dedup", in: "records/inputs", decl: "Sources.Unchanged",
		edit:  never(`!place.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())`),
		tests: "records/inputs", run: "^TestChangedInput$",
	},
	{
		name: "output/documents of files that were replaced", in: "internal/corpus", decl: "Listing.Rank",
		edit:  never(`order == 0`),
		tests: "cmd/simdb", run: "^TestFilesAsDatabase$",
	},
	{
		name: "output/a row of Parquet keeps what was cut", in: "records/parquet", decl: "outGroup.column",
		edit:  never(`len(*cuts) > 0 && (*cuts)[0].row == row`),
		tests: "records/parquet", run: "^TestCutText$",
	},
	{
		name: "output/a record of WARC has the length of what was cut", in: "records/files", decl: "warcFile.CutText",
		edit:  swap(`name, len(text)`, `name, len(block)`),
		tests: "records/files", run: "^TestCutText$",
	},
	{
		name: "output/records of WARC in one gzip member", in: "records/files", decl: "warcCopier.Copy",
		edit:  swap(`return w.EndPart()`, `_ = w; return nil`),
		tests: "records/files", run: "^TestCopyParts$",
	},
}
