package outfile

import "context"

// RowsWriter is a Writer of rows that releases its path when it ends, because a session may write
// the same file again, or read it.
type RowsWriter struct {
	*Writer
	command string
	guard   *Guard
}

// CreateRows starts to write rows at path for a command of a session, such as .output. anyEnding
// says that the user has chosen the format, so that the ending of path need not name it.
func (g *Guard) CreateRows(ctx context.Context, command, path string, anyEnding bool) (*RowsWriter, error) {
	kind := Rows
	if anyEnding {
		kind = AnyRows
	}
	w, err := g.Create(ctx, command, path, kind)
	if err != nil {
		g.Release(command)
		return nil, err
	}
	return &RowsWriter{w, command, g}, nil
}

// Commit completes the file and gives it its name.
func (w *RowsWriter) Commit() error {
	defer w.guard.Release(w.command)
	return w.Writer.Commit()
}

// Abort drops the file.
func (w *RowsWriter) Abort() {
	defer w.guard.Release(w.command)
	w.Writer.Abort()
}
