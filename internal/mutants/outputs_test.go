package mutants

const hurts = "^Test(OutputsHurtNothing|OutputsWork)$"

// outputMutants are mistakes in what keeps outputs from the user's files, and in what is left
// behind.
var outputMutants = []mutant{
	{
		"output/inputs not compared", "internal/outfile", "Guard.used",
		swap(`u.info != nil`, `u.info == nil`),
		"cmd/simdb", hurts,
	},
	{
		"output/written through a link", "internal/outfile", "Guard.look",
		swap(`ModeSymlink`, `ModeSocket`),
		"cmd/simdb", hurts,
	},
	{
		"output/content not looked at", "internal/outfile", "Guard.look",
		swap(`if what != "" { return nil, false`, `if what == "-" { return nil, false`),
		"cmd/simdb", hurts,
	},
	{
		"output/new files in databases", "internal/outfile", "Guard.lookFolder",
		never(`what != ""`),
		"cmd/simdb", hurts,
	},
	{
		"output/a database without catalog not known", "engine", "isDatabase",
		never(`what == foundDamaged`),
		"engine", "^TestIdentify$",
	},
	{
		"output/not looked at again before it is renamed", "internal/outfile", "Writer.finish",
		swap(`_, _, err = w.guard.look(w.flag, w.path)`, `err = nil`),
		"internal/outfile", "^TestCommitLooksAgain$",
	},
	{
		"output/published one by one", "internal/outfile", "Commit",
		swap(`err = w.finish()`, `if err = w.finish(); err == nil { err = w.publish() }`),
		"internal/outfile", "^TestCommitAllOrNone$",
	},
	{
		"output/not declared before the command begins", "cmd/simdb", "run",
		swap(`a.Declare(ctx); err != nil`, `a.Declare(ctx); err != nil && a == nil`),
		"cmd/simdb", "^Test(Wrong|OutputsHurtNothing)$",
	},
	{
		"output/endings not checked", "internal/outfile", "Guard.Claim",
		swap(`!direct`, `direct`),
		"internal/outfile", "^TestClaim$",
	},
	{
		"dedup/damaged input published as if whole", "cmd/simdb", "dedup.damage",
		always(`len(d.failed) == 0`),
		"cmd/simdb", "^TestWrong$",
	},
	{
		"dedup/formats mixed", "cmd/simdb", "dedup.probe",
		swap(`info.Format != first.Format || info.Shape != first.Shape`, `info.Format == "" || info.Shape == ""`),
		"cmd/simdb", "^TestWrong$",
	},
	{
		"setjoin/prefixes one too short", "internal/setjoin", "threshold.long",
		swap(`n - least + 1`, `n - least`),
		"internal/setjoin", "^Test(Thresholds|JoinsAgainstBruteForce)$",
	},
	{
		"setjoin/an element of two sets taken for one of one", "internal/setjoin", "counts.add",
		swap(`case 0, 1:`, `case 0:`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/a later keeper where two are equally similar", "internal/setjoin", "join.compare",
		swap(`m.score > it.best.score`, `m.score >= it.best.score`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/known sets join others", "internal/setjoin", "stars.decide",
		never(`pos+n < x.o.Known && it.best.score < 1`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/members take part as keepers", "internal/setjoin", "stars.decide",
		swap(`it.best.set == none { it.best`, `it.best.score < 1 { it.best`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/what was found in an earlier index forgotten", "internal/setjoin", "stars.recall",
		swap(`x.out.Keeper[it.set]`, `none`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"dedup/dates compared as numbers", "cmd/simdb", "ranking.add",
		swap(`v.kind == text && !numeral.MatchString(v.text)`, `v.kind == absent`),
		"cmd/simdb", "^TestKeepOrder$",
	},
	{
		"dedup/documents without the field first", "cmd/simdb", "ranking.compare",
		swap(`case y.kind == absent:`, `case y.kind == absent && x.kind != number:`),
		"cmd/simdb", "^TestKeepOrder$",
	},
	{
		"dedup/a field that nobody has taken for the order", "cmd/simdb", "ranking.decide",
		swap(`r.missing == int64(len(r.values))`, `r.missing > int64(len(r.values))`),
		"cmd/simdb", "^TestWrong$",
	},
	{
		"load/empty database left by a failure", "cmd/simdb", "newDatabase.close",
		never(`st.Documents == 0`),
		"cmd/simdb", "^TestWrong$",
	},
	{
		"exit/0 after Ctrl-C", "cmd/simdb", "App.Fail",
		swap(`return ExitInterrupt`, `return ExitOK`),
		"cmd/simdb", "^TestInterruptedLoadAtItsEnd$",
	},
	{
		"signals/hangup leaves temporary files", "cmd/simdb", "app.context",
		drop(`, syscall.SIGHUP`),
		"cmd/simdb", "^TestInterruptedDedup$",
	},
	{
		"terminal/control characters of ids in TSV", "repl", "tsv.put",
		swap(`f.terminal`, `!f.terminal`),
		"repl/output", "Terminal",
	},
	{
		"terminal/copies of lines as they are", "cmd/simdb", "App.Sink",
		swap(`output.Shown(a.cleared(a.Out))`, `a.cleared(a.Out)`),
		"cmd/simdb", "^TestHostileOnTerminal$",
	},
	{
		"terminal/kept lines as they are", "internal/outfile", "Guard.shown",
		always(`g.Show == nil`),
		"cmd/simdb", "^TestHostileOnTerminal$",
	},
	{
		"terminal/marks of direction not escaped", "repl/output", "unprintable",
		swap(`unicode.Is(unicode.Bidi_Control, r)`, `false`),
		"repl/output", "^TestTerminalIsNotDriven$",
	},
	{
		"output/two inputs go to one file of a folder", "cmd/simdb/internal/dedup", "job.claimFolder",
		swap(`seen[folded]; ok {`, `seen[folded]; ok && i < 0 {`),
		"cmd/simdb", "^TestScripts$",
	},
	{
		"output/changed inputs of dedup", "cmd/simdb/internal/dedup", "job.unchanged",
		never(`!os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())`),
		"cmd/simdb/internal/dedup", "^TestChangedInput$",
	},
	{
		"output/documents of files that were replaced", "cmd/simdb/internal/corpus", "Listing.Rank",
		never(`at > 0 && bytes.Equal(l.id(l.byID[at-1]), l.id(n))`),
		"cmd/simdb", "^TestFilesAsDatabase$",
	},
	{
		"output/pairs of files as they are found", "cmd/simdb/internal/corpus", "Listing.EachPair",
		swap(`cmp.Compare(q.match, p.match)`, `cmp.Compare(p.match, q.match)`),
		"cmd/simdb", "^TestFilesAsDatabase$",
	},
	{
		"output/a sample of the first documents", "cmd/simdb/internal/corpus", "Sample.Add",
		never(`s.worst.compare(hash, d.ID, s.worst[0]) < 0`),
		"cmd/simdb/internal/corpus", "^TestSample$",
	},
}
