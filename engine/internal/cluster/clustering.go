package cluster

import (
	"bytes"
	"cmp"
	"context"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
)

// Options say how clusters are formed, as engine.ClusterOptions does.
type Options struct {
	Components bool                       // not star clusters, but connected components
	Before     func(a, b view.Entry) bool // nil for the order of writing
	Progress   func(view.Progress)        // may be nil
}

// A clustering is the outcome of clustering a join set.
type clustering struct {
	*joinSet
	best     []uint32          // for each group, the preferred one of its items
	byKeeper []uint32          // numbers of groups, those of a cluster together
	clusters []starCluster     // of two or more documents, in order
	lone     map[uint32]string // of each group that is a document in an allowed pair, its ID
	scores   []float64         // where texts decide: of each group with its keeper
}

// A starCluster is the groups byKeeper[from:to], which hold size documents.
type starCluster struct {
	keeper   uint32 // number of the keeper's group
	from, to uint32
	size     uint32
	id       []byte // the keeper's
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
