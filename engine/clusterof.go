package engine

import (
	"cmp"
	"context"
	"encoding/binary"
	"iter"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/minhash"
)

// walkSearches is the number of searches after which clusterOf forms all clusters instead.
const walkSearches = 1 << 10

// clusterOf is Clusters with ClusterOptions.Of.
func (s *Snapshot) clusterOf(ctx context.Context, by Criterion, o *ClusterOptions) iter.Seq2[Member, error] {
	return func(yield func(Member, error) bool) {
		w := &walk{s: s, ctx: ctx, by: by, groups: map[string]*walked{}}
		members, found, err := []Member(nil), false, s.v.CheckCriterion(by.in(s.v.Config))
		if err == nil {
			_, err = s.lookup(ctx, o.Of)
		}
		if err == nil {
			if members, found, err = w.cluster(o.Of, o); err == nil && !found {
				members, err = clusterAmong(s.clusters(ctx, by, o), o.Of)
			}
		}
		for _, m := range members {
			if m.Cluster = 1; err != nil || !yield(m, nil) {
				break
			}
		}
		if err != nil {
			yield(Member{}, err)
		}
	}
}

// clusterAmong returns the members of the cluster of one document, given the members of all
// clusters.
func clusterAmong(all iter.Seq2[Member, error], id string) (cluster []Member, err error) {
	found := false
	for m, err := range all {
		if err != nil {
			return nil, err
		}
		if len(cluster) > 0 && cluster[0].Cluster != m.Cluster {
			if found {
				break
			}
			cluster = cluster[:0]
		}
		cluster, found = append(cluster, m), found || m.ID == id
	}
	if !found {
		cluster = nil
	}
	return cluster, nil
}

// A walk finds one cluster by searching outwards from a document.
type walk struct {
	s        *Snapshot
	ctx      context.Context
	by       Criterion
	searches int
	groups   map[string]*walked // by ID
}

// walked is a group of documents that Clusters treats as one: by Near, those with equal
// fingerprints; by Jaccard, a single document.
type walked struct {
	ids    []string
	first  string // ID of the document that was written first
	seq    uint64
	near   []neighbour // matching groups: the best first, then the earliest
	keeper *walked     // nil while it is unknown
}

// A neighbour is another group that matches, with its match.
type neighbour struct {
	*walked
	Match
}

// before compares two groups by preference: the earlier group comes first.
func (g *walked) before(h *walked) int {
	return cmp.Or(cmp.Compare(g.seq, h.seq), strings.Compare(g.first, h.first))
}

// cluster returns the cluster of a document. ok is false if the caller must form all clusters.
func (w *walk) cluster(id string, o *ClusterOptions) (members []Member, ok bool, err error) {
	v := &w.s.v
	if o.Before != nil || o.Components || v.Several || len(v.Allowed.All()) > 0 || w.by.by.Text != view.NoTextMeasure {
		return nil, false, nil
	}
	g, err := w.group(id)
	if err != nil || g == nil {
		return nil, err != nil || w.searches < walkSearches, err
	}
	keeper, err := w.keeperOf(g)
	if err != nil || keeper == nil {
		return nil, err != nil, err
	}
	groups := []*walked{keeper}
	for _, n := range keeper.near {
		k, err := w.keeperOf(n.walked)
		if err != nil || k == nil {
			return nil, err != nil, err
		}
		if k == keeper {
			groups = append(groups, n.walked)
		}
	}
	for _, g := range groups {
		m, err := w.compare(g, keeper)
		if err != nil {
			return nil, true, err
		}
		for _, m.ID = range g.ids {
			members = append(members, Member{Keep: m.ID == keeper.first, Match: m})
		}
	}
	if len(members) < 2 {
		return nil, true, nil
	}
	slices.SortFunc(members, func(a, b Member) int {
		if a.Keep != b.Keep {
			return map[bool]int{true: -1, false: 1}[a.Keep]
		}
		return strings.Compare(a.ID, b.ID)
	})
	return members, true, nil
}

// group returns the group of a document with its neighbours, or nil after too many searches.
func (w *walk) group(id string) (*walked, error) {
	if g := w.groups[id]; g != nil && g.near != nil {
		return g, nil
	}
	if w.searches++; w.searches > walkSearches {
		return nil, nil
	}
	equal, near := []string{id}, []Match(nil)
	for m, err := range w.s.search(w.ctx, Doc{ID: id}, w.by, SearchOptions{}) {
		switch {
		case err != nil:
			return nil, err
		case w.by.by.Near() && m.Distance == 0:
			equal = append(equal, m.ID)
		default:
			near = append(near, m)
		}
	}
	g, err := w.join(equal)
	if err != nil {
		return nil, err
	}
	// A search finds all documents of a neighbouring group, all with the same distance or score.
	g.near = []neighbour{}
	for len(near) > 0 {
		n := 1
		for n < len(near) && near[n].Distance == near[0].Distance && near[n].Score == near[0].Score {
			n++
		}
		groups, err := w.split(near[:n])
		if err != nil {
			return nil, err
		}
		slices.SortFunc(groups, func(a, b neighbour) int { return a.before(b.walked) })
		g.near, near = append(g.near, groups...), near[n:]
	}
	return g, nil
}

// join returns the group of documents with equal fingerprints, and creates it if necessary.
func (w *walk) join(ids []string) (*walked, error) {
	if g := w.groups[ids[0]]; g != nil {
		return g, nil
	}
	g := &walked{ids: ids}
	for i, id := range ids {
		e, err := w.s.lookup(w.ctx, id)
		if err != nil {
			return nil, err
		}
		if i == 0 || cmp.Or(cmp.Compare(e.Seq, g.seq), strings.Compare(id, g.first)) < 0 {
			g.first, g.seq = id, e.Seq
		}
		w.groups[id] = g
	}
	return g, nil
}

// split divides matches of the same distance or score into groups.
func (w *walk) split(matches []Match) (groups []neighbour, err error) {
	ids, matchOf := map[string][]string{}, map[string]Match{}
	for _, m := range matches {
		if g := w.groups[m.ID]; g != nil {
			if m.ID == g.first {
				groups = append(groups, neighbour{g, m})
			}
			continue
		}
		key, err := w.key(m.ID)
		if err != nil {
			return nil, err
		}
		ids[key], matchOf[key] = append(ids[key], m.ID), m
	}
	for key, equal := range ids {
		g, err := w.join(equal)
		if err != nil {
			return nil, err
		}
		groups = append(groups, neighbour{g, matchOf[key]})
	}
	return groups, nil
}

// key returns a string that is equal for the documents of one group only.
func (w *walk) key(id string) (string, error) {
	if !w.by.by.Near() {
		return id, nil
	}
	e, err := w.s.lookup(w.ctx, id)
	var key []byte
	for _, word := range append([]uint64{e.Fingerprint}, e.Rest...) {
		key = binary.LittleEndian.AppendUint64(key, word)
	}
	return string(key), err
}

func (w *walk) sketch(id string) (sketch minhash.Sketch, err error) {
	err = w.s.v.Safely(w.ctx, func() error {
		p, err := w.s.v.Locate(id)
		if err == nil {
			sketch, err = p.Sketch(nil)
		}
		return err
	})
	return sketch, err
}

// keeperOf returns the keeper of the star that a group belongs to, or nil after too many searches.
// It is the most similar of the earlier keepers that match the group; among equally similar
// keepers, the earliest.
func (w *walk) keeperOf(g *walked) (*walked, error) {
	if g.keeper != nil {
		return g.keeper, nil
	}
	if found, err := w.group(g.first); err != nil || found == nil {
		return nil, err
	}
	for _, n := range g.near {
		if n.before(g) > 0 {
			continue
		}
		k, err := w.keeperOf(n.walked)
		if err != nil || k == nil {
			return nil, err
		}
		if k == n.walked {
			g.keeper = k
			return k, nil
		}
	}
	g.keeper = g
	return g, nil
}

// compare returns the match between a group and its keeper.
func (w *walk) compare(g, keeper *walked) (m Match, err error) {
	if w.by.by.Near() {
		for _, n := range keeper.near {
			if n.walked == g {
				m.Distance = n.Distance
			}
		}
		return m, nil
	}
	if w.by.in(w.s.v.Config).Verified {
		m.Score, m.Exact = 1, true
		for _, n := range keeper.near {
			if n.walked == g {
				m = n.Match
			}
		}
		return m, nil
	}
	a, err := w.sketch(g.first)
	b, failed := w.sketch(keeper.first)
	score := minhash.Jaccard(a, b, int(w.s.v.Params.Sketch))
	return Match{Score: score.Score, Error: score.Error, Exact: score.Exact}, cmp.Or(err, failed)
}
