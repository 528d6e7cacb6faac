package review

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/dedup"
)

// wants reports whether the selection passes a pair.
func (j *job) wants(keeper, id string, score *float64, distance *int, rule string) bool {
	s := &j.sel
	if s.OfRule != "" && rule != s.OfRule || s.Undecided && j.said.decision(keeper, id) != dedup.DecisionNone {
		return false
	}
	if s.From == nil && s.To == nil {
		return true
	}
	var value float64
	switch {
	case score != nil:
		value = *score
	case distance != nil:
		value = float64(*distance)
	default:
		return false
	}
	return (s.From == nil || value >= *s.From) && (s.To == nil || value <= *s.To)
}

// risk says how dissimilar two documents are. Greater risks are reviewed first.
type risk float64

// riskOf returns 1 minus the similarity of the texts if it is known, or else the distance divided
// by 64.
func riskOf(score *float64, distance *int) risk {
	switch {
	case score != nil:
		return risk(1 - *score)
	case distance != nil:
		return risk(float64(*distance) / 64)
	}
	return 1
}

// edge is a member of a cluster with its risk.
type edge struct {
	risk risk
	doc  Doc
}

// group is a cluster during the picking.
type group struct {
	keeper  Doc
	members []edge // the members with the weakest edges
	size    int64
}

// add adds a member. If there are many, the members with the weakest edges stay.
func (g *group) add(e edge, most int) {
	g.size++
	if g.members = append(g.members, e); len(g.members) >= 2*most {
		g.cut(most)
	}
}

// cut retains the weakest edges, in order.
func (g *group) cut(most int) {
	slices.SortFunc(g.members, func(a, b edge) int {
		return cmp.Or(cmp.Compare(b.risk, a.risk), cmp.Compare(a.doc.ID, b.doc.ID))
	})
	g.members = g.members[:min(len(g.members), most)]
}

// picker picks the clusters with the weakest edges.
type picker struct {
	limit    int // number of clusters
	members  int // number of members per cluster
	groups   []group
	clusters int64 // number of all clusters added
	cut      bool  // a cluster has more members than are picked
}

// add adds a cluster that has at least one member other than its keeper.
func (p *picker) add(g group) {
	p.clusters++
	g.cut(p.members)
	if p.groups = append(p.groups, g); len(p.groups) >= 2*p.limit {
		p.sort()
	}
}

// sort retains the clusters with the weakest edges, in order. Among equal edges, the largest
// cluster is first.
func (p *picker) sort() {
	slices.SortFunc(p.groups, func(a, b group) int {
		return cmp.Or(cmp.Compare(b.members[0].risk, a.members[0].risk), cmp.Compare(b.size, a.size), cmp.Compare(a.keeper.ID, b.keeper.ID))
	})
	p.groups = p.groups[:min(len(p.groups), p.limit)]
}

// picked returns the clusters to review, without texts.
func (p *picker) picked() []Cluster {
	p.sort()
	all := make([]Cluster, len(p.groups))
	for i, g := range p.groups {
		all[i] = Cluster{Size: g.size + 1, Keeper: g.keeper}
		for _, e := range g.members {
			all[i].Members = append(all[i].Members, e.doc)
		}
		p.cut = p.cut || g.size > int64(len(g.members))
	}
	return all
}

// A sampler draws n pairs at random: those with the least hashes, so that the sample depends on the
// seed and the ids, but not on the order of the pairs.
type sampler struct {
	n     int
	seed  uint64
	most  uint64 // hashes above it are not among the least
	pairs int64  // pairs that were seen
	all   []drawn
}

// drawn is a pair that may belong to the sample.
type drawn struct {
	key     uint64
	cluster uint32
	keeper  Doc
	member  edge
}

// draw returns the hash of a pair.
func (s *sampler) draw(keeper, id string) uint64 {
	s.pairs++
	return xxh3.HashStringSeed(string(binary.AppendUvarint(nil, uint64(len(keeper))))+keeper+id, s.seed)
}

// wants reports whether a pair with this hash may belong to the sample.
func (s *sampler) wants(key uint64) bool { return key <= s.most }

// add adds a pair.
func (s *sampler) add(d drawn) {
	if s.all = append(s.all, d); len(s.all) >= 2*s.n {
		s.cut()
	}
}

// cut retains the pairs with the least hashes.
func (s *sampler) cut() {
	slices.SortStableFunc(s.all, func(a, b drawn) int { return cmp.Compare(a.key, b.key) })
	if s.all = s.all[:min(len(s.all), s.n)]; len(s.all) == s.n {
		s.most = s.all[s.n-1].key
	}
}

// shown returns the number of pairs of the sample.
func (s *sampler) shown() int64 { return int64(min(len(s.all), s.n)) }

// addDrawn adds the clusters of the sample, given how many documents other than the keeper the pairs
// of each cluster have.
func (j *job) addDrawn(sizes map[uint32]int64) {
	j.drawn.cut()
	groups := map[uint32]*group{}
	for _, d := range j.drawn.all {
		g := groups[d.cluster]
		if g == nil {
			g = &group{keeper: d.keeper}
			groups[d.cluster] = g
		}
		g.members = append(g.members, d.member)
		g.size = sizes[d.cluster]
	}
	for _, n := range sizes {
		j.tally.sizes[n+1]++
	}
	j.pick.limit, j.pick.members = math.MaxInt/2, math.MaxInt/2
	for _, n := range slices.Sorted(maps.Keys(groups)) {
		j.pick.add(*groups[n])
	}
	j.pick.clusters = int64(len(groups))
}
