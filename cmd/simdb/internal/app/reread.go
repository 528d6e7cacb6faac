package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
)

// ErrChanged is the error of files that are not what they were in the first pass.
var ErrChanged = errors.New("the files were changed while they were read; nothing is written")

// Reread are inputs that are read several times.
type Reread struct {
	Sources Sources
	Names   []string      // of the inputs, as the user named them
	Files   []string      // as they are read: of what cannot be read twice, a copy
	AsRead  []os.FileInfo // of those files that the user named, nil for others
}

// Reread returns inputs for several passes. It copies standard input, and other files that cannot
// be read twice, to a folder.
func (a *App) Reread(s Sources, dir string, m *Meter) (*Reread, error) {
	r := &Reread{Sources: s, Names: s.Names}
	if s.Tree != nil {
		r.Files = s.Names
		return r, nil
	}
	for i, name := range s.Names {
		src := os.Stdin
		if name != "-" {
			st, err := os.Stat(name)
			if err != nil {
				return nil, err
			}
			if st.Mode().IsRegular() {
				r.Files, r.AsRead = append(r.Files, name), append(r.AsRead, st)
				continue
			}
			if src, err = os.Open(name); err != nil {
				return nil, err
			}
			defer src.Close()
		}
		path := filepath.Join(dir, fmt.Sprintf("input-%d", i))
		m.Report(engine.Progress{Stage: "read standard input"})
		if err := a.copyTo(path, src); err != nil {
			return nil, err
		}
		r.Files, r.AsRead = append(r.Files, path), append(r.AsRead, nil)
	}
	var err error
	r.Sources, err = FileSources(r.Files) // standard input has a size by now
	r.Sources.tally = s.tally
	return r, err
}

// copyTo copies an input to a new file. It returns when the command is interrupted, even if a read
// is under way: that one ends with the process.
func (a *App) copyTo(path string, src io.Reader) error {
	to, err := os.Create(path)
	if err != nil {
		return err
	}
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(to, src)
		copied <- errors.Join(err, to.Close())
	}()
	select {
	case err := <-copied:
		return err
	case <-a.Context().Done():
		return context.Cause(a.Context())
	}
}

// Unchanged returns an error if an input is not what it was when the run began: then what the first
// pass has found is about other records than those of later ones.
func (r *Reread) Unchanged() error {
	for i, before := range r.AsRead {
		if before == nil {
			continue // a copy of ours
		}
		now, err := os.Stat(r.Files[i])
		if err != nil {
			return err
		}
		if !os.SameFile(before, now) || now.Size() != before.Size() || !now.ModTime().Equal(before.ModTime()) {
			return fmt.Errorf("%s: %w", r.Names[i], ErrChanged)
		}
	}
	return nil
}

// Open opens input i under the name that the user gave.
func (r *Reread) Open(i int, opt input.Options) (input.Source, error) {
	path, name := r.Files[i], r.Names[i]
	if path == name {
		return r.Sources.Open(path, opt)
	}
	src, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if name == "-" {
		name = "stdin"
	}
	st, err := src.Stat()
	if err != nil {
		src.Close()
		return nil, err
	}
	opt.Tally = r.Sources.tally
	return input.New(name, src, st.Size(), opt)
}
