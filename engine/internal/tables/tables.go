// Package tables writes and opens the table files in the folder of a database. It does not know
// which tables are part of the database.
package tables

import (
	"fmt"
	"log/slog"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
)

// A Folder accesses the table files in the folder of a database.
type Folder struct {
	*view.Config
	Log      *slog.Logger
	ReadOnly bool          // files are not renamed
	Number   func() uint64 // assigns the number of a new file
	Cache    *table.Cache  // of all tables; may be nil

	// ChooseLayout returns the layout of a table of n fingerprints if the database's parameters do
	// not fix it; nil means table.ChooseLayout.
	ChooseLayout func(n int64) table.Layout
	// MaxTableDocs limits the documents of a table. Zero, or more than the format allows, means the
	// limit of the format.
	MaxTableDocs int64
}

// ParamsFor returns the parameters for a new table of n fingerprints.
func (f *Folder) ParamsFor(n int) table.Params {
	p := f.Params
	if choose := f.ChooseLayout; choose != nil && p.Layout == table.LayoutBySize {
		p.Layout = choose(int64(n))
	}
	return p.ForTable(int64(n))
}

// MergeParams returns the parameters for a merge of about n documents. A layout by size is left to
// the merge, which counts the fingerprints that it writes, unless ChooseLayout is set.
func (f *Folder) MergeParams(n int64) table.Params {
	if f.ChooseLayout == nil {
		return f.Params
	}
	return f.ParamsFor(int(n))
}

// MaxDocs returns the maximum number of documents in a table of the database.
func (f *Folder) MaxDocs() int64 {
	most := f.Params.MaxDocs()
	if f.MaxTableDocs > 0 {
		most = min(most, f.MaxTableDocs)
	}
	return most
}

// checkParams returns ErrParams unless the table can be searched together with those of the
// database. The layout may differ.
func (f *Folder) checkParams(r *table.Reader) error {
	p := r.Params()
	if p.Compatible(f.Params) {
		return nil
	}
	p.Layout = f.Params.Layout
	return fmt.Errorf("made with %s: %w", p.Diff(f.Params), files.ErrParams)
}

// MergeOptions returns options of a merge that reports its progress under the given stage.
func MergeOptions(stage string, progress func(view.Progress)) table.MergeOptions {
	return table.MergeOptions{Progress: func(done, total int64) {
		if progress != nil {
			progress(view.Progress{Stage: stage, Done: done, Total: total, Unit: "documents"})
		}
	}}
}
