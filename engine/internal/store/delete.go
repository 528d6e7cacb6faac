package store

import (
	"context"
	"slices"
	"time"

	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/view"
)

// Delete removes the document with this ID; ErrNotFound if there is none. Of concurrent calls for
// one document exactly one returns nil.
func (db *Store) Delete(ctx context.Context, id string) error {
	if view.CheckID(id) != nil {
		return errs.NoDocument(id)
	}
	deleted, err := db.Write(ctx, []Operation{Delete(id)})
	if err == nil && deleted == 0 {
		err = errs.NoDocument(id)
	}
	return err
}

// Prune deletes every document stored before t and returns how many there were. A document that is
// stored again while prune runs stays.
func (db *Store) Prune(ctx context.Context, t time.Time) (int, error) {
	const batch = 1000
	v, err := db.View()
	if err != nil {
		return 0, err
	}
	defer v.Close()
	var ops []Operation
	n := 0
	write := func() error {
		deleted, err := db.Write(ctx, ops)
		n += deleted
		ops = ops[:0]
		return err
	}
	err = v.Safely(ctx, func() error {
		return v.Each(ctx, func(p view.Place) error {
			e, err := p.Entry()
			if err != nil || !e.Time.Before(t) {
				return err
			}
			if ops = append(ops, DeleteVersion(e.ID, e.Seq)); len(ops) < batch {
				return nil
			}
			return write()
		})
	})
	if err != nil {
		return n, err
	}
	return n, write()
}

// effectiveLocked returns the records without the deletes that remove nothing, and how many deletes
// remain. Only these go into the log, so that a replay, which deletes by ID alone, removes what was
// removed. The caller holds writeMu.
func (db *Store) effectiveLocked(recs []record) (kept []record, deleted int, err error) {
	if !slices.ContainsFunc(recs, func(r record) bool { return r.del }) {
		return recs, 0, nil
	}
	expiry := db.expiry()
	written := map[string]bool{} // IDs that the batch writes: whether it leaves a document
	for _, r := range recs {
		id := string(r.doc.ID)
		there, own := written[id]
		switch {
		case !r.del:
		case own:
			there = there && r.version == nil // what the batch writes is no version that anybody has seen
		default:
			if there, err = db.removableLocked(id, r.version, expiry); err != nil {
				return nil, 0, err
			}
		}
		if r.del && !there {
			continue
		}
		if r.del {
			deleted++
		}
		kept = append(kept, r)
		written[id] = !r.del
	}
	return kept, deleted, nil
}

// removableLocked reports whether there is a document with this ID that has not expired and, if
// version is not nil, is that version. The caller holds writeMu.
func (db *Store) removableLocked(id string, version *uint64, expiry int64) (bool, error) {
	p, ok, err := db.locateLocked(id)
	if err != nil || !ok {
		return false, err
	}
	if version != nil {
		// Equality, not order: a table may be published with numbers lower than those of a snapshot
		// that lacks it.
		if seq, err := p.Seq(); err != nil || seq != *version {
			return false, err
		}
	}
	stored, err := p.Time()
	return stored >= expiry, err
}
