// Package tables writes and opens the table files in the folder of a database. It knows nothing of
// which of them are part of it.
package tables

import (
	"fmt"
	"log/slog"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/sstable"
)

// A Folder is the table files in the folder of a database.
type Folder struct {
	*view.Config
	Log      *slog.Logger
	ReadOnly bool          // no file gets another name
	Number   func() uint64 // gives out the number of a new file

	// ChooseLayout returns the layout of a table of n fingerprints where the database's parameters
	// leave it open; nil for sstable.ChooseLayout.
	ChooseLayout func(n int64) sstable.Layout
	// MaxTableDocs is how many documents a table is given; 0, or more than a table can have, for
	// the limit of the format.
	MaxTableDocs int64
}

// ParamsFor returns the parameters for a new table of n fingerprints.
func (f *Folder) ParamsFor(n int) sstable.Params {
	p := f.Params
	if choose := f.ChooseLayout; choose != nil && p.Layout == sstable.LayoutBySize {
		p.Layout = choose(int64(n))
	}
	return p.ForTable(int64(n))
}

// MergeParams returns the parameters for a merge of about n documents. They leave a layout by size
// to the merge, which counts the fingerprints that it keeps, unless the options choose it.
func (f *Folder) MergeParams(n int64) sstable.Params {
	if f.ChooseLayout == nil {
		return f.Params
	}
	return f.ParamsFor(int(n))
}

// MaxDocs returns how many documents a table of the database can have.
func (f *Folder) MaxDocs() int64 {
	most := f.Params.MaxDocs()
	if f.MaxTableDocs > 0 {
		most = min(most, f.MaxTableDocs)
	}
	return most
}

// checkParams returns ErrParams unless the table can be searched together with those of the
// database. Its layout may be another.
func (f *Folder) checkParams(r *sstable.Reader) error {
	p := r.Params()
	if p.Compatible(f.Params) {
		return nil
	}
	p.Layout = f.Params.Layout
	return fmt.Errorf("made with %s: %w", p.Diff(f.Params), files.ErrParams)
}

// MergeOptions are the options of a merge that reports as a stage of its name.
func MergeOptions(stage string, progress func(view.Progress)) sstable.MergeOptions {
	return sstable.MergeOptions{Progress: func(done, total int64) {
		if progress != nil {
			progress(view.Progress{Stage: stage, Done: done, Total: total, Unit: "documents"})
		}
	}}
}
