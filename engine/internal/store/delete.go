package store

import (
	"context"
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
