package merge

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// beginSketches chooses the hot hashes of the result, and prepares for writing sketches.
func (m *merger) beginSketches() (err error) {
	hot := m.o.Hot
	if hot == nil {
		if hot, err = MergedHot(m.ctx, m.tables); err != nil {
			return err
		}
	}
	return m.InitSketches(hot, int(m.docs), m.o.WriterOptions)
}

// MergedHot returns the hot hashes of all documents of some tables.
func MergedHot(ctx context.Context, inputs []*format.Table) (hashes []hot.Hash, err error) {
	defer format.UnguardAny(inputs, format.Guard(), &err)
	var ends []int // by input: number of documents in the inputs up to it
	n := 0
	for _, r := range inputs {
		n += int(r.Info.Docs)
		ends = append(ends, n)
	}
	var s []uint32
	return hot.Hashes(n, func(i int) (_ []uint32, err error) {
		at, _ := slices.BinarySearch(ends, i+1)
		r := inputs[at]
		s, err = r.Sketches.Sketch(uint32(i-(ends[at]-int(r.Info.Docs))), s[:0])
		return s, cmp.Or(err, ctx.Err())
	})
}

// divideInputs starts the order of IDs of the result, if the result is large enough to have one.
func (m *merger) divideInputs() error {
	parts := write.NumIDParts(int(m.docs), m.o.WriterOptions)
	if parts < 2 {
		return nil
	}
	docs := uint64(0)
	for _, in := range m.inputs {
		docs += uint64(in.Info.Docs)
	}
	var sample [][]byte
	wanted, sampled, first := uint64(write.SampledIDs*parts), uint64(0), uint64(0)
	for _, in := range m.inputs {
		end := first + uint64(in.Info.Docs)
		for ; sampled < wanted && sampled*docs/wanted < end; sampled++ {
			doc := uint32(sampled*docs/wanted - first)
			if in.dead.Has(doc) {
				continue
			}
			id, err := in.Names.Get(doc)
			if err != nil {
				return err
			}
			sample = append(sample, id)
		}
		first = end
	}
	if len(sample) > 0 {
		m.DivideIDs(sample, parts, m.o.WriterOptions, m.workers)
	}
	return nil
}
