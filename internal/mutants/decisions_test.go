package mutants

// decisionMutants are mistakes in how the decisions of a review are applied.
var decisionMutants = []mutant{
	{
		"decisions/pairs that are no duplicates join", "cmd/simdb", "decided.accept",
		swap(`!okM || !okN || !x.apart`, `okM != okN || true || !x.apart`),
		"cmd/simdb", "^TestDecisionsLikeModel$",
	},
	{
		"decisions/what is kept is dropped", "cmd/simdb", "decided.accept",
		never(`keepA && (keepB || b < x.known) || keepB && a < x.known`),
		"cmd/simdb", "^TestDecisionsLikeModel$",
	},
	{
		"decisions/pairs join by fingerprint", "cmd/simdb", "Corpus.PrintStarsApart",
		swap(`away < least && by.Accept(n, q)`, `away < least`),
		"cmd/simdb", "^TestDecisionsLikeModel$",
	},
	{
		"decisions/unknown documents not refused", "cmd/simdb", "Apply.check",
		never(`!hasB`),
		"cmd/simdb", "^TestScripts$",
	},
	{
		"decisions/contradictions not found", "cmd/simdb", "contradictions",
		swap(`of != nil && of.Kind == Drop`, `of != nil && of.Kind == Allow`),
		"cmd/simdb/internal/decisions", "^TestRead$",
	},
}
