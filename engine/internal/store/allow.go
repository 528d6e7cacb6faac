package store

import (
	"context"
	"fmt"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// SetAllowed records that pairs of documents may be similar, or removes the record. When it returns
// nil, all changes are durable; otherwise nothing has changed. Removing a pair that is not recorded
// is ErrNotFound.
func (db *Store) SetAllowed(ctx context.Context, allowed bool, pairs []view.IDPair) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in := make([]view.IDPair, len(pairs))
	for i, p := range pairs {
		var err error
		if in[i], err = p.Ordered(); err != nil {
			return err
		}
	}
	done, err := db.publishing(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := db.Writable(); err != nil {
		return err
	}
	have := db.AllowedPairs()
	allow, unallow := in, []view.IDPair(nil)
	if !allowed {
		for _, p := range in {
			if !have.Has(p.A, p.B) {
				return fmt.Errorf("documents %s and %s are not an allowed pair: %w", files.QuoteID(p.A), files.QuoteID(p.B), files.ErrNotFound)
			}
		}
		allow, unallow = nil, in
	}
	if err := db.editCatalog(catalog.Edit{Allow: view.CatalogPairs(allow), Unallow: view.CatalogPairs(unallow)}); err != nil {
		return db.fail(err)
	}
	db.mu.Lock()
	db.allowedSet = have.With(allow).Without(unallow)
	db.mu.Unlock()
	return nil
}

// AllowedPairs returns the current list.
func (db *Store) AllowedPairs() *view.AllowedPairs {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.allowedSet
}
