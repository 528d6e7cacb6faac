package engine

import (
	"errors"

	"github.com/simdb/simdb/internal/base"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound    = errors.New("not found")                     // no document with this ID, or no database at this path
	ErrExists      = errors.New("already exists")                // Create over a database, Loader.Add of a stored ID
	ErrLocked      = errors.New("database is locked")            // another process has the database open for writing
	ErrReadOnly    = errors.New("database is read-only")         // a write to a database opened read-only
	ErrClosed      = errors.New("database is closed")            // any use after Close
	ErrParams      = errors.New("parameters do not fit")         // options or a query that disagree with how the database was created
	ErrInvalid     = errors.New("invalid argument")              // an empty ID, k outside 0..64, ...
	ErrTooLarge    = errors.New("too large")                     // a document over MaxIDBytes or MaxTextBytes, a result over Options.Memory
	ErrNotDatabase = errors.New("not a simdb database")          // the path holds something else
	ErrNoSketches  = errors.New("the database has no sketches")  // JACCARD asked of a database created without
	ErrFailed      = errors.New("no more writes until reopened") // a write failed; wraps the cause: the writer is poisoned, reads go on
	ErrCorruption  = base.ErrCorruption                          // in every *CorruptionError
)

// CorruptionError says which file is damaged, in which section and at which offset.
type CorruptionError = base.CorruptionError
