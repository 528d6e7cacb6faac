package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/sstable"
)

// Prepare checks that a database can be created at path. Its parent must exist, so that a misspelt
// path does not become a tree of folders.
func Prepare(path string) error {
	if _, err := os.Stat(path); err == nil {
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

// End closes the database of a command that may have created it: one that failed before it stored
// anything leaves none behind.
func End(db *engine.DB, failure error) error {
	if failure != nil && !errors.Is(failure, Status(ExitNo)) {
		return errors.Join(failure, db.Discard())
	}
	return errors.Join(failure, db.Close())
}

// Access says how a database is opened, by flags. The zero value is for reading.
type Access struct {
	Write    bool            // it must not be a single table, unless
	OrTable  bool            // statements that cannot write to one say so
	Create   bool            // if there is none
	Contain  bool            // a database that is created has an index for searches by containment
	OrFile   bool            // the argument could also have been that of a file, as messages say
	Near     *Distance       // must be within the length of its fingerprints, or nil
	Features FeatureFlags    // must be those of the database where they are given
	Images   *imagehash.Kind // of pictures that are compared with it, or nil
	Memory   int64           // of a query, in bytes, for what it finds; 0 means 1 GiB
	Still    bool            // nothing is merged in the background
	OnEvent  func(engine.Event)
}

func (how Access) access() (inputs.Access, error) {
	compared, err := how.Features.Compared()
	return inputs.Access{
		Write: how.Write, OrTable: how.OrTable, Create: how.Create, Contain: how.Contain, OrFile: how.OrFile, Near: (*int)(how.Near),
		Compared: compared, Images: how.Images, Memory: how.Memory, Still: how.Still, OnEvent: how.OnEvent,
	}, err
}

// Open opens a database. It must exist, unless it may be created. A pattern names a set of tables
// and databases, which is read-only.
func (a *App) Open(path string, how Access) (*engine.DB, error) {
	to, err := how.access()
	if err != nil {
		return nil, err
	}
	return a.Env().OpenDB(path, to)
}

// OpenStored opens a database and takes a snapshot of it.
func (a *App) OpenStored(path string, how Access) (*inputs.Stored, error) {
	to, err := how.access()
	if err != nil {
		return nil, err
	}
	return a.Env().OpenStored(path, to)
}

// OptionsLike returns the options with which a database like db is created. If db has the layout
// for its size, the other one will have that for its own.
func OptionsLike(db *engine.DB) (*engine.Options, error) {
	st, err := db.Stats()
	if err != nil {
		return nil, err
	}
	o := st.Params.Options()
	if o.Layout == engine.Layout(sstable.ChooseLayout(st.Fingerprints).String()) {
		o.Layout = engine.LayoutBySize
	}
	return o, nil
}

// BuildLike builds a database at path with the parameters of a table.
func (a *App) BuildLike(path, table string, fill func(*engine.DB) error) error {
	like, err := engine.OpenSet(table)
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

// CheckInput returns an error if an input whose texts are to be compared has fingerprints alone.
func (f SimilarityFlags) CheckInput(in records.Source) error {
	if f.Near == nil && in.Info().FingerprintsOnly {
		return fmt.Errorf("%s has fingerprints and no texts: --near K compares fingerprints", in.Info().Name)
	}
	return nil
}
