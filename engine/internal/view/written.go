package view

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/table"
)

// Micros rounds t up to microseconds, and limits it to the range of int64.
func Micros(t time.Time) int64 {
	us := t.UnixMicro()
	switch off := t.Sub(time.UnixMicro(us)); {
	case off == 0:
		return us
	case off > 0 && off < time.Microsecond && us < math.MaxInt64:
		return us + 1
	case t.Before(time.Unix(0, 0)):
		return math.MinInt64
	}
	return math.MaxInt64
}

// fewDead is the inverse of the fraction of dead documents up to which their times are looked up
// one by one: one lookup costs about as much as scanning ten documents.
const fewDead = 16

// CountLiving returns how many documents of the table, not counting those in dead, w selects by the
// sequence numbers of the file. It reads the columns of times and of ranks, but no IDs.
func (t *Table) CountLiving(ctx context.Context, dead *roaring.Bitmap, w table.Written) (n int64, err error) {
	if t.Meta.MinTime >= w.From && t.Meta.MaxTime <= w.To && t.Info().MaxSeq <= w.MaxSeq && t.FirstExpiry() > w.Now {
		return int64(t.Meta.Docs) - int64(dead.GetCardinality()), nil
	}
	if dead.GetCardinality() > uint64(t.Meta.Docs)/fewDead {
		err = t.EachWritten(ctx, w, func(docs []uint32) error {
			for _, doc := range docs {
				if !dead.Contains(doc) {
					n++
				}
			}
			return nil
		})
		return n, err
	}
	if n, err = t.CountWritten(ctx, w); err != nil {
		return 0, err
	}
	for it := dead.Iterator(); it.HasNext(); {
		doc := it.Next()
		at, err := t.Time(doc)
		lives, err2 := t.Lives(doc, Life{Since: w.From, Now: w.Now})
		if err == nil && err2 == nil && (at > w.To || !lives) {
			continue
		}
		seq, err3 := t.Seq(doc)
		if err := cmp.Or(err, err2, err3); err != nil {
			return 0, err
		}
		if seq <= w.MaxSeq {
			n--
		}
	}
	return n, nil
}
