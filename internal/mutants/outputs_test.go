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
		name: "messages/flags named as fields", in: "cmd/simdb/flags", decl: "init",
		edit:  swap(`option.Use(&app.Flags)`, `_ = option.Use`),
		tests: "cmd/simdb", run: "^TestOptionsAreFlags$",
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
		name: "level/the first of its kind removed, too", in: "dedup/internal/units", decl: "Repeats.repeated",
		edit:  swap(`ok && o.first != at`, `o.n > 0`),
		tests: "dedup/internal/units", run: "^TestRepeats$",
	},
	{
		name: "level/short units removed", in: "dedup/internal/units", decl: "hasher.hash",
		edit:  never(`h.least > 0 && token.Count(text, h.symbols, h.least) < h.least`),
		tests: "dedup/internal/units", run: "^TestRepeats$",
	},
	{
		name: "level/rare units removed", in: "dedup/internal/units", decl: "Repeats.repeated",
		edit:  swap(`o.n >= r.least`, `o.n >= 2`),
		tests: "dedup/internal/units", run: "^TestRepeats$",
	},
	{
		name: "level/rare units of what is known stay", in: "dedup/internal/units", decl: "Repeats.repeated",
		edit:  swap(`o.n >= r.least || o.first.Doc() < r.known`, `o.n >= r.least`),
		tests: "dedup/internal/units", run: "^TestRepeats$",
	},
	{
		name: "level/anchors of windows that overlap counted once", in: "dedup/internal/units", decl: "passages.eachAnchor",
		edit:  swap(`queue[head] != at`, `at < 0 || p.grams[queue[head]] != p.grams[at]`),
		tests: "dedup/internal/units", run: "^TestPassages$",
	},
	{
		name: "level/the first window of a text that repeats itself removed", in: "dedup/internal/units", decl: "Options.Remove",
		edit:  never(`r.First.Doc() == r.At.Doc() && r.First.Unit()+n > at`),
		tests: "dedup/internal/units", run: "^TestPassageWithinItself$",
	},
	{
		name: "level/records cut in the wrong place", in: "records/lines", decl: "spans",
		edit:  never(`next < len(marks) || at != len(text)`),
		tests: "records/lines", run: "^TestCutOdd$",
	},
	{
		name: "level/a document cut by what was found in another", in: "dedup", decl: "level.write",
		edit:  swap(`int64(rep.At.Doc()) == l.known+n`, `int64(rep.At.Doc()) <= l.known+n+1`),
		tests: "cmd/simdb", run: "^TestLevel$",
	},
	{
		name: "dedup/formats mixed", in: "records/inputs", decl: "OneOutput",
		edit:  swap(`a.Format != b.Format || a.Shape != b.Shape`, `a.Format == "" || a.Shape == ""`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "dedup/longer texts than sketches have hashes searched for", in: "dedup", decl: "narrowing.item",
		edit:  never(`float64(n+1) >= x.full`),
		tests: "dedup", run: "^TestNarrow$",
	},
	{
		name: "dedup/documents that an input is like passed over", in: "dedup", decl: "narrowing.search",
		edit:  swap(`x.s.Stored.Only[m.ID] = true`, `x.s.Stored.Only[""] = m.ID != ""`),
		tests: "dedup", run: "^TestNarrow$",
	},
	{
		name: "setjoin/prefixes one too short", in: "internal/setjoin", decl: "threshold.long",
		edit:  swap(`n - least + 1`, `n - least`),
		tests: "internal/setjoin", run: "^Test(Thresholds|JoinsAgainstBruteForce)$",
	},
	{
		name: "stages/pairs count in every group", in: "dedup/internal/stages", decl: "Plan.Pairs",
		edit:  swap(`lowest(x.Asked, y.Asked) != Asked{Group: group}`, `lowest(x.Asked, y.Asked).compare(Asked{Group: group}) > 0`),
		tests: "dedup/internal/stages", run: "^TestAgainstOneMachine$",
	},
	{
		name: "stages/a block too few", in: "dedup/internal/stages", decl: "Plan.routePrints",
		edit:  swap(`p.By.K+1`, `max(p.By.K, 1)`),
		tests: "dedup/internal/stages", run: "^TestPrints$",
	},
	{
		name: "library/the last of two criteria counts", in: "cmd/simdb/internal/library", decl: "keywords.set",
		edit:  swap(`criterion = name`, `_ = criterion`),
		tests: "cmd/simdb/internal/library", run: "^TestKeywords$",
	},
	{
		name: "engine/a criterion that is read is not verified", in: "engine", decl: "Criterion.UnmarshalText",
		edit:  swap(`*c = c.Verified()`, `*c = criterion(t)`),
		tests: "engine", run: "^TestCriterionText$",
	},
	{
		name: "shard/what comes twice counts twice", in: "dedup/shard", decl: "Job.keepers",
		edit:  swap(`stars = slices.Compact(stars)`, `stars = slices.Clip(stars)`),
		tests: "dedup/shard", run: "^TestDedup$",
	},
	{
		name: "shard/links that met at once are lost", in: "dedup/shard", decl: "Job.forest",
		edit:  swap(`links = append(links, met...)`, `_ = met`),
		tests: "dedup/shard", run: "^TestDedup$",
	},
	{
		name: "shard/a worker that was killed has done its share", in: "dedup/shard", decl: "Job.RunStep",
		edit:  swap(`dir := filepath.Join(own, "messages")`, `dir := target`),
		tests: "dedup/shard", run: "^TestKilled$",
	},
	{
		name: "stages/two parts of a large cell do not meet", in: "dedup/internal/stages", decl: "Plan.cells",
		edit:  swap(`slices.Concat(a, b)`, `slices.Clone(b)`),
		tests: "dedup/internal/stages", run: "^TestAgainstOneMachine$",
	},
	{
		name: "stages/the set with the most to spare has no company", in: "dedup/internal/stages", decl: "Plan.company",
		edit:  swap(`next = spare(sets[best])`, `next = math.Inf(-1)`),
		tests: "dedup/internal/stages", run: "^TestAgainstOneMachine$",
	},
	{
		name: "setjoin/a piece of a text too few", in: "internal/setjoin", decl: "prefixer.ofText",
		edit:  swap(`p.t.farthest(n)+1`, `max(p.t.farthest(n), 1)`),
		tests: "internal/setjoin", run: "^TestEditsAgainstBruteForce$",
	},
	{
		name: "setjoin/pieces that moved not found", in: "internal/setjoin", decl: "threshold.reachOf",
		edit:  swap(`(d - x + y) >> 1`, `(d - x + y - 2) >> 1`),
		tests: "internal/setjoin", run: "^TestEditsAgainstBruteForce$",
	},
	{
		name: "setjoin/a later one of equal runs overlooked", in: "internal/setjoin", decl: "finder.ofClass",
		edit:  drop(`last = place(p.runs[i]).position()`),
		tests: "internal/setjoin", run: "^TestEditsAgainstBruteForce$",
	},
	{
		name: "setjoin/pieces taken to be where their share begins", in: "internal/setjoin", decl: "finder.pieces",
		edit:  swap(`at+(size-1)>>shareBits < l.from`, `at < l.from`),
		tests: "internal/setjoin", run: "^TestEditsFarAway$",
	},
	{
		name: "setjoin/pieces at the end of their reach not found", in: "internal/setjoin", decl: "finder.pieces",
		edit:  swap(`at > l.to+int(r.after)`, `at >= l.to+int(r.after)`),
		tests: "internal/setjoin", run: "^TestEditsAgainstBruteForce$",
	},
	{
		name: "editdist/diagonals one too few", in: "internal/kernel", decl: "Pattern.diagonals",
		edit:  swap(`low := (most - k) / 2`, `low := (most - k - 1) / 2`),
		tests: "internal/kernel", run: "^TestDistance$",
	},
	{
		name: "setjoin/rests of word vectors without their own word", in: "internal/setjoin", decl: "prefixer.ofWords",
		edit:  swap(`left < cut*all`, `left-w.square < cut*all`),
		tests: "fuzz", run: "^FuzzJob$",
	},
	{
		name: "setjoin/an element of two sets taken for one of one", in: "internal/setjoin", decl: "counts.add",
		edit:  swap(`*w += (full ^ 1) << shift`, `*w |= 1 << shift`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/elements that wait to be counted forgotten", in: "internal/setjoin", decl: "counts.end",
		edit:  swap(`c.scatter(c.later)`, `c.scatter(nil)`),
		tests: "internal/setjoin", run: "^TestCountsLater$",
	},
	{
		name: "setjoin/elements counted in another part", in: "internal/setjoin", decl: "counts.addPart",
		edit:  swap(`|uint64(part)`, `|uint64(part^1)`),
		tests: "internal/setjoin", run: "^TestCountsLater$",
	},
	{
		name: "setjoin/elements of every second word of counters forgotten", in: "internal/setjoin", decl: "counts.end",
		edit:  swap(`fullOf(c.few[2*i+1])<<32`, `fullOf(c.few[2*i])<<32`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/sets left that have one element too few alone", in: "internal/setjoin", decl: "counts.appendShared",
		edit:  swap(`n <= most`, `n <= most+1`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/elements without a mark", in: "internal/setjoin", decl: "index.insert",
		edit:  drop(`x.packed.mark(tag)`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/sets that match none so far are keepers", in: "internal/setjoin", decl: "stars.block",
		edit:  swap(`it.best.set == none && it.prefix.unique()`, `it.best.set == none`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/rests of postings rounded down", in: "internal/setjoin", decl: "threshold.restAfter",
		edit:  swap(`uint64(before)*uint64(size)+1<<shareBits-1`, `uint64(before+1)*uint64(size)+1<<shareBits-1`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/postings of a bucket without those before it", in: "internal/setjoin", decl: "index.pack",
		edit:  drop(`p.move(first, from, to)`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/bitmaps that keep sets apart that are just similar enough", in: "internal/setjoin", decl: "join.apart",
		edit:  swap(`x+y-2*j.least(it).about(x, y)`, `x+y-2*j.least(it).about(x, y)-1`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/a later keeper where two are equally similar", in: "internal/setjoin", decl: "join.compare",
		edit:  swap(`m.score > it.best.score`, `m.score >= it.best.score`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/a later member of a crowd where two are equally similar", in: "internal/setjoin", decl: "finder.members",
		edit:  swap(`entry < bestEntry`, `entry > bestEntry`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/all of a crowd counted though its parts are found", in: "internal/setjoin", decl: "finder.members",
		edit:  never(`few && len(f.parts) == 0`),
		tests: "internal/setjoin", run: "^TestPartsOfCrowd$",
	},
	{
		name: "setjoin/members of crowds found by the rests of others", in: "internal/setjoin", decl: "index.join",
		edit:  swap(`x.insert(tag, lead, uint32(p.size))`, `x.insert(tag, lead, p.rest(i))`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/known sets join others", in: "internal/setjoin", decl: "stars.choose",
		edit:  never(`pos < x.o.Known && it.best.score < 1`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/too few parts of a set looked up", in: "internal/setjoin", decl: "finder.parted",
		edit:  swap(`min(differ/2+1, len(f.parter.sums))`, `min(differ/2, len(f.parter.sums))`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/parts of members without an element not looked up", in: "internal/setjoin", decl: "finder.parted",
		edit:  drop(`f.look(x, p, t, whole+withoutOne)`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/a set compared with a larger twin alone", in: "internal/setjoin", decl: "worker.isTwin",
		edit:  swap(`!ok || y.size > p.size ||`, `!ok ||`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/texts of few common words ruled out", in: "internal/setjoin", decl: "mostWords",
		edit:  swap(`(x+y)*(1+slack)`, `0.7*(x+y)`),
		tests: "dedup/internal/corpus", run: ".",
	},
	{
		name: "memindex/documents that hold just enough of a set not found", in: "engine/internal/memindex", decl: "GrowingSets.Candidates",
		edit:  swap(`least = need(len(of))`, `least = need(len(of)) + 1`),
		tests: "engine/internal/memindex", run: "^TestGrowingSets$",
	},
	{
		name: "corpus/IDs that are prefixes sorted after others", in: "dedup/internal/corpus", decl: "Listing.sortIDs",
		edit:  swap(`byte(min(len(id)-len(first), keyBytes+1))`, `keyBytes + 1`),
		tests: "dedup/internal/corpus", run: "^TestRank$",
	},
	{
		name: "setjoin/texts passed over that are connected with others of a crowd", in: "internal/setjoin", decl: "sharers.of",
		edit:  swap(` && p.connected(x.part(x.sets[l.entries[0]]))`, ``),
		tests: "internal/setjoin", run: "^TestComponentsByCosine$",
	},
	{
		name: "setjoin/crowds told of again and again", in: "internal/setjoin", decl: "join.report",
		edit:  swap(`j.o.Crowded = nil`, ``),
		tests: "internal/setjoin", run: "^TestCrowded$",
	},
	{
		name: "setjoin/members take part as keepers", in: "internal/setjoin", decl: "stars.choose",
		edit:  swap(`it.best.set != none`, `it.best.score == 1`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "setjoin/sets that others take for it let a keeper be forgotten", in: "internal/setjoin", decl: "stars.again",
		edit:  swap(`same := x.o.Same[set]`, `same := x.o.Same[set] / 2`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "corpus/components keep the first document", in: "internal/collection", decl: "Clustering.Keepers",
		edit:  swap(`c.Near(c.Order).Components`, `c.Near(nil).Components`),
		tests: "fuzz", run: "^FuzzJob$",
	},
	{
		name: "corpus/equal documents of two groups not paired", in: "internal/collection", decl: "Groups.split",
		edit:  swap(`Span{part.Hi, a.Hi}`, `Span{a.Hi, a.Hi}`),
		tests: "internal/collection", run: "^TestPairs$",
	},
	{
		name: "setjoin/what was found in an earlier index forgotten", in: "internal/setjoin", decl: "stars.recall",
		edit:  swap(`x.out.Keeper[it.set]`, `none`),
		tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
	},
	{
		name: "dedup/known documents of a database preferred as they are stored", in: "dedup", decl: "job.orderKnown",
		edit:  swap(`s.written[int64(a)-s.known], s.written[int64(b)-s.known]`, `a, b`),
		tests: "cmd/simdb", run: "^TestAgainstDatabase$",
	},
	{
		name: "dedup/databases that compare other things taken together", in: "dedup", decl: "job.agree",
		edit:  never(`d.params.Shingle != p.Shingle || d.features.Describe() != of.Describe()`),
		tests: "cmd/simdb", run: "^TestAgainstFeatures$",
	},
	{
		name: "dedup/dates compared as numbers", in: "dedup", decl: "ranking.add",
		edit:  swap(`v.Kind == grouping.Text && !v.IsNumeral()`, `v.Kind == grouping.Absent`),
		tests: "dedup", run: "^TestKeepOrder$",
	},
	{
		name: "dedup/documents without the field first", in: "dedup", decl: "ranking.compare",
		edit:  swap(`case y.Kind == grouping.Absent:`, `case y.Kind == grouping.Absent && x.Kind != grouping.Number:`),
		tests: "dedup", run: "^TestKeepOrder$",
	},
	{
		name: "dedup/a field that nobody has taken for the order", in: "dedup", decl: "ranking.decide",
		edit:  swap(`r.missing == int64(len(r.values))`, `r.missing > int64(len(r.values))`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "load/empty database left by a failure", in: "engine", decl: "Store.Discard",
		edit:  never(`db.building || db.site != nil && db.current != nil && db.seq == 0 && len(db.current.Parts) == 0`),
		tests: "cmd/simdb", run: "^TestWrong$",
	},
	{
		name: "exit/0 after Ctrl-C", in: "cmd/simdb", decl: "App.Fail",
		edit:  swap(`return ExitInterrupt`, `return ExitOK`),
		tests: "cmd/simdb", run: "^TestInterruptedLoadAtItsEnd$",
	},
	{
		name: "signals/hangup leaves temporary files", in: "cmd/simdb", decl: "app.context",
		edit:  drop(`, syscall.SIGHUP`),
		tests: "cmd/simdb", run: "^TestInterruptedDedup$",
	},
	{
		name: "terminal/control characters of ids in TSV", in: "repl", decl: "tsv.put",
		edit:  swap(`f.terminal`, `!f.terminal`),
		tests: "repl/output", run: "Terminal",
	},
	{
		name: "terminal/copies of lines as they are", in: "cmd/simdb", decl: "App.shownOn",
		edit:  swap(`printable.Writer(a.cleared(w))`, `func() io.Writer { _ = printable.Writer; return a.cleared(w) }()`),
		tests: "cmd/simdb", run: "^TestHostileOnTerminal$",
	},
	{
		name: "terminal/kept lines as they are", in: "internal/outfile", decl: "Guard.shown",
		edit:  always(`g.Show == nil`),
		tests: "cmd/simdb", run: "^TestHostileOnTerminal$",
	},
	{
		name: "terminal/marks of direction not escaped", in: "internal/printable", decl: "Control",
		edit:  swap(`unicode.Is(unicode.Bidi_Control, r)`, `false`),
		tests: "repl/output", run: "^TestTerminalIsNotDriven$",
	},
	{
		name: "output/two inputs go to one file of a folder", in: "records/inputs", decl: "OutFolder.Distinct",
		edit:  swap(`seen[folded]; ok {`, `seen[folded]; ok && other == "" {`),
		tests: "cmd/simdb", run: "^TestScripts$",
	},
	{
		name: "output/changed inputs of dedup", in: "records/inputs", decl: "Sources.Unchanged",
		edit:  never(`!os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime())`),
		tests: "records/inputs", run: "^TestChangedInput$",
	},
	{
		name: "output/a match that shares only what is common in a few sets", in: "internal/setjoin", decl: "FewFinder.Append",
		edit:  swap(`len(x.found) - overlap + 1`, `len(x.found) - overlap`),
		tests: "internal/setjoin", run: "^TestFew$",
	},
	{
		name: "output/tune finds a document of the sample like itself", in: "dedup/tune", decl: "Report.Add",
		edit:  drop(`r.tally(&r.sample[n], &itself, -1)`),
		tests: "dedup/tune", run: "^TestReport$",
	},
	{
		name: "output/documents of files that were replaced", in: "dedup/internal/corpus", decl: "Listing.Rank",
		edit:  never(`order == 0`),
		tests: "cmd/simdb", run: "^TestFilesAsDatabase$",
	},
	{
		name: "output/pairs of files as they are found", in: "internal/collection", decl: "Collection.Pairs",
		edit:  swap(`cmp.Compare(y.Match, x.Match)`, `cmp.Compare(x.Match, y.Match)`),
		tests: "internal/collection", run: "^TestPairs$",
	},
	{
		name: "output/a sample of the first documents", in: "dedup", decl: "listSample.add",
		edit:  never(`compareDrawn(x, s.worst[0]) < 0`),
		tests: "dedup", run: "^TestSample$",
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
