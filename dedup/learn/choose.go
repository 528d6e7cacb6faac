package learn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// A shape is a rule without its threshold: a measure, and a condition.
type shape struct {
	measure int
	also    condition
}

// Before labels, a rule with another measure than the first, or with a condition, is less probable: the
// logarithm of its probability is lower by these amounts.
const (
	otherMeasure = 1
	anyCondition = 0.5
)

// mistaken is the probability that a label disagrees with the right rule.
const mistaken = 0.1

// The thresholds are lowest, lowest+0.01, ... up to 1; before labels, all are equally probable.
const (
	lowest     = 20
	thresholds = 100 - lowest + 1
)

func threshold(i int) float64 { return float64(lowest+i) / 100 }

// plainShapes is a threshold alone.
var plainShapes = []shape{{}}

// shapesOf returns all shapes, simple ones first.
func shapesOf(measures int) (all []shape) {
	for also := range conditions {
		for m := range measures {
			all = append(all, shape{m, also})
		}
	}
	return all
}

// An example is a pair with its label.
type example struct {
	*traits
	same bool
}

// A fitted rule is a shape with a threshold.
type fitted struct {
	shape
	t float64
}

// holds reports whether a pair matches.
func (f fitted) holds(x *traits) bool {
	from, to := f.span(x)
	return from < f.t+1e-9 && f.t <= to+1e-9
}

// span returns the thresholds at which a pair matches: above from, and up to to.
func (s shape) span(x *traits) (from, to float64) {
	switch {
	case s.also == unique && s.measure == 0:
		return x.recurs + 2e-9, x.scores[0]
	case !x.facts[s.also]:
		return 0, -1
	}
	return 0, x.scores[s.measure]
}

// A belief is what labels say about a shape.
type belief struct {
	shape
	at     [thresholds]float64 // probability of each threshold, their sum is 1
	weight float64             // logarithm of the probability of the shape, up to a constant
	finds  bool                // the shape matches a label that says "same", at some threshold
}

// believe applies Bayes' rule to a shape.
func believe(s shape, all []example) (b belief) {
	b.shape = s
	wrong := math.Log(mistaken / (1 - mistaken))
	var errors [thresholds]int
	for _, x := range all {
		from, to := s.span(x.traits)
		b.finds = b.finds || x.same && from < to
		for i := range errors {
			t := threshold(i)
			if (from < t && t <= to+1e-9) != x.same {
				errors[i]++
			}
		}
	}
	sum := 0.0
	for i, n := range errors {
		b.at[i] = math.Exp(wrong * float64(n-errors[0]))
		sum += b.at[i]
	}
	for i := range b.at {
		b.at[i] /= sum
	}
	b.weight = math.Log(sum/thresholds) + wrong*float64(errors[0])
	if s.measure > 0 {
		b.weight -= otherMeasure
	}
	if s.also != always {
		b.weight -= anyCondition
	}
	return b
}

// mean returns the expected threshold, in steps of 0.01, but none far below the scores of all labels:
// nobody has said anything about such pairs.
func (b *belief) mean(all []example) (t float64) {
	least := 1.0
	for _, x := range all {
		least = min(least, x.scores[b.measure])
	}
	for i, p := range b.at {
		t += p * threshold(i)
	}
	const below = 0.02
	return math.Round(100*max(t, least-below)) / 100
}

// choose returns the most probable shape with its expected threshold. If no label says that a pair
// which the condition accepts is the same, the labels say nothing about the threshold other than the
// condition: then it is that of the measure alone, which all labels choose.
func choose(shapes []shape, all []example) fitted {
	best := believe(shapes[0], all)
	for _, s := range shapes[1:] {
		if b := believe(s, all); b.weight > best.weight+1e-9 {
			best = b
		}
	}
	f := fitted{best.shape, best.mean(all)}
	if !best.finds {
		alone := believe(shape{measure: best.measure}, all)
		f.t = alone.mean(all)
	}
	return f
}

// rule writes a rule in the language of rules.
func (c *Corpus) rule(f fitted) string {
	text := fmt.Sprintf("JACCARD(%s) >= %v", c.names[f.measure], f.t)
	if f.also != always {
		text += " AND " + f.also.text()
	}
	return text
}

// folds is the number of parts of a cross-validation.
const folds = 20

// validate returns how many labels agree with the rule that the labels of the other parts choose.
func validate(shapes []shape, all []example, seed uint64) (right int) {
	order := rand.New(rand.NewPCG(seed, 2)).Perm(len(all))
	parts := min(folds, len(all))
	for part := range parts {
		var others []example
		for i, n := range order {
			if i%parts != part {
				others = append(others, all[n])
			}
		}
		f := choose(shapes, others)
		for i := part; i < len(order); i += parts {
			if x := all[order[i]]; f.holds(x.traits) == x.same {
				right++
			}
		}
	}
	return right
}

// wilson returns the interval of a share, of which right of n are observed, that is right in 19 of
// 20 samples (Wilson, "Probable inference, the law of succession, and statistical inference", 1927).
func wilson(right, n int) (low, high float64) {
	const sure = 1.96
	p, z := float64(right)/float64(n), sure*sure/float64(n)
	half := sure * math.Sqrt(p*(1-p)/float64(n)+z/(4*float64(n)))
	return max(0, (p+z/2-half)/(1+z)), min(1, (p+z/2+half)/(1+z))
}

// Ask returns the pair about which the rules disagree most, given labels. Each document is asked
// about once, also those of skipped pairs, and each difference in words at most twice. ok is false if
// no pair is left.
func (c *Corpus) Ask(labels, skipped []Label) (p Pair, ok bool, err error) {
	all, err := c.examples(slices.Concat(labels, skipped))
	if err != nil {
		return p, false, err
	}
	used, asked := map[int]bool{}, map[uint64]int{}
	for _, x := range all {
		used[x.a], used[x.b] = true, true
		asked[x.differs]++
	}
	all = all[:len(labels)]
	var beliefs []belief
	top := math.Inf(-1)
	for _, s := range shapesOf(len(c.names)) {
		b := believe(s, all)
		beliefs, top = append(beliefs, b), max(top, b.weight)
	}
	var best *traits
	most := -1.0
	for _, x := range c.pairs {
		if used[x.a] || used[x.b] || asked[x.differs] >= 2 {
			continue
		}
		yes, sum := 0.0, 0.0
		for i := range beliefs {
			b := &beliefs[i]
			weight, share := math.Exp(b.weight-top), 0.0
			from, to := b.span(x)
			for i, p := range b.at {
				if t := threshold(i); from < t && t <= to+1e-9 {
					share += p
				}
			}
			yes, sum = yes+weight*share, sum+weight
		}
		if vote := yes / sum; vote*(1-vote) > most+1e-9 {
			most, best = vote*(1-vote), x
		}
	}
	if best == nil {
		return p, false, nil
	}
	return c.pair(best), true, nil
}
