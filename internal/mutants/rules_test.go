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
	}...)
}
