package dedup

import (
	"cmp"
	"context"

	"github.com/simdb/simdb/internal/ordered"
)

// outcome says what becomes of each document, by ordinal.
type outcome struct {
	keeper   []uint32  // a document that is kept is its own
	score    []float64 // with the keeper; nil where texts were not compared
	distance []uint16  // to the keeper; nil of --jaccard
	cluster  []uint32  // of a keeper: its number, from 1 on; 0 for one without members
	sizes    []uint32  // by number of the cluster, less one
	names    []uint32  // of a Part: by number of the cluster, less one, its number in the whole job
	clusters int64     // of two or more
	dropped  int64
}

// kept reports whether document n is kept.
func (o *outcome) kept(n int64) bool { return o.keeper[n] == uint32(n) }

// name returns the number of a cluster that outputs have.
func (o *outcome) name(cluster uint32) uint32 {
	if o.names != nil {
		return o.names[cluster-1]
	}
	return cluster
}

// numberClusters numbers the clusters: the largest first, then in the order of keepers.
func (o *outcome) numberClusters(ctx context.Context) error {
	o.cluster = make([]uint32, len(o.keeper)) // first the sizes
	for n, k := range o.keeper {
		if o.cluster[k]++; k != uint32(n) {
			o.dropped++
		}
	}
	var keepers []uint32
	for k, size := range o.cluster {
		if size > 1 {
			keepers = append(keepers, uint32(k))
		} else {
			o.cluster[k] = 0
		}
	}
	o.clusters = int64(len(keepers))
	err := ordered.InPlace(ctx, keepers, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(o.cluster[b], o.cluster[a]), cmp.Compare(a, b))
	})
	o.sizes = make([]uint32, len(keepers))
	for at, k := range keepers {
		o.sizes[at], o.cluster[k] = o.cluster[k], uint32(at)+1
	}
	return err
}
