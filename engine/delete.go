package engine

import (
	"context"
	"slices"
	"time"
)

// Delete removes the document with this ID; ErrNotFound if there is none. Of concurrent calls for one document exactly
// one returns nil.
func (db *DB) Delete(ctx context.Context, id string) error {
	if checkID(id) != nil {
		return notFound(id)
	}
	deleted, err := db.write(ctx, []operation{{del: true, doc: Doc{ID: id}}})
	if err == nil && deleted == 0 {
		err = notFound(id)
	}
	return err
}

// Prune deletes every document stored before t and returns how many there were. A document that is stored again while
// Prune runs stays.
func (db *DB) Prune(ctx context.Context, t time.Time) (int, error) {
	const batch = 1000
	snap, err := db.Snapshot()
	if err != nil {
		return 0, err
	}
	defer snap.Close()
	var b Batch
	n := 0
	apply := func() error {
		err := db.Apply(ctx, &b)
		n += b.Deleted()
		b.Reset()
		return err
	}
	for e, err := range snap.Entries(ctx, "") {
		if err != nil {
			return n, err
		}
		if !e.Time.Before(t) {
			continue
		}
		if b.DeleteVersion(e.ID, e.Seq); b.Len() == batch {
			if err := apply(); err != nil {
				return n, err
			}
		}
	}
	return n, apply()
}

// effectiveLocked returns the records without the deletes that remove nothing, and how many deletes remain. Only these go
// into the log, so that a replay, which deletes by ID alone, removes what was removed. The caller holds writeMu.
func (db *DB) effectiveLocked(recs []record) (kept []record, deleted int, err error) {
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

// removableLocked reports whether there is a document with this ID that has not expired and, if version is not nil, is
// that version. The caller holds writeMu.
func (db *DB) removableLocked(id string, version *uint64, expiry int64) (bool, error) {
	p, ok, err := db.locateLocked(id)
	if err != nil || !ok {
		return false, err
	}
	if version != nil {
		// Equality, not order: a table may be published with numbers lower than those of a snapshot that lacks it.
		if seq, err := p.seq(); err != nil || seq != *version {
			return false, err
		}
	}
	stored, err := p.time()
	return stored >= expiry, err
}
