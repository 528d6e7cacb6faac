package engine

import (
	"context"
	"time"

	"github.com/simdb/simdb/engine/internal/salvage"
	"github.com/simdb/simdb/internal/vfs"
)

// RecoverOptions are the options of Recover.
type RecoverOptions struct {
	// Partial also keeps documents whose text, fields or sketch are lost: their IDs and
	// fingerprints still find near-duplicates. Otherwise a document comes back as it was
	// written, or not at all, and can be loaded again.
	Partial bool
	// Progress, if not nil, is called from the goroutine of Recover.
	Progress func(Progress)

	fs  vfs.FS           // tests put a faulty file system here
	now func() time.Time // tests put a clock here
}

// RecoverReport says what Recover could read and what it could not.
type RecoverReport struct {
	Documents   int64 // in the new database
	Tables      int   // of the new database
	CatalogRead bool  // all that the catalog said is known, as of its last transaction
	Lost        int64 // documents that were alive, as far as is known, and can't be read
	Partial     int64 // documents without text, fields or sketch (RecoverOptions.Partial)
	Losses      []RecoverLoss
	Doubts      []RecoverDoubt // empty if no deleted or replaced document can have come back
}

// RecoverLoss is a damaged part of a file, and what the damage costs. A part that is rebuilt
// from others costs nothing.
type RecoverLoss struct {
	File, Section string
	Offset        int64 // in bytes, -1 if it has none
	Documents     int64 // that are lost
	Partial       int64 // as in RecoverReport
	Err           error // what is wrong
}

// RecoverDoubt says that deleted or replaced documents may have come back, since the record of
// that is lost.
type RecoverDoubt struct {
	File      string // that they are from, or with which the knowledge was lost; "" if it is not known
	Documents int64  // as many as that at most; -1 if that is not known
	Reason    string
}

// Recover builds a new database at newDir from what can be read of the one at dir, which is
// damaged, or of a packed one, and never changes that. There must be nothing at newDir but an empty
// folder (ErrExists); after an error there is nothing either. No process may write to dir
// meanwhile.
//
// A damaged block costs the documents that need it, and no others. What was deleted or replaced
// stays so, as far as catalog and logs tell; Doubts has the rest. Documents keep their times
// and the order in which they were written. Allowed pairs and the time to live are kept if the
// catalog can be read. Errors are ErrNotFound, ErrNotDatabase, ErrInvalid for a newDir inside dir,
// ErrLocked if another process is noticed to have written to dir meanwhile, ErrCorruption if not
// even the parameters can be read, and those of the context and the file system. Damage is not an
// error.
func Recover(ctx context.Context, dir, newDir string, opts ...*RecoverOptions) (RecoverReport, error) {
	o := given(opts)
	r, err := salvage.Run(ctx, dir, newDir, salvage.Options{
		FS: o.fs, Now: o.now, Partial: o.Partial, Progress: progressTo(o.Progress),
	})
	report := RecoverReport{
		Documents: r.Documents, Tables: r.Tables, CatalogRead: r.CatalogRead, Lost: r.Lost, Partial: r.Partial,
	}
	for _, l := range r.Losses {
		report.Losses = append(report.Losses, RecoverLoss(l))
	}
	for _, d := range r.Doubts {
		report.Doubts = append(report.Doubts, RecoverDoubt(d))
	}
	return report, err
}
