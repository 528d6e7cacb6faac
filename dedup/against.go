package dedup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// In the order of preference, documents of Against precede those of the inputs. They act as
// keepers but are never copied: a document that resembles one is dropped. A source is read twice,
// so it must not change meanwhile: it is a regular file, or a snapshot of a database. A
// database's documents are read in storage order, but preferred in the order of writing, which
// compaction does not change.

// openAgainst opens the sources of Against. Unless the options say what to compare, the first
// database decides; all other databases must agree with it.
func (d *job) openAgainst() (err error) {
	first := ""
	if d.Stored != nil {
		s := &source{Sources: d.Sources, path: d.Names[0]}
		if err := d.takeStored(s, first); err != nil {
			return err
		}
		first = s.path
		d.keep.by = append(d.keep.by, &ranking{rule: First}) // breaks ties
	}
	for _, path := range d.c.Against {
		s := source{path: path, Sources: d.env.TableSources(path)}
		if s.Sources != nil {
			s.bytes = s.Total
			d.against = append(d.against, s)
			continue
		}
		what, err := engine.Identifier()(path)
		if err == nil && what != "" || inputs.IsSet(path) {
			if err := d.openKnown(&s); err != nil {
				return err
			}
			d.against = append(d.against, s)
			if err := d.takeStored(&s, first); err != nil {
				return fmt.Errorf("%s %w", option.Name("Against"), err)
			}
			first = path
			continue
		}
		if err := s.checkFile(d); err != nil {
			return err
		}
		d.against = append(d.against, s)
	}
	return d.checkFields()
}

// hasFields reports whether options name the fields of the source's documents.
func (s source) hasFields() bool { return s.Stored == nil && s.Tree == nil }

// checkFields returns an error if no source has the fields that options name.
func (d *job) checkFields() error {
	if f := d.features; d.c.AgainstTextField != "" && (f.Fields != nil || f.SetField != "") {
		return fmt.Errorf("%s names a field, but the documents are compared by %s", option.Name("AgainstTextField"), f.Describe())
	}
	named := cmp.Or(d.c.AgainstTextField, d.c.AgainstIDField) != ""
	if !named || slices.ContainsFunc(d.against, source.hasFields) {
		return nil
	}
	return fmt.Errorf("%s and %s name fields of files, but %s has its own",
		option.Name("AgainstTextField"), option.Name("AgainstIDField"), option.Set("Against", d.against[0].path))
}

// openKnown opens a database of Against at its current state.
func (d *job) openKnown(s *source) (err error) {
	db, err := d.env.OpenStored(s.path, d.access())
	if err != nil {
		return fmt.Errorf("%s: %w", option.Name("Against"), err)
	}
	s.Sources, s.bytes = db.Sources(), db.ContentBytes()
	return nil
}

// access returns how databases are opened, both those of Against and an input.
func (d *job) access() inputs.Access {
	how := inputs.Access{Near: d.Near, Images: d.c.Where.Images, Memory: d.c.memory() / 16}
	if d.c.level() == units.Document { // units are compared only by the options
		how.Compared = d.c.Compared
	}
	return how
}

// takeStored adopts the settings of a database. first names an earlier database, "" for
// none.
func (d *job) takeStored(s *source, first string) error {
	d.settle(s.Stored.DB)
	texts := !s.Stored.DB.Options().NoText
	switch {
	case !texts && d.c.level() != units.Document:
		return fmt.Errorf("%s: it stores no texts to compare", s.path)
	case !texts && (d.textCriterion().Sets || d.c.Seen != 0 || d.rule != nil):
		return fmt.Errorf("%s: it stores no texts to compare: %s K compares fingerprints", s.path, option.Name("Near"))
	}
	whole := d.c.Compared.NotStored() // its fingerprints are of all features, without weights
	s.Stored.NoFingerprints = d.Near == nil || whole != nil
	switch {
	case d.c.level() != units.Document:
		return nil
	case whole != nil && !texts:
		return fmt.Errorf("%s: it stores no texts to compare: %w", s.path, whole)
	}
	d.readAllowed(s)
	return d.agree(s, first)
}

// agree adopts the parameters of the first database, or checks that a later database has the
// same.
func (d *job) agree(s *source, first string) error {
	p, err := s.Stored.Params()
	if err != nil {
		return err
	}
	of := engine.Features(p.Features)
	if first == "" {
		d.params.Shingle, d.params.Features, d.params.Words, d.features = p.Shingle, p.Features, p.Words, of
		if d.Near != nil {
			d.opt.Bits = s.Stored.DB.Options().Bits
		}
		return nil
	}
	if d.params.Shingle != p.Shingle || d.features.Describe() != of.Describe() {
		return fmt.Errorf("%s and %s compare documents differently: %d words per shingle, %s; and %d, %s",
			first, s.path, d.params.Shingle, d.features.Describe(), p.Shingle, of.Describe())
	}
	return nil
}

// checkFile checks that a source can be read twice. With Files a folder is a source too, and with
// Images a picture.
func (s *source) checkFile(d *job) error {
	st, err := place.Stat(d.ctx, s.path)
	if err == nil && st.IsDir() {
		_, err = os.ReadDir(s.path) // the contents of the folder decide whether it is a database
	}
	switch {
	case s.path == "-":
		return errors.New(option.Name("Against") + " is read twice, so it cannot be standard input")
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such file or database", option.Set("Against", s.path))
	case err != nil:
		return err
	case d.c.Where.OfFiles() && st.IsDir(), d.c.Where.Images != nil && imagehash.HasExtension(s.path):
		s.Sources, err = d.env.New(d.ctx, []string{s.path}, d.c.Where)
		return err
	case st.IsDir():
		return fmt.Errorf("%s is a folder, not a database", option.Set("Against", s.path))
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s: it is read twice, so it must be a regular file", option.Set("Against", s.path))
	}
	if err = d.env.Uses(s.path, "a file of "+option.Name("Against")); err != nil {
		return err
	}
	if s.Sources, err = inputs.FileSources([]string{s.path}); err == nil {
		s.bytes = s.ContentBytes()
	}
	return err
}

// each calls f for every document of a source.
func (s *source) each(d *job, need records.Need, f func(rec *records.Record) error, bad badFunc) error {
	opt := d.opt
	opt.Need, opt.Cut = need, false
	if s.hasFields() {
		opt.TextField = cmp.Or(d.c.AgainstTextField, opt.TextField)
		if d.c.AgainstIDField != "" {
			opt.IDField, opt.IDFrom = d.c.AgainstIDField, records.IDFromField
		}
		opt.Called = map[string]string{"TextField": "AgainstTextField", "IDField": "AgainstIDField"}
	}
	return s.named(d.env.ReadInput(d.ctx, s.Sources, 0, inputs.Reading{
		Stage: "read known documents", Options: opt, Issue: bad,
		Record: func(_ records.Source, rec *records.Record) error {
			return f(rec)
		},
	}))
}

// named adds the name of the database to an error about one of its files, as these names repeat
// in all databases.
func (s *source) named(err error) error {
	if _, ok := errors.AsType[*engine.CorruptionError](err); ok {
		return fmt.Errorf("%s: %w", option.Set("Against", s.path), err)
	}
	return err
}

// eachKnown calls f for every document of Against, with the fields that identify it.
func (d *job) eachKnown(f func(rec *records.Record) error, bad badFunc) error {
	for i := range d.against {
		need := records.NeedText
		if d.against[i].Tree != nil {
			need = records.NeedID // pictures are not decoded again
		}
		if err := d.against[i].each(d, need, f, bad); err != nil {
			return err
		}
	}
	return nil
}

// readKnown reads Against for the first time.
func (d *job) readKnown(add func(rec *records.Record) error) error {
	need := records.NeedText
	if d.grouped() {
		need = records.NeedDoc
	}
	for i := range d.against {
		s := &d.against[i]
		s.known = d.known
		if s.Stored != nil {
			s.written = []uint64{}
		}
		if s.some() && d.auditTo != nil {
			if err := s.digestAll(d); err != nil {
				return err
			}
		}
		err := s.each(d, need, func(rec *records.Record) error {
			d.decided.add(d.known, rec)
			d.known++
			if s.Stored != nil {
				s.written = append(s.written, rec.Seq)
			}
			if !s.some() {
				s.digest.add(rec.Doc.ID, rec.Doc.Text, uint64(rec.Pos))
				if s.Tree != nil {
					s.digest.addPrint(rec)
				}
			}
			return add(rec)
		}, d.rejects.Add)
		if err != nil {
			return err
		}
	}
	return nil
}

// some reports whether only some documents of a source are read.
func (s *source) some() bool { return s.Stored != nil && s.Stored.Only != nil }

// digestAll computes the digest of a whole database when the job reads only some of its
// documents.
func (s *source) digestAll(d *job) error {
	var written []uint64
	only := s.Stored.Only
	s.Stored.Only = nil
	err := s.each(d, records.NeedText, func(rec *records.Record) error {
		s.digest.add(rec.Doc.ID, rec.Doc.Text, 0)
		written = append(written, rec.Seq)
		return nil
	}, ignored)
	s.Stored.Only = only
	for _, seq := range written {
		s.digest.add("", "", seq)
	}
	return err
}

// auditKnown returns the sources for the head of the audit, after they were read. A digest covers
// the documents in the order of reading, and for a database also when each was written.
func (d *job) auditKnown() (all []AuditInput) {
	for i := range d.against {
		s := &d.against[i]
		digest := s.digest
		if !s.some() {
			for _, seq := range s.written {
				digest.add("", "", seq)
			}
		}
		all = append(all, AuditInput{File: s.path, XXH3: digest.sum()})
	}
	return all
}

// orderKnown puts the known documents in order of preference, before the others, whose order is
// given; nil stands for ascending numbers, in the argument as in the result.
func (d *job) orderKnown(others []uint32) []uint32 {
	stored := slices.ContainsFunc(d.against, func(s source) bool { return s.written != nil })
	if d.known == 0 || others == nil && !stored {
		return others
	}
	all := ordered.Numbers(int(d.known + d.read))
	for _, s := range d.against {
		mine := all[s.known:][:len(s.written)]
		slices.SortFunc(mine, func(a, b uint32) int {
			return cmp.Compare(s.written[int64(a)-s.known], s.written[int64(b)-s.known])
		})
	}
	for i, n := range others {
		all[int(d.known)+i] = n + uint32(d.known)
	}
	return all
}
