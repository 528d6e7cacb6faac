package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/simdb/simdb/engine/internal/salvage"
	"github.com/simdb/simdb/engine/internal/store"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/vfs"
)

// RecoverOptions are the options of Recover and of DB.Repair.
type RecoverOptions struct {
	// Partial also restores documents that have lost their text, fields or sketch: their IDs and
	// fingerprints still find near-duplicates. Without Partial a document comes back as it was
	// written, or not at all, and can be loaded again.
	Partial bool
	// Drop lets Repair drop documents that cannot be read. Recover, which keeps the damaged
	// database, always leaves them out.
	Drop bool
	// Features has Function and Compute if the database has features of a function.
	Features Features
	// Progress, if not nil, is called from the goroutine of Recover.
	Progress func(Progress)

	fs  vfs.FS           // for tests: a faulty file system
	now func() time.Time // for tests: a clock
}

// RecoverReport says which data Recover or Repair could read and which it could not.
type RecoverReport struct {
	Documents   int64 // in the new database; in the tables that Repair wrote
	Tables      int   // in the new database; damaged tables that Repair replaced
	CatalogRead bool  // the whole catalog could be read, up to its last transaction
	Lost        int64 // documents that were alive, as far as is known, and cannot be read
	Partial     int64 // documents without text, fields or sketch (RecoverOptions.Partial), or exact time (Repair)
	Losses      []RecoverLoss
	// Doubts says where deleted or replaced documents may have come back, since the record of their
	// deletion is lost: File holds them, or held the record, or is "" if it is unknown; Documents is
	// an upper bound, or -1 if there is none; Err is the reason.
	Doubts []RecoverLoss
}

// RecoverLoss is a damaged part of a file, with the cost of the damage. A part that can be rebuilt
// from other parts costs nothing.
type RecoverLoss struct {
	File, Section string
	Offset        int64    // in bytes; -1 if unknown
	Documents     int64    // documents lost
	IDs           []string // of the documents lost, if they can be read
	Partial       int64    // as in RecoverReport
	Err           error    // what is wrong
}

// Recover builds a new database at newDir from the readable data of the damaged database, or packed
// database, at dir. It never changes dir. newDir must be missing or an empty folder (ErrExists);
// after an error there is nothing at newDir. No process may write to dir meanwhile.
//
// A damaged block costs the documents that need it, and no others. Deleted and replaced documents
// stay deleted, as far as the catalog and the logs show; Doubts lists the others. Documents keep
// their times and the order in which they were written. Recover restores allowed pairs and the time
// to live if it can read the catalog.
//
// Errors are ErrNotFound, ErrNotDatabase, ErrInvalid if newDir is inside dir, ErrLocked if Recover
// notices that another process has written to dir meanwhile, ErrCorruption if not even the
// parameters can be read, and errors of the context and the file system. Damage is not an error.
func Recover(ctx context.Context, dir, newDir string, o *RecoverOptions) (RecoverReport, error) {
	o = cmp.Or(o, &RecoverOptions{})
	r, err := salvage.Run(ctx, dir, newDir, salvage.Options{
		FS: o.fs, Now: o.now, Partial: o.Partial, Features: features.Spec(o.Features), Progress: progressTo(o.Progress),
	})
	report := RecoverReport{
		Documents: r.Documents, Tables: r.Tables, CatalogRead: r.CatalogRead, Lost: r.Lost, Partial: r.Partial,
	}
	for _, l := range r.Losses {
		report.Losses = append(report.Losses, RecoverLoss(l))
	}
	for _, d := range r.Doubts {
		report.Doubts = append(report.Doubts, RecoverLoss{File: d.File, Offset: -1, Documents: d.Documents, Err: errors.New(d.Reason)})
	}
	return report, err
}

// Repair verifies all tables, as Check does, and rebuilds the damaged ones: it writes their
// documents to new tables, with new indexes, which replace the damaged ones in one transaction.
// Reads and writes continue meanwhile. Damaged indexes cost no document: IDs, permuted tables,
// sketches of stored texts, containment and fields are computed again; so are fingerprints, unless
// they were given. Documents that have lost their time or sequence number get approximate ones, and
// count as Partial. The report lists all damage.
// If documents cannot be read, their table stays as it is, and Metrics names it, unless o.Drop is
// set: then they are dropped, and the report lists their IDs. A table that has lost both its
// directories stays, too; Recover makes a database without it.
//
// Open does the same for tables that it cannot open, if no document is lost. Errors are as for
// Flush; damage is not an error.
func (db *DB) Repair(ctx context.Context, o *RecoverOptions) (RecoverReport, error) {
	o = cmp.Or(o, &RecoverOptions{})
	r, err := db.s.Repair(ctx, store.RepairOptions{Partial: o.Partial, Drop: o.Drop, Progress: progressTo(o.Progress)})
	report := RecoverReport{Documents: r.Documents, Tables: r.Tables, CatalogRead: true}
	for _, l := range r.Losses {
		report.Lost += l.Lost
		report.Partial += l.Partial
		report.Losses = append(report.Losses, RecoverLoss(salvage.NewLoss(l)))
	}
	return report, err
}
