package merge

import (
	"cmp"
	"sort"

	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// A Renumber replaces the document numbers at the ends of keys by the numbers in the result, and
// their width by the new width. New numbers ascend with the old ones, and so do the keys.
type Renumber struct {
	numbers  *Mapping
	dead     write.Bitset // documents that are left out, with their keys
	from, to uint         // old and new width of the numbers
}

// key returns the new key. If the document is left out or does not exist, it returns the key at
// which it would be.
func (r *Renumber) key(key uint64) uint64 {
	doc := min(uint32(key&(1<<r.from-1)), r.numbers.Len()-1)
	return key>>r.from<<r.to + uint64(r.numbers.Get(doc))
}

// keys renumbers the keys of a run from position at on.
func (r *Renumber) keys(run *keyrun.Run, keys []uint64, at int) ([]uint64, error) {
	for _, key := range keys[at:] {
		doc := uint32(key & (1<<r.from - 1))
		if doc >= r.numbers.Len() {
			return keys, run.Corrupt(0, "document %d of %d", doc, r.numbers.Len())
		}
		if !r.dead.Has(doc) {
			keys[at] = key>>r.from<<r.to | uint64(r.numbers.Get(doc))
			at++
		}
	}
	return keys[:at], nil
}

// least returns the least old key whose new key is not less than bound.
func (r *Renumber) least(bound uint64) uint64 {
	doc := sort.Search(int(r.numbers.Len()), func(i int) bool {
		return uint64(r.numbers.Get(uint32(i))) >= bound&(1<<r.to-1)
	})
	return bound>>r.to<<r.from + uint64(doc)
}

// mergeSets writes the index of the sets of the result.
func (m *merger) mergeSets() error {
	if !m.Params.Sets {
		return nil
	}
	err := m.writeColumn(format.KindSetSizes, 0, func(c *docsChunk) ([]uint64, error) {
		err := c.columns(func(in *mergeInput) *keyrun.Column { return in.Table.Sets.Sizes }, (*mergeInput).deadDocs, nil)
		return c.values, err
	})
	if err != nil {
		return err
	}
	var streams []Stream
	for i, in := range m.inputs {
		s := Whole(i, in.Table.Sets.Keys)
		s.Renumber = &Renumber{in.numbers, in.dead, contain.Width(in.Info.Docs), contain.Width(m.docs)}
		streams = append(streams, s)
	}
	pieces, err := m.cut(streams, m.piece)
	if err != nil {
		return err
	}
	m.Out.Begin(format.KindSets, 0)
	run := keyrun.NewParallelWriter(keyrun.NewWriter(&m.Out), m.workers)
	err = pipeline.Ordered(m.ctx, len(pieces), m.workers, func(i int) (keys []uint64, err error) {
		defer format.UnguardAny(m.tables, format.Guard(), &err)
		return m.distinctPiece(streams, pieces[i], nil)
	}, func(i int, keys []uint64) error {
		defer m.keys.put(keys)
		m.pass(pieces[i].Keys)
		return run.AddKeys(keys)
	})
	dir, e := run.Finish()
	m.Out.EndWithDir(run.Len(), dir, cmp.Or(err, e))
	return m.Out.Err
}
