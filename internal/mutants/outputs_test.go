package mutants

const hurts = "^Test(OutputsHurtNothing|OutputsWork)$"

// outputMutants are mistakes in what keeps outputs from the user's files, and in what is left
// behind.
var outputMutants = []mutant{
	{
		"output/inputs not compared", "internal/outfile", "Guard.used",
		swap(`g.uses.same(info); ok`, `g.uses.same(info); !ok && u.path != ""`),
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
		never(`what == Damaged`),
		"engine", "^TestIdentify$",
	},
	{
		"output/not looked at again before it is renamed", "internal/outfile", "Writer.finish",
		swap(`_, _, err = w.guard.look(w.flag, w.path)`, `err = nil`),
		"internal/outfile", "^TestCommitLooksAgain$",
	},
	{
		"output/a killed process leaves what it was writing", "internal/outfile", "Writer.createTemp",
		never(`err == nil`),
		"internal/outfile", "^TestHidden$",
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
		"level/the first of its kind removed, too", "cmd/simdb/internal/units", "Repeats.repeats",
		swap(`o.first != u.at`, `o.n > 0`),
		"cmd/simdb/internal/units", "^TestRepeats$",
	},
	{
		"level/short units removed", "cmd/simdb/internal/units", "hasher.hash",
		never(`h.least > 0 && token.Count(text, h.symbols, h.least) < h.least`),
		"cmd/simdb/internal/units", "^TestRepeats$",
	},
	{
		"level/rare units removed", "cmd/simdb/internal/units", "Repeats.repeats",
		swap(`o.n >= r.least`, `o.n >= 2`),
		"cmd/simdb/internal/units", "^TestRepeats$",
	},
	{
		"level/paragraphs joined", "cmd/simdb/internal/units", "widest",
		swap(`n > most`, `most < 0`),
		"cmd/simdb/internal/units", "^TestKeep$",
	},
	{
		"level/records cut in the wrong place", "cmd/simdb/internal/input/lines", "spans",
		never(`next < len(marks) || at != len(text)`),
		"cmd/simdb/internal/input/lines", "^TestCutOdd$",
	},
	{
		"level/a document cut by what was found in another", "cmd/simdb/internal/dedup", "level.write",
		swap(`int64(rep.At.Doc()) == n`, `int64(rep.At.Doc()) <= n+1`),
		"cmd/simdb", "^TestLevel$",
	},
	{
		"dedup/formats mixed", "cmd/simdb", "dedup.probe",
		swap(`info.Format != first.Format || info.Shape != first.Shape`, `info.Format == "" || info.Shape == ""`),
		"cmd/simdb", "^TestWrong$",
	},
	{
		"dedup/longer texts than sketches have hashes searched for", "cmd/simdb/internal/dedup", "narrowing.add",
		never(`float64(n+1) >= x.full`),
		"cmd/simdb/internal/dedup", "^TestNarrow$",
	},
	{
		"dedup/documents that an input is like passed over", "cmd/simdb/internal/dedup", "narrowing.inputs",
		skip("search"),
		"cmd/simdb/internal/dedup", "^TestNarrow$",
	},
	{
		"dedup/pairs for --replay of a part of what is known", "cmd/simdb/internal/dedup", "job.narrowTo",
		never(`p.Sketch == 0 || x.lowered < float64(p.MinJaccard) || d.mostPairs(all) > 0`),
		"cmd/simdb/internal/dedup", "^TestNarrow$",
	},
	{
		"dedup/a replay of other documents of --against", "cmd/simdb", "job.sameKnown",
		never(`was[i].XXH3 == nil || *in.XXH3 != *was[i].XXH3`),
		"cmd/simdb", "^TestReplayWithMore$",
	},
	{
		"setjoin/equals of a known set apart from it", "internal/setjoin", "Graph.Split",
		swap(`Pair{named(p.A), named(p.B), p.Score}`, `Pair{p.A, p.B, p.Score}`),
		"internal/setjoin", "^TestStarsOfGraph$",
	},
	{
		"setjoin/prefixes one too short", "internal/setjoin", "threshold.long",
		swap(`n - least + 1`, `n - least`),
		"internal/setjoin", "^Test(Thresholds|JoinsAgainstBruteForce)$",
	},
	{
		"setjoin/a piece of a text too few", "internal/setjoin", "prefixer.ofText",
		swap(`p.t.farthest(n)+1`, `max(p.t.farthest(n), 1)`),
		"internal/setjoin", "^TestEditsAgainstBruteForce$",
	},
	{
		"setjoin/pieces that moved not found", "internal/setjoin", "threshold.reachOf",
		swap(`(d - x + y) >> 1`, `(d - x + y - 2) >> 1`),
		"internal/setjoin", "^TestEditsAgainstBruteForce$",
	},
	{
		"setjoin/a later one of equal runs overlooked", "internal/setjoin", "finder.ofClass",
		drop(`last = place(runs[i]).position()`),
		"internal/setjoin", "^TestEditsAgainstBruteForce$",
	},
	{
		"setjoin/chains end where they are put in order", "internal/setjoin", "index.settle",
		swap(`uint32(to + 2)`, `0`),
		"internal/setjoin", "^Test(EditsAgainstBruteForce|Settle)$",
	},
	{
		"editdist/diagonals one too few", "internal/editdist", "Pattern.diagonals",
		swap(`low := (most - k) / 2`, `low := (most - k - 1) / 2`),
		"internal/editdist", "^TestDistance$",
	},
	{
		"setjoin/rests of word vectors without their own word", "internal/setjoin", "prefixer.ofWords",
		swap(`left < cut*all`, `left-w.square < cut*all`),
		"cmd/simdb/internal/corpus", "^TestTextsAgainstBruteForce$",
	},
	{
		"setjoin/an element of two sets taken for one of one", "internal/setjoin", "counts.add",
		swap(`*w += (full ^ 1) << shift`, `*w |= 1 << shift`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/elements that wait to be counted forgotten", "internal/setjoin", "counts.end",
		swap(`c.scatter(c.later)`, `c.scatter(nil)`),
		"internal/setjoin", "^TestCountsLater$",
	},
	{
		"setjoin/elements counted in another part", "internal/setjoin", "counts.addPart",
		swap(`|uint64(part)`, `|uint64(part^1)`),
		"internal/setjoin", "^TestCountsLater$",
	},
	{
		"setjoin/elements of every second word of counters forgotten", "internal/setjoin", "counts.end",
		swap(`fullOf(c.few[2*i+1])<<32`, `fullOf(c.few[2*i])<<32`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/sets left that have one element too few alone", "internal/setjoin", "counts.appendShared",
		swap(`n <= most`, `n <= most+1`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/elements without a mark", "internal/setjoin", "index.insert",
		drop(`x.packed.mark(tag)`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/sets that match none so far are keepers", "internal/setjoin", "stars.block",
		swap(`it.best.set == none && it.prefix.unique()`, `it.best.set == none`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/rests of postings rounded down", "internal/setjoin", "threshold.restAfter",
		swap(`uint64(before)*uint64(size)+1<<shareBits-1`, `uint64(before+1)*uint64(size)+1<<shareBits-1`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/postings of a bucket without those before it", "internal/setjoin", "index.pack",
		drop(`p.move(first, from, to)`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/bitmaps that keep sets apart that are just similar enough", "internal/setjoin", "join.apart",
		swap(`x+y-2*j.least(it).about(x, y)`, `x+y-2*j.least(it).about(x, y)-1`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/a later keeper where two are equally similar", "internal/setjoin", "join.compare",
		swap(`m.score > it.best.score`, `m.score >= it.best.score`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/a later member of a crowd where two are equally similar", "internal/setjoin", "finder.members",
		swap(`entry < bestEntry`, `entry > bestEntry`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/members of crowds found by the rests of others", "internal/setjoin", "index.join",
		swap(`x.insert(tag, lead, uint32(p.size))`, `x.insert(tag, lead, p.rest(i))`),
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
		"setjoin/members not compared with members", "internal/setjoin", "stars.decide",
		drop(`x.withinMembers.add(uint32(n), &it.prefix)`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"setjoin/stars of a graph join a later keeper", "internal/setjoin", "Graph.Stars",
		swap(`score > nearest[other].score`, `score >= nearest[other].score`),
		"internal/setjoin", "^TestJoinsAgainstBruteForce$",
	},
	{
		"dedup/pairs of dropped documents with earlier ones not recorded", "cmd/simdb", "pairs.each",
		swap(`other < n || p.kept[other] > 0`, `p.kept[other] > 0`),
		"cmd/simdb", "^TestReplay$",
	},
	{
		"dedup/an audit without some of its rows replayed", "cmd/simdb", "replay.readRows",
		never(`with != r.head.Replay.Rows || pairs != r.head.Replay.Pairs`),
		"cmd/simdb", "^TestReplayRefuses$",
	},
	{
		"dedup/known documents of a database preferred as they are stored", "cmd/simdb", "job.orderKnown",
		swap(`s.written[int64(a)-s.known], s.written[int64(b)-s.known]`, `a, b`),
		"cmd/simdb", "^TestAgainstDatabase$",
	},
	{
		"dedup/databases that compare other things taken together", "cmd/simdb", "job.agree",
		never(`d.params.Shingle != p.Shingle || d.features.Describe() != engine.Features(spec).Describe()`),
		"cmd/simdb", "^TestAgainstFeatures$",
	},
	{
		"dedup/an audit of other inputs replayed", "cmd/simdb", "job.sameInputs",
		never(`*in.XXH3 != *was.XXH3`),
		"cmd/simdb", "^TestReplayRefuses$",
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
		"terminal/copies of lines as they are", "cmd/simdb", "App.shownOn",
		swap(`output.Shown(a.cleared(w))`, `a.cleared(w)`),
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
		"output/two inputs go to one file of a folder", "cmd/simdb/internal/app", "OutFolder.Distinct",
		swap(`seen[folded]; ok {`, `seen[folded]; ok && other == "" {`),
		"cmd/simdb", "^TestScripts$",
	},
	{
		"output/changed inputs of dedup", "cmd/simdb/internal/app", "Reread.Unchanged",
		never(`!os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())`),
		"cmd/simdb/internal/app", "^TestChangedInput$",
	},
	{
		"output/a match that shares only what is common in a few sets", "internal/setjoin", "FewFinder.Append",
		swap(`len(x.found) - overlap + 1`, `len(x.found) - overlap`),
		"internal/setjoin", "^TestFew$",
	},
	{
		"output/tune finds a document of the sample like itself", "cmd/simdb/internal/tuning", "Report.Add",
		drop(`r.tally(&r.sample[n], &itself, -1)`),
		"cmd/simdb/internal/tuning", "^TestReport$",
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
		"output/a sample of the first documents", "internal/sample", "Sample.Add",
		never(`s.worst.compare(hash, d.ID, s.worst[0]) < 0`),
		"internal/sample", "^TestSample$",
	},
	{
		"output/a row of Parquet keeps what was cut", "cmd/simdb/internal/input/parquet", "outGroup.column",
		never(`len(*cuts) > 0 && (*cuts)[0].row == row`),
		"cmd/simdb/internal/input/parquet", "^TestCutText$",
	},
	{
		"output/a record of WARC has the length of what was cut", "cmd/simdb/internal/input/warc", "file.CutText",
		swap(`name, len(text)`, `name, len(block)`),
		"cmd/simdb/internal/input/warc", "^TestCutText$",
	},
	{
		"output/records of WARC in one gzip member", "cmd/simdb/internal/input/warc", "copier.Copy",
		swap(`return w.EndPart()`, `_ = w; return nil`),
		"cmd/simdb/internal/input/warc", "^TestCopyParts$",
	},
}
