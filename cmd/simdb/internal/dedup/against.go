package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
)

// The documents of --against come before those of the inputs in the order of preference. They are
// keepers without being copied: what is like one of them is dropped. A source is read twice, so it
// must not change meanwhile: a regular file, or a snapshot of a database. The documents of a
// database are read in the order in which they are stored, and preferred in that of writing, which
// compaction does not change.

// storedShare is how many bytes of documents one of a database may be.
const storedShare = 5

// openAgainst opens the sources of --against. It sets the flags that say what is compared to what
// the first database among them compares, unless there are some; all others must agree.
func (d *job) openAgainst() (err error) {
	first := ""
	for _, path := range d.c.Against {
		s := source{path: path}
		if what, err := engine.Identify(path); err == nil && what != "" {
			if err := d.openKnown(&s); err != nil {
				return err
			}
			if err := cmp.Or(d.agree(&s, first), d.readAllowed(&s)); err != nil {
				return errors.Join(err, s.close())
			}
			first = path
		} else if err := s.checkFile(); err != nil {
			return err
		}
		d.against = append(d.against, s)
	}
	return nil
}

// openKnown opens a source that is a database, as it is now.
func (d *job) openKnown(s *source) (err error) {
	if s.db, err = d.a.Open(s.path, app.Access{Features: d.c.FeatureFlags, Memory: int64(d.c.Memory) / 16}); err != nil {
		return fmt.Errorf("--against: %w", err)
	}
	s.snapshot, err = s.db.Snapshot()
	if err == nil && !s.db.Params().Text {
		err = fmt.Errorf("--against %s: it keeps no texts, which are compared", s.path)
	}
	var st engine.Stats
	if err == nil {
		st, err = s.db.Stats()
		s.bytes = st.DiskBytes * storedShare
	}
	if err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

// agree takes over what a database compares, or checks that the database before it does so, too.
func (d *job) agree(s *source, first string) error {
	p := s.db.Params()
	spec, err := features.Spec(p.Features).Canonical()
	if err != nil {
		return err
	}
	if first == "" {
		d.params.Shingle, d.params.Features, d.features = p.Shingle, spec, engine.Features(spec)
		return nil
	}
	if d.params.Shingle != p.Shingle || d.features.Describe() != engine.Features(spec).Describe() {
		return fmt.Errorf("--against: %s and %s compare other things of a document: %d words a shingle, %s; and %d, %s",
			first, s.path, d.params.Shingle, d.features.Describe(), p.Shingle, engine.Features(spec).Describe())
	}
	return nil
}

// checkFile checks that a source can be read twice.
func (s *source) checkFile() error {
	st, err := os.Stat(s.path)
	if err == nil && st.IsDir() {
		_, err = os.ReadDir(s.path) // what is in it decides whether it is a database
	}
	switch {
	case s.path == "-":
		return errors.New("--against is read twice, which standard input cannot be")
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("--against %s: there is no such file or database", s.path)
	case err != nil:
		return err
	case st.IsDir():
		return fmt.Errorf("--against %s: it is a folder, and no database", s.path)
	case !st.Mode().IsRegular():
		return fmt.Errorf("--against %s: it is read twice, which only a regular file can be", s.path)
	}
	if s.files, err = app.FileSources([]string{s.path}); err == nil {
		s.bytes = s.files.ContentBytes()
	}
	return err
}

func (s *source) close() error {
	if s.db == nil {
		return nil
	}
	if s.snapshot != nil {
		s.snapshot.Close()
	}
	return s.db.Close()
}

// closeAgainst closes the sources.
func (d *job) closeAgainst(err *error) {
	for i := range d.against {
		*err = errors.Join(*err, d.against[i].close())
	}
}

// each calls f for every document of a source, with where it stands.
func (s *source) each(d *job, f func(doc *engine.Doc, at place) error, bad badFunc) error {
	if s.db != nil {
		return s.eachStored(d, f)
	}
	return d.a.ReadInput(s.files, 0, app.Reading{
		Stage: "read what is known", Meter: d.meter, Options: d.opt, Issue: bad,
		Record: func(_ input.Source, rec *input.Record) error {
			return f(&rec.Doc, place{rec.Doc.ID, rec.File, rec.Pos})
		},
	})
}

// eachStored is each for a database.
func (s *source) eachStored(d *job, f func(doc *engine.Doc, at place) error) error {
	again := s.written != nil
	err := s.eachEntry(d, s.only, func(e *engine.Entry, doc *engine.Doc) error {
		if !again {
			s.written = append(s.written, e.Seq)
		}
		return f(doc, place{id: e.ID, file: s.path})
	})
	if err == nil && s.written == nil {
		s.written = []uint64{} // none, and they have been read
	}
	return err
}

// eachEntry calls f for the documents of a database whose ids are among only, unless that is nil.
func (s *source) eachEntry(d *job, only map[string]bool, f func(e *engine.Entry, doc *engine.Doc) error) error {
	var doc engine.Doc
	take := func(text, _ []byte) (bool, error) {
		doc.Text = string(text)
		return true, nil
	}
	filter := engine.EntryFilter{Unordered: true, Where: take}
	if only != nil {
		filter.Match = func(id []byte) (bool, error) { return only[string(id)], nil }
	}
	n := int64(0)
	for e, err := range s.snapshot.Entries(d.a.Context(), filter) {
		if err != nil {
			return s.named(err)
		}
		if doc.ID, doc.Fingerprint = e.ID, nil; d.c.Near != nil {
			doc.SetFingerprint(e.Words()...)
		}
		if err := f(&e, &doc); err != nil {
			return err
		}
		n++
		d.meter.Report(engine.Progress{Stage: "read what is known", Done: n, Unit: "documents"})
	}
	return context.Cause(d.a.Context())
}

// named adds the database to an error about one of its files, which have the same names in all.
func (s *source) named(err error) error {
	if _, ok := errors.AsType[*engine.CorruptionError](err); ok {
		return fmt.Errorf("--against %s: %w", s.path, err)
	}
	return err
}

// eachKnown calls f for every document of --against.
func (d *job) eachKnown(f func(doc *engine.Doc, at place) error, bad badFunc) error {
	for i := range d.against {
		if err := d.against[i].each(d, f, bad); err != nil {
			return err
		}
	}
	return nil
}

// readKnown reads --against for the first time.
func (d *job) readKnown(add func(*engine.Doc) error) error {
	for i := range d.against {
		s := &d.against[i]
		s.known = d.known
		if s.only != nil && d.auditTo != nil {
			if err := s.digestAll(d); err != nil {
				return err
			}
		}
		err := s.each(d, func(doc *engine.Doc, at place) error {
			d.decided.add(d.known, doc.ID)
			d.known++
			if s.only == nil {
				s.digest.add(doc.ID, doc.Text, uint64(at.line))
			}
			return add(doc)
		}, d.rejects.Add)
		if err != nil {
			return err
		}
	}
	return nil
}

// digestAll makes the digest of a database of which not all documents are read otherwise.
func (s *source) digestAll(d *job) error {
	var written []uint64
	err := s.eachEntry(d, nil, func(e *engine.Entry, doc *engine.Doc) error {
		s.digest.add(doc.ID, doc.Text, 0)
		written = append(written, e.Seq)
		return nil
	})
	for _, seq := range written {
		s.digest.add("", "", seq)
	}
	return err
}

// auditKnown are the sources as the head of the audit has them, after they were read. The digest is
// of their documents, in the order of reading, and of when those of a database were written.
func (d *job) auditKnown() (all []app.AuditInput) {
	for i := range d.against {
		s := &d.against[i]
		digest := s.digest
		if s.only == nil {
			for _, seq := range s.written {
				digest.add("", "", seq)
			}
		}
		all = append(all, app.AuditInput{File: s.path, XXH3: digest.sum()})
	}
	return all
}

// documents is how many there are, those of databases that are not read included.
func (d *job) documents() int64 {
	n := d.known + d.read
	for i := range d.against {
		n += d.against[i].passed
	}
	return n
}

// orderKnown puts the known documents in order of preference, given that of the others, nil for
// that of their numbers. It returns nil for that of all numbers.
func (d *job) orderKnown(others []uint32) []uint32 {
	stored := slices.ContainsFunc(d.against, func(s source) bool { return s.written != nil })
	if d.known == 0 || others == nil && !stored {
		return others
	}
	all := make([]uint32, d.known, d.known+d.read)
	for n := range all {
		all[n] = uint32(n)
	}
	for _, s := range d.against {
		mine := all[s.known:][:len(s.written)]
		slices.SortFunc(mine, func(a, b uint32) int {
			return cmp.Compare(s.written[int64(a)-s.known], s.written[int64(b)-s.known])
		})
	}
	for n := range d.read {
		at := uint32(n)
		if others != nil {
			at = others[n]
		}
		all = append(all, at+uint32(d.known))
	}
	return all
}
