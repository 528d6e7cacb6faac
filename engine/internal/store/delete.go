package store

import (
	"context"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
)

// Delete removes the document with this ID; ErrNotFound if there is none. Of concurrent calls for
// one document exactly one returns nil.
func (db *Store) Delete(ctx context.Context, id string) error {
	if view.CheckID(id) != nil {
		return files.NoDocument(id)
	}
	deleted, err := db.Write(ctx, []Operation{Delete(id)})
	if err == nil && deleted == 0 {
		err = files.NoDocument(id)
	}
	return err
}
