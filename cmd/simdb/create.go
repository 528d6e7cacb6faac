package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
)

// newDatabase is a database that a command creates, and removes if nothing comes of it.
type newDatabase struct {
	path   string
	folder bool // there was an empty folder already
}

// prepare checks that a database can be created at path: its parent must be there, as a path that is misspelt would become
// a tree of folders.
func prepare(path string) (*newDatabase, error) {
	if st, err := os.Stat(path); err == nil {
		return &newDatabase{path, st.IsDir()}, nil
	}
	switch st, err := os.Stat(filepath.Dir(path)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no folder %s", path, filepath.Dir(path))
	case err != nil:
		return nil, err
	case !st.IsDir():
		return nil, fmt.Errorf("%s: %s is not a folder", path, filepath.Dir(path))
	}
	return &newDatabase{path: path}, nil
}

// close closes the database. If the command has created it, and failed, and there is nothing in it, it is removed. Where n is
// nil the database was there before.
func (n *newDatabase) close(db *engine.DB, failure error) error {
	if n != nil && failure != nil && !errors.Is(failure, status(exitNo)) {
		if st, err := db.Stats(); err == nil && st.Documents == 0 {
			return errors.Join(failure, n.remove(db))
		}
	}
	return errors.Join(failure, db.Close())
}

// remove removes the database, which is empty, and closes it. It has the lock until the files are gone, so nobody else can
// have written to it.
func (n *newDatabase) remove(db *engine.DB) error {
	entries, err := os.ReadDir(n.path)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	for _, e := range entries {
		if name := e.Name(); name != "CATALOG" && name != "LOCK" { // there is more to it
			return db.Close()
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(n.path, e.Name())); err != nil { // as on Windows, where open files stay
			return db.Close()
		}
	}
	if !n.folder {
		err = os.Remove(n.path)
	}
	db.Close() // it has no files any more
	return err
}
