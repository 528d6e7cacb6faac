package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Prepare checks that a database can be created at path. Its parent must exist, so that a misspelt
// path does not become a tree of folders.
func Prepare(path string) error {
	if _, err := os.Stat(path); err == nil || place.IsRemote(path) && !inputs.NamesFiles(path) {
		return nil
	}
	switch st, err := os.Stat(filepath.Dir(path)); {
	case inputs.IsSet(path):
		return fmt.Errorf("%s: %w", path, engine.ErrReadOnly)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no folder %s", path, filepath.Dir(path))
	case err != nil:
		return err
	case !st.IsDir():
		return fmt.Errorf("%s: %s is not a folder", path, filepath.Dir(path))
	}
	return nil
}

// End closes the database of a command. If the command created the database and failed before it
// stored anything, End removes it.
func End(db *engine.DB, failure error) error {
	if failure != nil && !errors.Is(failure, Status(ExitNo)) {
		return errors.Join(failure, db.Discard())
	}
	return errors.Join(failure, db.Close())
}

// OptionsLike returns options that create a database like db. If the layout of db follows from its
// size, the new database chooses the layout for its own size.
func OptionsLike(db *engine.DB) (*engine.Options, error) {
	st, err := db.Stats()
	if err != nil {
		return nil, err
	}
	o := st.Options
	if o.Layout == table.ChooseLayout(st.Fingerprints).String() {
		o.Layout = "by size"
	}
	return &o, nil
}

// BuildLike builds a database at path with the parameters of a table.
func (a *App) BuildLike(path, table string, fill func(*engine.DB) error) error {
	like, err := engine.OpenSet([]string{table}, nil)
	if err != nil {
		return err
	}
	o, err := OptionsLike(like)
	if err = errors.Join(err, like.Close()); err != nil {
		return err
	}
	o.BusyTimeout = a.Global.BusyTimeout
	return engine.Build(path, fill, o)
}

// CheckInput returns an error if the criterion compares texts and an input has only fingerprints.
func (f SimilarityFlags) CheckInput(in records.Source) error {
	if f.Near == nil && in.Info().FingerprintsOnly {
		return fmt.Errorf("%s has fingerprints but no texts: --near K compares fingerprints", in.Info().Name)
	}
	return nil
}
