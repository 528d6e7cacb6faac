package dedup

import (
	"errors"
	"math"
	"os"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// newSeen returns an empty Seen with its temporary files in dir.
func (d *job) newSeen(dir string) *units.Seen {
	return units.NewSeen(d.c.Seen, d.c.memory(), d.inputBytes(), func() (*os.File, error) { return vfs.Temp(dir, "spill-*") })
}

// nobody is the keeper of a document that is dropped because of many others.
const nobody = math.MaxUint32

// decideSeen decides which documents stay if those are dropped that have been seen.
func (d *job) decideSeen(dir string) (err error) {
	s := d.newSeen(dir)
	defer func() { err = errors.Join(err, s.Close()) }()
	o := units.Options{Level: units.Document, Spec: d.params.Features, Seen: s, Shingle: d.params.Shingle, Seed: d.params.Seed}
	given := int64(0) // documents with a fingerprint but no text
	count := func(rec *records.Record) {
		if rec.Doc.Text == "" && rec.Doc.Fingerprints != nil {
			given++
		}
	}
	if err := d.readSeen(o, count); err != nil {
		return err
	}
	d.empty, d.bare = s.Empty(), given
	if given > 0 && given == d.read {
		return inputs.NoTexts()
	}
	if s.Again() {
		if err := d.readSeen(o, nil); err != nil {
			return err
		}
	}
	if err := s.Find(d.ctx); err != nil {
		return err
	}
	n := d.known + d.read
	d.out = outcome{keeper: ordered.Numbers(int(n)), cluster: make([]uint32, n), score: make([]float64, n)}
	for r, err := range s.All() {
		if err != nil {
			return err
		}
		d.out.drop(r)
	}
	return nil
}

// readSeen reads all documents, for the first time if count is not nil.
func (d *job) readSeen(o units.Options, count func(rec *records.Record)) error {
	x := units.NewExtractor(d.ctx, o, nil)
	defer x.Stop()
	add := func(rec *records.Record) error { return x.Add(rec.Doc.Text) }
	if count == nil {
		err := d.eachKnown(add, ignored)
		if err == nil {
			err = d.each(compareStage, nil, func(_ records.Source, rec *records.Record) error { return add(rec) }, ignored)
		}
		if err == nil {
			err = x.Finish()
		}
		return err
	}
	err := d.readKnown(add)
	if err == nil {
		err = x.Finish()
	}
	if err != nil {
		return err
	}
	o.Seen.Know(d.known, d.c.OnlyAgainst)
	err = d.readAll(func(rec *records.Record) error {
		count(rec)
		return add(rec)
	})
	if err == nil {
		err = x.Finish()
	}
	return err
}
