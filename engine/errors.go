package engine

import (
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/internal/base"
)

// Errors that callers tell apart with errors.Is.
var (
	ErrNotFound    = files.ErrNotFound    // no document with this ID, or no database at this path
	ErrExists      = files.ErrExists      // Create over a database, Loader.Add of a stored ID
	ErrLocked      = files.ErrLocked      // another process has the database open for writing
	ErrReadOnly    = files.ErrReadOnly    // a write to a database opened read-only
	ErrClosed      = files.ErrClosed      // any use after Close
	ErrParams      = files.ErrParams      // options or a query that disagree with how the database was created
	ErrInvalid     = files.ErrInvalid     // an empty ID, k outside 0..64, ...
	ErrTooLarge    = files.ErrTooLarge    // a document, a result or a packed table over its limit
	ErrNotDatabase = files.ErrNotDatabase // the path holds something else
	ErrNoSketches  = files.ErrNoSketches  // JACCARD in a database without sketches
	ErrFailed      = files.ErrFailed      // a write failed, which poisons the writer; wraps the cause
	ErrCorruption  = base.ErrCorruption   // in every *CorruptionError
)

// CorruptionError says which file is damaged, in which section and at which offset.
type CorruptionError = base.CorruptionError
