package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// A feed of changes needs no record of stored documents: memtables and tables have them with their
// sequence numbers. Only removals need one. Those by writes of a memtable are in the memtable
// (view.Columns.Removed), and a flush adds them to the history in the catalog. A prune, and a merge
// that drops expired documents, remove them without a write: they take numbers for the removals, and
// add these to the history in the transaction that drops the documents.

const (
	defaultHistory = 1 << 20
	leastRemoval   = 3 // size of the smallest removal in the history, in bytes
)

// historyLimit returns how many bytes the history may have. The caller holds mu.
func (db *Store) historyLimit() int64 {
	if db.opts.History == 0 {
		return max(defaultHistory, db.history.Size())
	}
	return max(db.opts.History, 0)
}

// removals returns what the history gets when rows of tables, given by number of the table, leave the
// database without a write: those that are not dead. They get the next sequence numbers. The caller,
// who holds publishMu and writeMu, calls showLocked once the rows have left. If they do not fit, or
// cannot be read, the history forgets everything.
func (db *Store) removals(rows map[uint64]*roaring.Bitmap, expired bool) (removed []catalog.Removal, err error) {
	seq, size := db.NextSeq(), int64(0)
	for number, some := range rows {
		some = roaring.AndNot(some, db.current.Part(number).Dead.UpTo(view.Latest))
		rows[number] = some
		size += int64(some.GetCardinality()) * leastRemoval
	}
	// The rows that writes have killed leave, too, and a reader that sees the numbers must find all
	// earlier writes.
	if err := db.last.sync(); err != nil {
		return nil, db.fail(err)
	}
	if size == 0 {
		return nil, nil
	}
	db.mu.Lock()
	limit := db.historyLimit()
	db.mu.Unlock()
	add := func(_ uint32, id []byte) error {
		if size += int64(len(id)); size > limit {
			return files.ErrTooLarge
		}
		if _, code := view.Owner(id); !code {
			removed = append(removed, catalog.Removal{ID: slices.Clone(id), Seq: seq + uint64(len(removed)), Expired: expired})
		}
		return nil
	}
	for number, some := range rows {
		if size > limit || db.current.Part(number).EachIDOf(context.Background(), some.ToArray(), add) != nil {
			return []catalog.Removal{{Seq: seq}}, nil
		}
	}
	return removed, nil
}

// showLocked makes the numbers of removals visible. The caller holds mu.
func (db *Store) showLocked(removed []catalog.Removal) {
	if n := len(removed); n > 0 {
		db.seq = removed[n-1].Seq
	}
}

// Removed returns the removals after number from that v shows, in order. If from is 0 it returns
// none, because documents that were never seen need none. The error is ErrExpired if they are not
// known. Removed waits until all visible writes are as safe as the options ask.
func (db *Store) Removed(v *view.View, from uint64) ([]catalog.Removal, error) {
	db.writeMu.Lock()
	last := db.last
	db.writeMu.Unlock()
	if err := db.waitSafe(last); err != nil || from == 0 {
		return nil, err
	}
	db.mu.Lock()
	h := db.history // has at least what v has: see publishFlush
	db.mu.Unlock()
	switch {
	case from > v.Seq:
		return nil, fmt.Errorf("%s: position %d is after the last write, %d: %w", db.Path, from, v.Seq, files.ErrExpired)
	case from < h.Gone:
		return nil, fmt.Errorf("%s: the documents removed since position %d are not known, only those since %d: %w", db.Path, from, h.Gone, files.ErrExpired)
	}
	removed := h.After(from)
	for _, m := range v.Mems {
		removed = append(removed, m.Removed...)
	}
	removed = slices.DeleteFunc(removed, func(r catalog.Removal) bool { return r.Seq <= from || r.Seq > v.Seq })
	slices.SortFunc(removed, func(a, b catalog.Removal) int { return cmp.Compare(a.Seq, b.Seq) })
	return slices.CompactFunc(removed, func(a, b catalog.Removal) bool { return a.Seq == b.Seq }), nil
}
