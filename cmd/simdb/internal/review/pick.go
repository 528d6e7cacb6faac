package review

import (
	"cmp"
	"slices"
)

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
