package merge

import (
	"cmp"
	"context"
	"slices"

	"github.com/simdb/simdb/internal/hot"
	"github.com/simdb/simdb/internal/table/internal/format"
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
