package inputs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/imagehash"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
	"github.com/simdb/simdb/records/stored"
)

// Access says how to open a database. The zero value opens it for reading.
type Access struct {
	Write    bool                 // writable; a single table is refused, unless OrTable is set
	OrTable  bool                 // single tables are allowed; statements that cannot write to one report it
	Create   bool                 // create the database if it does not exist
	Contain  bool                 // a new database has an index for searches by containment
	OrFile   bool                 // messages say that the argument could also have named a file
	Near     *int                 // a distance that must not exceed the length of its fingerprints, or nil
	Compared Compared             // if set, must equal what the database compares, except for what it does not store
	Images   *records.PictureHash // hash of the pictures that are compared with it, or nil
	Memory   int64                // bytes that a query may use for its results; 0 means 1 GiB
	Cache    int64                // engine.Options.Cache
	Still    bool                 // no background merges
	TTL      time.Duration        // engine.Options.TTL
	OnEvent  func(engine.Event)
}

// OpenDB opens a database. It must exist unless Access.Create is set. A pattern names a set of
// tables and databases, which is read-only.
func (e *Env) OpenDB(path string, how Access) (*engine.DB, error) {
	if how.OrFile && !Exists(path) {
		return nil, fmt.Errorf("%s: no such file or database", path)
	}
	o := &engine.Options{
		ReadOnly: !how.Write, MustExist: !how.Create, BusyTimeout: e.BusyTimeout, Memory: how.Memory, Cache: how.Cache,
		Shingle: how.Compared.Shingle, Bits: how.Compared.Bits, Features: how.Compared.Features,
		DisableAutoCompaction: how.Still, OnEvent: how.OnEvent, TTL: how.TTL,
	}
	if how.Create {
		o.Containment = how.Contain
		SetPictures(o, how.Images)
	}
	open, names := Open, expand(path)
	set, served := names[0] != path, remoteTable(path)
	if set {
		open = func(string, *engine.Options) (*engine.DB, error) { return engine.OpenSet(names, o) }
	}
	db, err := open(path, o)
	if errors.Is(err, engine.ErrNotFound) && !set { // a member of a set may just have been removed
		return nil, fmt.Errorf("%s: %w", path, ErrNoDatabase)
	}
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(path); how.Write && !how.OrTable && (set || served || err == nil && !st.IsDir()) {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, engine.ErrReadOnly), db.Close())
	}
	if err := cmp.Or(CheckDistance(how.Near, db.Options().Bits), CheckPictures(how.Images, path, db)); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// tableEnd is how much of the end of a table on a server is read by the first request.
const tableEnd = 64 << 10

// openServed opens a packed table on a server, read-only.
func openServed(url string, o *engine.Options) (db *engine.DB, err error) {
	if o.Table, err = place.OpenPieces(context.Background(), url, tableEnd); err != nil {
		return nil, err
	}
	return engine.Open(place.Path(url), o)
}

// Open opens a database, for writing together with other processes. Where processes cannot share a
// database, it opens the database for this process alone. A packed table may be on a server.
func Open(path string, o *engine.Options) (*engine.DB, error) {
	if remoteTable(path) {
		return openServed(path, o)
	}
	shared := *o
	shared.Shared = true
	db, err := engine.Open(path, &shared)
	if errors.Is(err, errors.ErrUnsupported) {
		db, err = engine.Open(path, o)
	}
	return db, err
}

// Stored is a snapshot of a database. It is also an input, like a file: see Sources.
type Stored struct {
	*engine.Snapshot
	DB   *engine.DB
	Path string

	// Only holds the ids of the documents to read, nil for all; NoTexts omits their texts.
	Only    map[string]bool
	NoTexts bool

	NoFingerprints bool // fingerprints are not compared
	Written        bool // read documents in the order in which they were written

	// Fingerprints puts all fingerprints into records, even those that can be computed from
	// texts. TimeField is the name of the time in records, "" for none.
	Fingerprints bool
	TimeField    string
	ExpiresField string // likewise, of the time at which a document expires
}

// OpenStored opens a database and takes a snapshot.
func (e *Env) OpenStored(path string, how Access) (*Stored, error) {
	for _, name := range expand(path) {
		if err := e.Uses(name, "the database"); err != nil {
			return nil, err
		}
	}
	db, err := e.OpenDB(path, how)
	if err != nil {
		return nil, err
	}
	snap, err := db.Snapshot()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Stored{Snapshot: snap, DB: db, Path: path}, nil
}

// Close closes the database and adds its error to *err. A nil s is a no-op.
func (s *Stored) Close(err *error) {
	if s != nil {
		s.Snapshot.Close()
		Closing(s.DB, err)
	}
}

// Params returns the parameters of the database's fingerprints and sets.
func (s *Stored) Params() (records.FeatureParams, error) {
	p := s.DB.Options()
	spec, err := features.Spec(p.Features).Canonical()
	return features.Params{Shingle: p.Shingle, Features: spec, Words: p.Bits / 64}, err
}

// ReadsAs returns an error if a database with the features f would have other texts for the same
// documents. A nil s has no error.
func (s *Stored) ReadsAs(f engine.Features, other string) error {
	if s == nil {
		return nil
	}
	was := s.DB.Options().Features
	if slices.Equal(was.Fields, f.Fields) && was.SetField == f.SetField {
		return nil
	}
	whole := func(f engine.Features) string { return cmp.Or(f.Describe(), "whole texts") }
	return fmt.Errorf("%s compares %s, but %s %s: export and load the documents to read their fields again", s.Path, whole(was), other, whole(f))
}

// storedShare is the assumed ratio of document bytes to database bytes.
const storedShare = 5

// ContentBytes returns the approximate size of the documents in bytes.
func (s *Stored) ContentBytes() int64 {
	st, err := s.DB.Stats()
	if err != nil {
		return 0
	}
	return st.DiskBytes * storedShare
}

// Sources returns the database as the only input.
func (s *Stored) Sources() *Sources {
	names := []string{s.Path}
	return &Sources{Names: names, Files: names, Stored: s, tally: &records.Tally{}}
}

// open returns a pass over the documents in storage order. The fields of its records have the
// names in opt.
func (s *Stored) open(opt records.Options) (records.Source, error) {
	params := s.DB.Options()
	prints, err := s.Params()
	if err != nil {
		return nil, err
	}
	form, err := stored.NewForm(params, opt)
	if err != nil {
		return nil, err
	}
	form.Fingerprints, form.Time, form.Expires = s.Fingerprints, s.TimeField, s.ExpiresField
	return &stored.Input{
		Snap: s.Snapshot, Path: s.Path, Params: params, Features: prints, Only: s.Only, NoTexts: s.NoTexts, NoFingerprints: s.NoFingerprints, Written: s.Written, Form: form, Need: opt.Need,
	}, nil
}

// CheckDistance returns an error if a distance exceeds a number of bits. A nil distance is valid.
func CheckDistance(k *int, bits int) error {
	if k != nil && *k > bits {
		return fmt.Errorf("a distance of %d: a fingerprint has %d bits, so K must be from 0 to %[2]d", *k, bits)
	}
	return nil
}

// CheckPictures returns an error if the pictures of a database have hashes of another kind.
func CheckPictures(k *records.PictureHash, path string, db *engine.DB) error {
	if code := db.Options().Features.Code; k != nil && code != "" && code != k.String() {
		return fmt.Errorf("%s has %s hashes, which cannot be compared with the hashes of %s", path, code, option.Set("Images", k.String()))
	}
	return nil
}

// PicturesOf returns the hash for comparing pictures: given, or else that of the database, which
// may be nil; or nil.
func PicturesOf(db *engine.DB, given *records.PictureHash) *records.PictureHash {
	if db == nil || given != nil {
		return given
	}
	if kind, err := imagehash.ParseKind(db.Options().Features.Code); err == nil {
		return &kind
	}
	return nil
}

// SetPictures sets the options of a database of pictures in o. A nil kind changes nothing.
func SetPictures(o *engine.Options, k *records.PictureHash) {
	if k != nil {
		o.Bits, o.NoSketch, o.Features.Code = k.Bits(), true, k.String()
	}
}

// ErrNoDatabase is the error for a database that does not exist but has to.
var ErrNoDatabase = errors.New("no such database")

// NamesFiles reports whether an argument names files of documents and not a database. Folders,
// packed tables, and patterns of only these name databases; a path that does not exist names a
// file.
func NamesFiles(arg string) bool {
	if arg == "-" || place.IsRemote(arg) {
		return !remoteTable(arg)
	}
	st, err := os.Stat(arg)
	if err != nil { // it may be a pattern
		names := expand(arg)
		return names[0] != arg && slices.ContainsFunc(names, NamesFiles)
	}
	return !st.IsDir() && filepath.Ext(arg) != ".sst"
}

// remoteTable reports whether an argument is a URL of a packed table.
func remoteTable(arg string) bool {
	return place.IsRemote(arg) && filepath.Ext(place.Path(arg)) == ".sst"
}

// IsSet reports whether an argument is a pattern that matches only tables and databases.
func IsSet(arg string) bool {
	names := expand(arg)
	return names[0] != arg && !slices.ContainsFunc(names, NamesFiles)
}

// expand returns the paths that match an argument, or the argument itself if none does.
func expand(arg string) []string {
	names, err := files.Expand(arg, false)
	if err != nil {
		return []string{arg}
	}
	return names
}

// Exists reports whether path exists, or matches something as a pattern.
func Exists(path string) bool {
	if remoteTable(path) {
		return true // a request less: opening it tells
	}
	_, err := place.Stat(context.Background(), expand(path)[0])
	return err == nil
}

// Closing closes db and adds its error to *err.
func Closing(db *engine.DB, err *error) { *err = errors.Join(*err, db.Close()) }

// CheckTexts returns an error if a database has only fingerprints, and the job, whose criterion
// is by fingerprint if near is set, compares texts. It looks only at the first documents. It logs
// a message if there are more, if some have no text, or if the database is empty. Messages have the
// name of the database, its path if that is "". A nil db is valid.
func (e *Env) CheckTexts(ctx context.Context, db *engine.DB, name string, near bool) error {
	const looked, lookedBytes = 100, 1 << 20
	if db == nil {
		return nil
	}
	st, err := db.Stats()
	if name = cmp.Or(name, st.Path); err == nil && st.Documents == 0 {
		e.Say("%s has no documents", name)
	}
	switch p := db.Options(); {
	case near || err != nil:
		return err
	case p.NoText && p.Sketch == 0:
		return fmt.Errorf("%s stores only fingerprints: %s", name, nearCompares())
	case p.NoText:
		return nil
	}
	s, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer s.Close()
	n, bytes, texts, bare := 0, 0, 0, 0
	for doc, err := range s.Range(ctx, engine.Range{}) {
		if n++; err != nil || n > looked || bytes > lookedBytes {
			break
		}
		switch d, err := s.Get(ctx, doc.ID); {
		case err != nil:
		case d.Text != "":
			texts++
			bytes += len(d.Text)
		case d.Fingerprints != nil:
			bare++
		}
	}
	switch {
	case bare == 0:
	case texts > 0:
		e.Say("some documents have a fingerprint but no text, and match nothing; %s", nearCompares())
	case n > looked:
		e.Say("the first %d documents have fingerprints but no texts: %s", looked, nearCompares())
	default:
		return NoTexts()
	}
	return nil
}

// NoTexts returns the error for a comparison of texts where there are none.
func NoTexts() error {
	return errors.New("the documents have fingerprints but no texts: " + nearCompares())
}

func nearCompares() string { return option.Name("Near") + " K compares fingerprints" }
