package mutants

// Joins by a rule.
func init() {
	mutants = append(mutants, []mutant{
		{
			name: "rules/a pair once for each alternative that holds", in: "internal/rulejoin", decl: "tester.found",
			edit:  swap(`holds && n < by`, `false`),
			tests: "internal/rulejoin", run: "^TestRandomRules$",
		},
		{
			name: "rules/a missing value differs from others", in: "internal/rulejoin", decl: "tester.value",
			edit:  never(`k == unknown || l == unknown`),
			tests: "internal/rulejoin", run: "^TestRandomRules$",
		},
		{
			name: "rules/known sets that equal others of another group are no keepers", in: "internal/setjoin", decl: "stars.always",
			edit:  swap(`pos < x.o.Known && x.o.Same != nil`, `false`),
			tests: "internal/setjoin", run: "^TestJoinsAgainstBruteForce$",
		},
		{
			name: "rules/the score of the branch that lists a pair", in: "internal/rulejoin", decl: "tester.found",
			edit:  swap(`score = max(score, s)`, `_ = s`),
			tests: "internal/rulejoin", run: "^TestRandomRules$",
		},
		{
			name: "rules/texts with equal words differ in what recurs", in: "internal/rulejoin", decl: "differing.recurs",
			edit:  swap(`n == 0 || n > worddiff.MostRecurring`, `n > worddiff.MostRecurring`),
			tests: "internal/rulejoin", run: "^TestRandomRules$|^TestRecurring$",
		},
		{
			name: "rules/allowed pairs refuse documents", in: "internal/rulejoin", decl: "admission.refuses",
			edit:  drop(`|| a.allowed[engine.Pair{A: min(x, y), B: max(x, y)}]`),
			tests: "internal/rulejoin", run: "^TestAdmit$",
		},
		{
			name: "rules/missing values are equal in limits", in: "internal/rulejoin", decl: "Grouper.Of",
			edit:  swap(`lone || key == unknown`, `lone`),
			tests: "dedup", run: "^TestRandomRules$",
		},
		{
			name: "rules/equal documents with limits out of order", in: "internal/corpus", decl: "Corpus.setClasses",
			edit:  skip("Groups.Sort"),
			tests: "dedup", run: "^TestRandomRules$",
		},
		{
			name: "rules/parts of classes overlap", in: "internal/collection", decl: "Groups.split",
			edit:  swap(`{equal.Hi, b.Hi}`, `{equal.Lo, b.Hi}`),
			tests: "internal/collection", run: "^TestPairs$",
		},
		{
			name: "rules/classes with several groups never match", in: "internal/collection", decl: "Groups.none",
			edit:  swap(`oneIn && of(a.Lo).In != of(b.Lo).In`, `of(a.Lo).In != of(b.Lo).In`),
			tests: "internal/collection", run: "^TestPairs$",
		},
		{
			name: "rules/two negations as limits", in: "internal/pairrule", decl: "Rule.Limited",
			edit:  swap(`negated > 1`, `negated > 2`),
			tests: "dedup", run: "^TestSettle$",
		},
		{
			name: "rules/what must be equal lists no pairs", in: "dedup", decl: "agreement.settle",
			edit:  drop(`|| a.Kind != pairrule.Jaccard && limits.Equal()`),
			tests: "dedup", run: "^TestSettle$",
		},
		{
			name: "rules/within a field as across it", in: "dedup", decl: "agreement.groups",
			edit:  swap(`pairrule.Agreement(a, x.across != "")`, `pairrule.Agreement(a, true)`),
			tests: "dedup", run: "^TestRuleEqualsCriterion$",
		},
		{
			name: "rules/values of other types are equal", in: "internal/docfield", decl: "Value.Compare",
			edit:  never(`v.Kind != w.Kind`),
			tests: "dedup", run: "^TestKeep",
		},
		{
			name: "rules/differences with a direction", in: "internal/worddiff", decl: "Key",
			edit:  swap(`min(keys[0], keys[1])) + max(keys[0], keys[1])`, `keys[0]) + keys[1]`),
			tests: "internal/rulejoin", run: "^TestRandomRules$|^TestRecurring",
		},
		{
			name: "rules/words at the end of a text are no difference", in: "internal/worddiff", decl: "AppendDifference",
			edit:  swap(`append(adds, b...)`, `adds`),
			tests: "internal/rulejoin", run: "^TestRandomRules$|^TestRecurring",
		},
		{
			name: "rules/runs that touch stay apart", in: "internal/worddiff", decl: "joinRuns",
			edit:  never(`n > 0 && joined[n-1].A1 == r.A0 && joined[n-1].B1 == r.B0`),
			tests: "internal/worddiff", run: "^TestRuns$",
		},
		{
			name: "rules/a paragraph needs one more that resembles it", in: "dedup", decl: "nearUnits.All",
			edit:  swap(`int64(often[k]) >= int64(n.d.c.minCount())`, `int64(often[k]) > int64(n.d.c.minCount())`),
			tests: "dedup", run: "^TestNearUnits$",
		},
		{
			name: "rules/paragraphs of the inputs as keepers beside the known", in: "dedup", decl: "nearUnits.Know",
			edit:  swap(`n.known, n.only = len(n.at), only`, `n.known, n.only = len(n.at), false`),
			tests: "dedup", run: "^TestNearUnits$",
		},
		{
			name: "rules/a threshold that labels of other pairs choose", in: "dedup/learn", decl: "choose",
			edit:  never(`!best.finds`),
			tests: "dedup/learn", run: "^TestSimpleFirst$",
		},
		{
			name: "rules/shards find pairs by the last alternative", in: "dedup", decl: "Job.sharedRule",
			edit:  swap(`t = min(t, most)`, `t = most`),
			tests: "dedup/shard", run: "^TestRules$",
		},
		{
			name: "rules/a shard without pairs has no file of rows", in: "dedup/shard", decl: "Job.pairs",
			edit:  never(`group == 0`),
			tests: "dedup/shard", run: "^TestRules$",
		},
		{
			name: "rules/CONTAINS in a rule with a direction", in: "query", decl: "run.bindRule",
			edit:  drop(`&& a.Kind != pairrule.Contains`),
			tests: "query", run: "^TestRuleForms$",
		},
		{
			name: "rules/shards find pairs by JACCARD that must not hold", in: "dedup", decl: "Job.sharedRule",
			edit:  drop(`!l.Not &&`),
			tests: "dedup/shard", run: "^TestRuleErrors$",
		},
	}...)
}
