package store

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/errs"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// openTable opens a table's file and checks that it is the one the catalog means.
func (db *Store) openTable(meta catalog.Table, file string) (*view.Table, error) {
	name := files.TableName(meta.Number)
	f, err := db.Dir.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, base.Corruptf(name, "file", -1, "missing: %w", err)
	}
	if err != nil {
		return nil, err
	}
	r, err := sstable.OpenFile(f, name)
	if err != nil {
		return nil, err
	}
	info := r.Info()
	t := &view.Table{Meta: meta, Name: name, Reader: r, Shift: meta.MinSeq - info.MinSeq}
	err = db.checkParams(r)
	switch {
	case err != nil:
		err = fmt.Errorf("%s was %w", name, err)
	case info.Checksum != meta.Digest || info.Size != meta.Size || info.Docs != meta.Docs:
		err = base.Corruptf(name, "footer", -1, "not the table that the catalog lists under this name")
	case t.ShiftSeq(info.MaxSeq) != meta.MaxSeq || meta.MinSeq > meta.MaxSeq:
		err = base.Corruptf(files.Catalog, fmt.Sprintf("tables/%d", meta.Number), -1,
			"sequence numbers %d to %d for those from %d to %d in %s", meta.MinSeq, meta.MaxSeq, info.MinSeq, info.MaxSeq, name)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	t.Dir = db.Dir.Retain()
	return t, nil
}

// tableParams returns the parameters for a new table of n fingerprints.
func (db *Store) tableParams(n int) sstable.Params {
	p := db.Params
	if choose := db.opts.ChooseLayout; choose != nil && p.Layout == sstable.LayoutBySize {
		p.Layout = choose(int64(n))
	}
	return p.ForTable(int64(n))
}

// mergeParams returns the parameters for a merge of about n documents. They leave a layout by size
// to the merge, which counts the fingerprints that it keeps, unless the options choose it.
func (db *Store) mergeParams(n int64) sstable.Params {
	if db.opts.ChooseLayout == nil {
		return db.Params
	}
	return db.tableParams(int(n))
}

// MaxDocs returns how many documents a table of the database can have.
func (db *Store) MaxDocs() int64 {
	most := db.Params.MaxDocs()
	if db.opts.MaxTableDocs > 0 {
		most = min(most, db.opts.MaxTableDocs)
	}
	return most
}

// checkParams returns ErrParams unless the table can be searched together with those of the
// database. Its layout may be another.
func (db *Store) checkParams(r *sstable.Reader) error {
	p := r.Params()
	if p.Compatible(db.Params) {
		return nil
	}
	p.Layout = db.Params.Layout
	return fmt.Errorf("made with %s: %w", p.Diff(db.Params), errs.ErrParams)
}
