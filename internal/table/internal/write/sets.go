package write

import (
	"cmp"
	"slices"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/table/internal/contain"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// docsOfRecords returns the document of each record, or contain.NoDocument.
func (t *BatchWriter) docsOfRecords() []uint32 {
	docs := slices.Repeat([]uint32{contain.NoDocument}, int(t.placed))
	for doc := range t.batch.docs {
		if record := t.batch.record(doc); record < t.placed {
			docs[record] = uint32(doc)
		}
	}
	return docs
}

// setKeys is about how many keys of sets a goroutine sorts at a time.
const setKeys = 1 << 19

// IndexBytes returns how much memory the sets and the indexed fields of the records so far occupy.
func (t *BatchWriter) IndexBytes() int64 { return t.sets.Bytes() + t.values.Bytes() }

// setsOf returns the sets of the records [from, to), if the table indexes them.
func (t *BatchWriter) setsOf(from, to int, record func(i int) (text, fields []byte)) (groups []contain.Group) {
	if !t.Params.Sets {
		return nil
	}
	h := t.hashers.Get().(*features.SetHasher)
	defer t.hashers.Put(h)
	for from < to {
		var g contain.Group
		for ; from < to && !g.Full(); from++ {
			text, _ := record(from)
			g.Add(h.LastSet(text))
		}
		g.End()
		groups = append(groups, g)
	}
	return groups
}

// writeSets writes the sets: their sizes, and then one range of bins after the other.
func (t *BatchWriter) writeSets() error {
	if !t.Params.Sets {
		return nil
	}
	n := len(t.batch.docs)
	err := t.encodeColumn(format.KindSetSizes, 0, n, func(doc int) uint64 {
		return uint64(t.sets.Size(t.batch.record(doc)))
	})
	if err != nil {
		return err
	}
	docs := t.docsOfRecords()
	t.Out.Begin(format.KindSets, 0)
	run := keyrun.NewParallelWriter(keyrun.NewWriter(&t.Out), t.o.Workers)
	ranges := min(t.sets.Keys()/setKeys+1, 1<<contain.BinBits)
	end := func(i int) uint32 { return uint32(uint64(i) << contain.BinBits / uint64(ranges)) }
	width := contain.Width(uint32(n))
	err = pipeline.Ordered(t.ctx, ranges, t.o.Workers, func(i int) ([]uint64, error) {
		keys := make([]uint64, 0, t.sets.Keys()/ranges*17/16)
		keys = t.sets.AppendKeys(keys, docs, end(i), end(i+1), width)
		keys, _ = ordered.SortParts(keys, make([]uint64, len(keys)), contain.BinBits+int(width), 1)
		return keys, t.ctx.Err()
	}, func(_ int, keys []uint64) error { return run.AddKeys(keys) })
	dir, e := run.Finish()
	t.Out.EndWithDir(run.Len(), dir, cmp.Or(err, e))
	return t.Out.Err
}
