package rulejoin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/textsim"
)

// A Driver lists the pairs of a branch: those that are equal in some columns, or, with Join, those
// that are similar by an atom.
type Driver struct {
	Branch int
	Equal  []int // atoms; a join compares these, too, before it verifies
	Join   int   // an atom; -1: the pairs are those that are equal
	Pairs  int64 // that the driver is expected to compare

	text string
}

// String describes a driver, such as "13,544 pairs are compared, those with a.born = b.born".
func (d *Driver) String() string { return d.text }

// Tests writes the literals of a driver's branch that its join does not decide.
func (d *Driver) Tests(rule *pairrule.Rule) string {
	var all []string
	for _, l := range rule.Branches[d.Branch] {
		if l.Not || l.Atom != d.Join && !slices.Contains(d.Equal, l.Atom) {
			all = append(all, rule.Literal(l))
		}
	}
	return strings.Join(all, " AND ")
}

// sampled is the number of classes whose candidates are counted for an estimate.
const sampled = 2048

// The costs of pairs, relative to those of a candidate of a join of sets, or by edit distance.
const (
	equalCost  = 4  // of a pair with equal keys, whose sets or texts are then compared
	cosineCost = 20 // of a candidate of a join by word counts
	joinCost   = 50 // of a class in any join
)

// Plan chooses the driver of each branch.
func (c *Corpus) Plan() (all []Driver, err error) {
	for n, branch := range c.rule.Branches {
		best, least := Driver{}, math.Inf(1)
		var equal, joins []int
		for _, l := range branch {
			switch {
			case l.Not || c.differs[l.Atom] != nil:
			case c.columns[l.Atom] != nil:
				equal = append(equal, l.Atom)
			default:
				joins = append(joins, l.Atom)
			}
		}
		if len(equal) > 0 {
			_, pairs := c.groups(equal)
			best, least = Driver{Branch: n, Equal: equal, Join: -1, Pairs: pairs}, equalCost*float64(pairs)+float64(c.n)
		}
		for _, atom := range joins {
			candidates, cost, err := c.candidates(atom)
			if err != nil {
				return nil, err
			}
			if cost += joinCost * float64(c.n); cost < least {
				most := float64(c.n) * float64(c.n-1) / 2 // a pair is a candidate as often as it shares an element
				best, least = Driver{Branch: n, Equal: equal, Join: atom, Pairs: int64(min(candidates, most))}, cost
			}
		}
		best.text = c.describe(&best)
		all = append(all, best)
	}
	return all, nil
}

// describe describes a driver.
func (c *Corpus) describe(d *Driver) string {
	var parts []string
	if d.Join >= 0 {
		parts = append(parts, c.rule.Atoms[d.Join].String())
	} else {
		for _, atom := range d.Equal {
			parts = append(parts, c.rule.Atoms[atom].String())
		}
	}
	about := ""
	if d.Join >= 0 {
		about = "about "
	}
	are := "pairs are"
	if d.Pairs == 1 {
		are = "pair is"
	}
	return fmt.Sprintf("%s%s %s compared, those with %s", about, quantity.Number(d.Pairs), are, strings.Join(parts, " AND "))
}

// groups numbers the classes so that those that are equal in all columns have the same number; a
// class that lacks a value has a number of its own. pairs is how many pairs are equal.
func (c *Corpus) groups(atoms []int) (of []uint32, pairs int64) {
	of = make([]uint32, c.n)
	numbers, lone := map[[2]uint32]uint32{}, make([]bool, c.n)
	for _, atom := range atoms {
		clear(numbers)
		for i, key := range c.columns[atom].keys {
			lone[i] = lone[i] || key == unknown
			k := [2]uint32{of[i], key}
			number, ok := numbers[k]
			if !ok {
				number = uint32(len(numbers))
				numbers[k] = number
			}
			of[i] = number
		}
	}
	sizes := make([]int64, len(numbers))
	for i, number := range of {
		if !lone[i] {
			pairs += sizes[number]
			sizes[number]++
		}
	}
	next := uint32(len(numbers))
	for i := range of {
		if lone[i] {
			of[i] = next
			next++
		}
	}
	return of, pairs
}

// candidates estimates how many pairs the join by an atom compares, from a sample, and their cost.
func (c *Corpus) candidates(atom int) (n, cost float64, err error) {
	a, v := &c.rule.Atoms[atom], c.views[c.viewOf[atom]]
	switch {
	case a.Kind == pairrule.Near:
		n = float64(c.n) * float64((a.K+1)*(a.K+1))
		return n, n, nil
	case a.Kind == pairrule.Levenshtein && v.by.Measure.Q == 1: // texts are found by their lengths
		n = float64(c.n) * float64(c.n-1) / 2
		return n, n * equalCost, nil
	}
	var sets [][]uint64
	counts := map[uint64]int{}
	reader, step := v.Sets.Reader(), max(int(c.n)/sampled, 1)
	for i := 0; i < int(c.n) && len(sets) < sampled; i += step {
		set, err := reader.Append(nil, i)
		if err != nil {
			return 0, 0, err
		}
		slices.Sort(set)
		set = slices.Compact(set)
		for _, e := range set {
			counts[e]++
		}
		sets = append(sets, set)
	}
	found := map[uint64]int64{}
	pairs := int64(0)
	for _, set := range sets {
		slices.SortFunc(set, func(x, y uint64) int { return cmp.Or(cmp.Compare(counts[x], counts[y]), cmp.Compare(x, y)) })
		for _, e := range set[:prefix(a, v.by.Measure, len(set))] {
			pairs += found[e]
			found[e]++
		}
	}
	scale := float64(c.n) / float64(max(len(sets), 1))
	n = float64(pairs) * scale * scale
	switch {
	case a.Kind == pairrule.Cosine:
		return n, n * cosineCost, nil
	case a.Kind == pairrule.Levenshtein:
		return n, n, nil
	}
	steps := len(sets) * (len(sets) - 1) / 2 // of counting
	for _, sharers := range counts {
		steps += sharers * (sharers - 1) / 2
	}
	return n, min(n, float64(steps)*scale*scale/setjoin.TallyPays), nil
}

// prefix returns how many elements of a set of n elements a join looks up, at most.
func prefix(a *pairrule.Atom, m setjoin.Measure, n int) int {
	switch a.Kind {
	case pairrule.Levenshtein:
		return min(n, textsim.MostEdits(n, a.T)*m.Q+1)
	case pairrule.Cosine:
		return min(n, n-int(math.Ceil(a.T*a.T*float64(n)))+1)
	case pairrule.Contains:
		return n // the index has all elements of the larger set
	}
	return min(n, setjoin.PrefixLen(a.T, n))
}
