package cluster

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/engine/internal/selfjoin"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/radix"
)

// Options say how clusters are formed, as engine.ClusterOptions does.
type Options struct {
	Components bool                       // not star clusters, but connected components
	Before     func(a, b view.Entry) bool // nil for the order of writing
	Progress   func(view.Progress)        // may be nil
}

// Member is engine.Member.
type Member struct {
	Cluster int
	Keep    bool
	view.Match
}

// EachMember calls fn for the members of all clusters of two or more visible documents, the largest
// cluster first, in each the keeper first, then by ID, until it returns false.
func EachMember(ctx context.Context, v *view.View, by view.Criterion, o Options, fn func(Member) bool) error {
	c, err := newClustering(ctx, v, by, o)
	if err != nil {
		return err
	}
	for number, cl := range c.clusters {
		var members []Member
		err := v.Safely(ctx, func() (err error) {
			members, err = c.members(ctx, cl, number+1)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range members {
			if !fn(m) {
				return nil
			}
		}
	}
	return nil
}

// newClustering forms the clusters of the visible documents.
func newClustering(ctx context.Context, v *view.View, by view.Criterion, o Options) (c *clustering, err error) {
	err = v.Safely(ctx, func() (err error) {
		c, err = cluster(ctx, v, by, &o)
		return err
	})
	return c, err
}

// A clustering is the outcome of clustering a join set.
type clustering struct {
	*joinSet
	best     []uint32          // for each group, the preferred one of its items
	byKeeper []uint32          // numbers of groups, those of a cluster together
	clusters []starCluster     // of two or more documents, in order
	lone     map[uint32]string // of each group that is a document in an allowed pair, its ID
	scores   []float64         // where texts decide: of each group with its keeper
	batch    []sketchPair      // scratch memory of verifying
}

// A starCluster is the groups byKeeper[from:to], which hold size documents.
type starCluster struct {
	keeper   uint32 // number of the keeper's group
	from, to uint32
	size     uint32
	id       []byte // the keeper's
}

func cluster(ctx context.Context, v *view.View, by view.Criterion, o *Options) (*clustering, error) {
	if err := v.CheckCriterion(by); err != nil {
		return nil, err
	}
	j, err := newJoinSet(ctx, v, by)
	if err != nil {
		return nil, err
	}
	c := &clustering{joinSet: j}
	if err := c.setApart(ctx); err != nil {
		return nil, err
	}
	order, err := c.preferred(ctx, o.Before)
	if err != nil {
		return nil, err
	}
	var keeper []uint32
	if by.Jaccard {
		keeper, err = c.sketchKeepers(ctx, order, by, o)
	} else {
		keeper, err = c.keepers(ctx, order, by.K, o)
	}
	if err != nil {
		return nil, err
	}
	sorting(o.Progress)
	return c, c.collect(ctx, keeper)
}

// keepers returns the keeper of each group, given the order in which they are preferred, by
// distance.
func (c *clustering) keepers(ctx context.Context, order []uint32, k int, o *Options) ([]uint32, error) {
	jo := selfjoin.Options{Progress: progressOf(c.groups(), o.Progress)}
	keeper := make([]uint32, c.groups())
	fps, number := c.distinctFingerprints()
	if !o.Components {
		prints := order
		if number != nil {
			prints = make([]uint32, len(order))
			for at, f := range order {
				prints[at] = number[f]
			}
		}
		stars, err := selfjoin.Stars(ctx, fps, prints, k, jo)
		if err != nil {
			return nil, err
		}
		for at, f := range order {
			keeper[f] = order[stars.Keeper[at]]
		}
		return keeper, c.keepApart(ctx, keeper, order, k, jo)
	}
	var label []uint32
	var err error
	if number != nil {
		label, err = c.componentsApart(ctx, k, jo)
	} else {
		label, err = selfjoin.Components(ctx, fps, k, jo)
	}
	if err != nil {
		return nil, err
	}
	return c.keepersOf(label, order), nil
}

// keepersOf returns the preferred group of each group's component.
func (c *clustering) keepersOf(label, order []uint32) []uint32 {
	keeper := make([]uint32, c.groups())
	best := make([]uint32, c.groups()) // of each component, by label: the preferred fingerprint + 1
	for _, f := range order {
		if best[label[f]] == 0 {
			best[label[f]] = f + 1
		}
		keeper[f] = best[label[f]] - 1
	}
	return keeper
}

// preferred finds the preferred item of every group, and returns the groups in the order of
// preference.
func (c *clustering) preferred(ctx context.Context, before func(a, b view.Entry) bool) ([]uint32, error) {
	c.best = make([]uint32, c.groups())
	if before == nil {
		return c.oldestFirst(ctx)
	}
	entries := make([]view.Entry, c.groups()) // of the preferred items
	less := preference(before)
	for f := range c.groups() {
		if f%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := c.span(uint32(f))
		for i := lo; i < hi; i++ {
			e, err := c.place(i).Entry()
			if err != nil {
				return nil, err
			}
			if i == lo || less(e, entries[f]) < 0 {
				entries[f], c.best[f] = e, i
			}
		}
	}
	order := make([]uint32, c.groups())
	for f := range order {
		order[f] = uint32(f)
	}
	return order, ordered.InPlace(ctx, order, func(a, b uint32) int { return less(entries[a], entries[b]) })
}

// oldestFirst is preferred for the order of writing. It takes 24 bytes a group.
func (c *clustering) oldestFirst(ctx context.Context) ([]uint32, error) {
	n := c.groups()
	oldest := radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)} // number of the write, group
	for f := range n {
		if f%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		lo, hi := c.span(uint32(f))
		for i := lo; i < hi; i++ {
			seq, err := c.place(i).Seq()
			older := i == lo || seq < oldest.Keys[f]
			if err == nil && !older && seq == oldest.Keys[f] {
				older, err = c.idLess(i, c.best[f])
			}
			if err != nil {
				return nil, err
			}
			if older {
				oldest.Keys[f], c.best[f] = seq, i
			}
		}
		oldest.Vals[f] = uint32(f)
	}
	oldest = radix.SortPairs(oldest, radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)})
	for from := 0; from < n; {
		to := from + 1
		for to < n && oldest.Keys[to] == oldest.Keys[from] {
			to++
		}
		if err := c.sortByID(oldest.Vals[from:to]); err != nil {
			return nil, err
		}
		from = to
	}
	return oldest.Vals, nil
}

// idLess reports whether the ID of item i comes before that of item k.
func (c *clustering) idLess(i, k uint32) (bool, error) {
	a, err := c.place(i).ID()
	if err != nil {
		return false, err
	}
	b, err := c.place(k).ID()
	return bytes.Compare(a, b) < 0, err
}

// sortByID sorts groups whose preferred items were written at once, as those of a table that was
// taken over from another database, by the IDs of these.
func (c *clustering) sortByID(groups []uint32) error {
	if len(groups) < 2 {
		return nil
	}
	var list idList
	for _, f := range groups {
		id, err := c.place(c.best[f]).ID()
		if err != nil {
			return err
		}
		list.add(id)
	}
	before := slices.Clone(groups)
	for rank, x := range inIDOrder(list.all()) {
		groups[rank] = before[x]
	}
	return nil
}

// preference makes a total order of a preference: of documents it does not tell apart the one
// written first comes first.
func preference(before func(a, b view.Entry) bool) func(a, b view.Entry) int {
	return func(a, b view.Entry) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.ID, b.ID)) // as oldestFirst
	}
}

// collect puts groups with the same keeper together and orders the clusters.
func (c *clustering) collect(ctx context.Context, keeper []uint32) error {
	next := make([]uint32, c.groups()+1) // a counting sort: where the next group of a keeper goes
	for _, k := range keeper {
		next[k+1]++
	}
	for k := range keeper {
		next[k+1] += next[k]
	}
	c.byKeeper = make([]uint32, c.groups())
	for f, k := range keeper {
		c.byKeeper[next[k]] = uint32(f)
		next[k]++
	}
	for from := 0; from < len(c.byKeeper); {
		cl := starCluster{keeper: keeper[c.byKeeper[from]], from: uint32(from)}
		to := from
		for ; to < len(c.byKeeper) && keeper[c.byKeeper[to]] == cl.keeper; to++ {
			f := c.byKeeper[to]
			lo, hi := c.span(f)
			cl.size += hi - lo
		}
		if cl.to = uint32(to); cl.size > 1 {
			var err error
			if cl.id, err = c.place(c.best[cl.keeper]).ID(); err != nil {
				return err
			}
			c.clusters = append(c.clusters, cl)
		}
		from = to
	}
	return ordered.InPlace(ctx, c.clusters, func(a, b starCluster) int {
		if n := cmp.Compare(b.size, a.size); n != 0 {
			return n
		}
		return bytes.Compare(a.id, b.id)
	})
}

// compare returns how group f compares with its keeper.
func (c *clustering) compare(f, keeper uint32) view.Match {
	if c.scores != nil {
		return view.Match{Score: c.scores[f], Exact: true}
	}
	return c.match(f, keeper)
}

// members returns the documents of a cluster in their order.
func (c *clustering) members(ctx context.Context, cl starCluster, number int) ([]Member, error) {
	members := make([]Member, 0, cl.size)
	for n, f := range c.byKeeper[cl.from:cl.to] {
		if n%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		match := c.compare(f, cl.keeper)
		lo, hi := c.span(f)
		for i := lo; i < hi; i++ {
			id, err := c.place(i).ID()
			if err != nil {
				return nil, err
			}
			keep := i == c.best[cl.keeper]
			match.ID = string(id)
			members = append(members, Member{Cluster: number, Keep: keep, Match: match})
		}
	}
	return members, ordered.InPlace(ctx, members, func(a, b Member) int {
		if a.Keep != b.Keep {
			if a.Keep {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.ID, b.ID)
	})
}
