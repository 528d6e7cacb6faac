// Package health has figures of the near-duplicates of a corpus: how large its clusters are, how
// little alike their members, and what many documents share. It also draws documents at random
// (sample.go).
package health

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/simdb/simdb/engine"
)

const (
	mostClusters = 10 // clusters that are looked at, and edges that are listed
	mostMembers  = 64 // members of a cluster that are compared with each other
)

// Columns are those of the rows. What does not apply is nil.
func Columns() []string { return []string{"figure", "id", "other", "size", "value", "exact"} }

// Clusters are figures of all clusters, as their members come in order.
type Clusters struct {
	distance bool // edges are measured by the distance of fingerprints
	rng      *rand.Rand
	clusters int64
	members  int64
	sizes    [64]int64 // clusters by the length of their size in bits
	now      summarized
	largest  []summarized // the first ones
	weakest  []weakEdge   // in order
}

// summarized is a cluster: its keeper, how many documents it has, the worst edge, and a sample of
// members.
type summarized struct {
	keeper string
	size   int64
	worst  engine.Match
	sample []string
}

// weakEdge is a member that is little like its keeper.
type weakEdge struct {
	keeper string
	engine.Match
}

// NewClusters returns figures of clusters by the distance of fingerprints, or else by scores.
func NewClusters(distance bool) *Clusters {
	return &Clusters{distance: distance, rng: rand.New(rand.NewPCG(1, 2))}
}

// worse compares matches: the one that is less alike comes first.
func (s *Clusters) worse(a, b engine.Match) int {
	return cmp.Or(cmp.Compare(b.Distance, a.Distance), cmp.Compare(a.Score, b.Score), cmp.Compare(a.ID, b.ID))
}

// Add takes the next member, in the order of clusters, of each the keeper first.
func (s *Clusters) Add(m engine.Member) {
	if m.Keep {
		s.end()
		s.now = summarized{keeper: m.ID}
	} else {
		if s.now.size == 1 || s.worse(m.Match, s.now.worst) < 0 {
			s.now.worst = m.Match
		}
		s.weak(weakEdge{s.now.keeper, m.Match})
	}
	s.now.size++
	s.members++
	if s.clusters >= mostClusters {
		return
	}
	at := int64(len(s.now.sample))
	if at == mostMembers {
		if at = s.rng.Int64N(s.now.size); at >= mostMembers {
			return
		}
		s.now.sample[at] = m.ID
		return
	}
	s.now.sample = append(s.now.sample, m.ID)
}

// weak keeps an edge if it is one of the weakest.
func (s *Clusters) weak(e weakEdge) {
	n := len(s.weakest)
	if n == mostClusters && s.worse(e.Match, s.weakest[n-1].Match) > 0 {
		return
	}
	at, _ := slices.BinarySearchFunc(s.weakest, e, func(a, b weakEdge) int { return s.worse(a.Match, b.Match) })
	s.weakest = slices.Insert(s.weakest, at, e)[:min(n+1, mostClusters)]
}

func (s *Clusters) end() {
	if s.now.size == 0 {
		return
	}
	s.clusters++
	s.sizes[bits.Len64(uint64(s.now.size))]++
	if len(s.largest) < mostClusters {
		s.largest = append(s.largest, s.now)
	}
	s.now = summarized{}
}

// measure is how alike two documents are, by the criterion.
func (s *Clusters) measure(m engine.Match) float64 {
	if s.distance {
		return float64(m.Distance)
	}
	return rounded(m.Score)
}

// Diameter is the worst match of any two of some members of a cluster, by their IDs; false if it is
// not known.
type Diameter func(ids []string) (worst float64, known bool, err error)

// Rows returns the rows of all figures, in Columns. No member is added after it.
func (s *Clusters) Rows(across Diameter, shared Shared) ([][]any, error) {
	s.end()
	all := [][]any{{"clusters", nil, nil, nil, s.clusters, true}, {"documents in clusters", nil, nil, nil, s.members, true}}
	for n, count := range s.sizes {
		if lo, hi := int64(1)<<max(n-1, 0), int64(1)<<n-1; count > 0 {
			all = append(all, []any{fmt.Sprintf("clusters of %d to %d", max(lo, 2), hi), nil, nil, nil, count, true})
		}
	}
	for _, c := range s.largest {
		all = append(all, []any{"largest cluster, weakest edge", c.keeper, c.worst.ID, c.size, s.measure(c.worst), s.distance || c.worst.Exact})
	}
	for _, c := range s.largest {
		worst, known, err := across(c.sample)
		if err != nil {
			return nil, err
		}
		if known {
			all = append(all, []any{"largest cluster, diameter", c.keeper, nil, int64(len(c.sample)), rounded(worst), int64(len(c.sample)) == c.size})
		}
	}
	for _, e := range s.weakest {
		all = append(all, []any{"weakest edge", e.keeper, e.ID, nil, s.measure(e.Match), s.distance || e.Exact})
	}
	for _, h := range shared.prints {
		all = append(all, []any{"shared fingerprint", nil, fmt.Sprintf("%016x", h.hash), nil, h.documents, true})
	}
	for _, h := range shared.shingles {
		all = append(all, []any{"shared shingle", h.id, cmp.Or(h.text, fmt.Sprintf("%016x", h.hash)), int64(shared.sampled), h.documents, shared.exact})
	}
	return all, nil
}

// Found reports whether there is a cluster.
func (s *Clusters) Found() bool { return s.members > 0 }

// rounded is a score with as many decimals as are useful.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }
