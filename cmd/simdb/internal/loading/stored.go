package loading

import (
	"errors"
	"fmt"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/place"
)

// builds reports whether the load makes a new database from another one. Such a load succeeds as a
// whole or leaves no database.
func (l *load) builds() bool { return l.made && l.sources.Stored != nil }

// build makes a new database from another one. It prints its messages once the new database exists.
func (l *load) build(start time.Time) error {
	if err := l.takeStored(); err != nil {
		return err
	}
	err := engine.Build(l.c.DB, func(db *engine.DB) error {
		l.db = db
		return l.load(start)
	}, &l.create)
	switch {
	case l.db == nil && errors.Is(err, engine.ErrExists) && !l.c.Anew: // another process has created it meanwhile
		return l.c.Run(l.a)
	case l.db == nil:
		return err
	case err == nil:
		l.tellCreated()
	default:
		l.stats = engine.LoadStats{}
	}
	l.summary(start)
	return err
}

// takeStored prepares the load of a database. A new database will have its parameters.
func (l *load) takeStored() error {
	from := l.sources.Stored
	from.Written = true // the copy keeps the order of writing, which decides which documents are kept
	if l.c.Resume || l.c.TimeField+l.c.ExpiresField != "" {
		return errors.New("--resume, --time-field and --expires-field work only with files: a database is loaded whole, with its times")
	}
	if l.db == nil {
		o, err := l.c.optionsLike(from.DB, true)
		if err != nil {
			return err
		}
		l.create, l.features = *o, o.Features
		l.create.BusyTimeout = l.a.Global.BusyTimeout
	} else if place.Same(l.c.DB, from.Path) {
		return fmt.Errorf("%s would be loaded into itself", l.c.DB)
	}
	if err := from.ReadsAs(l.features, l.c.DB); err != nil {
		return err
	}
	if p := from.DB.Options(); p.NoText && p.Sketch > 0 {
		l.a.Say("%s stores no texts: its sketches, which JACCARD uses, are not copied", from.Path)
	}
	return nil
}
