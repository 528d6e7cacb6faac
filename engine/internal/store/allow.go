package store

import (
	"context"
	"fmt"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// Allow notes pairs of documents that may be alike. All are durable when it returns nil, and none
// is noted otherwise.
func (db *Store) Allow(ctx context.Context, pairs []view.IDPair) error {
	return db.editAllowed(ctx, pairs, func(_ *view.AllowedPairs, in []view.IDPair) (allow, unallow []view.IDPair, err error) {
		return in, nil, nil
	})
}

// Unallow takes back allow. NotFound if one of the pairs is not noted; then none is taken back.
func (db *Store) Unallow(ctx context.Context, pairs []view.IDPair) error {
	return db.editAllowed(ctx, pairs, func(have *view.AllowedPairs, in []view.IDPair) (allow, unallow []view.IDPair, err error) {
		for _, p := range in {
			if !have.Has(p.A, p.B) {
				return nil, nil, fmt.Errorf("documents %s and %s are not an allowed pair: %w", files.QuoteID(p.A), files.QuoteID(p.B), files.ErrNotFound)
			}
		}
		return nil, in, nil
	})
}

// editAllowed changes the set of allowed pairs in one transaction of the catalog. edit gets the set
// and the pairs in their order, and returns what to add and what to remove.
func (db *Store) editAllowed(ctx context.Context, pairs []view.IDPair, edit func(*view.AllowedPairs, []view.IDPair) (allow, unallow []view.IDPair, err error)) error {
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
	db.publishMu.Lock()
	defer db.publishMu.Unlock()
	if err := db.Writable(); err != nil {
		return err
	}
	have := db.AllowedPairs()
	allow, unallow, err := edit(have, in)
	if err != nil {
		return err
	}
	if err := db.editCatalog(catalog.Edit{Allow: view.CatalogPairs(allow), Unallow: view.CatalogPairs(unallow)}); err != nil {
		return db.fail(err)
	}
	db.mu.Lock()
	db.allowedSet = have.With(allow).Without(unallow)
	db.mu.Unlock()
	return nil
}

// AllowedPairs returns the list as it is now.
func (db *Store) AllowedPairs() *view.AllowedPairs {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.allowedSet
}
