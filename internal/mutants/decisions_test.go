package mutants

// decisionMutants are mistakes in applying the decisions of a review.
var decisionMutants = []mutant{
	{
		name: "decisions/pairs that are no duplicates join", in: "dedup", decl: "decided.accept",
		edit:  swap(`!okM || !okN || !x.apart`, `okM != okN || true || !x.apart`),
		tests: "cmd/simdb", run: "^TestDecisionsLikeModel$",
	},
	{
		name: "decisions/what is kept is dropped", in: "dedup", decl: "decided.accept",
		edit:  never(`keepA && (keepB || b < x.known) || keepB && a < x.known`),
		tests: "cmd/simdb", run: "^TestDecisionsLikeModel$",
	},
	{
		name: "decisions/pairs join by fingerprint", in: "internal/selfjoin", decl: "Apart.Mend",
		edit:  swap(`away < least && by.Accept(n, q)`, `away < least`),
		tests: "cmd/simdb", run: "^TestDecisionsLikeModel$",
	},
	{
		name: "decisions/unknown documents not refused", in: "cmd/simdb", decl: "Apply.check",
		edit:  never(`!hasB`),
		tests: "cmd/simdb", run: "^TestScripts$",
	},
	{
		name: "decisions/contradictions not found", in: "dedup", decl: "contradictions",
		edit:  swap(`of != nil && of.Kind == DecisionDrop`, `of != nil && of.Kind == DecisionAllow`),
		tests: "dedup", run: "^TestRead$",
	},
}
