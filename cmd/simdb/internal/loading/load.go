// Package loading implements the commands that make databases from documents, and files from
// databases.
package loading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Load is `simdb load`.
type Load struct {
	DB    string   `arg:"" file:"db" help:"The database; it is created if there is none."`
	Files []string `arg:"" file:"in" name:"file" help:"Files with documents, also at https://, s3://, gs:// and hf://, or a database, or with --files or --images the documents themselves; - is standard input."`

	app.CopyInputFormat
	app.SummaryFlag
	app.PageInputFlags
	OnConflict string `enum:"replace,skip,error" default:"replace" placeholder:"HOW" help:"What to do if the id of a document is already stored: replace (replace the stored document, the default; a document without a usable text or fingerprint replaces only one of the same kind), skip (ignore the new one) or error (stop)."`
	app.RejectFlags
	Resume bool       `help:"Continue where an earlier load of the same file stopped; a file that has changed there is read from the beginning."`
	Memory app.Memory `default:"auto" placeholder:"SIZE" help:"Memory for buffered documents, sorting and merging. A load needs about 100 MiB in addition, and more to merge tens of millions of documents (default: a 16th of the machine's memory, from 256MiB to 1GiB; a quarter if the machine has less than 1GiB)."`

	CreateFlags
	TimeFlag

	Into     *engine.DB `kong:"-"` // DB, if the caller has opened it; it stays open
	Anew     bool       `kong:"-"` // DB must not exist
	Rejected int64      `kong:"-"` // set by Run: number of rejected records
}

// Validate checks flags that depend on each other.
func (c *Load) Validate() error { return cmp.Or(c.CheckImages(c.FileFlags), c.CreateFlags.Validate()) }

const (
	// BesideMemory is the memory that a load uses in addition to --memory: for lines in progress,
	// and for the state of merges.
	BesideMemory = 96 << 20

	// --memory / spareShare is left for garbage. Without it the collector would run all the time
	// while two chunks of documents have their largest size.
	spareShare = 16
)

// WithSpare returns the memory of a load including the part for garbage.
func WithSpare(memory app.Memory) int64 { return int64(memory) + int64(memory)/spareShare }

type load struct {
	a        *app.App
	c        *Load
	create   engine.Options // for a new database
	db       *engine.DB     // nil until the first document of a new database
	loader   *engine.Loader
	features engine.Features // of the database
	made     bool            // this load creates the database
	stats    engine.LoadStats
	rejects  *inputs.Rejects
	meter    *app.Meter
	sources  *inputs.Sources
	skipped  int64
	textless int64   // records without text that were skipped, because they would replace a comparable document
	expired  int64   // documents stored that are older than the time to live
	ended    bool    // all files were read to the end
	passed   bool    // a later load continues after the rejected records
	failed   []error // files that could not be read to the end
}

// Run loads the files. It creates a database that does not exist for the first document, so that a
// load without documents leaves nothing behind.
func (c *Load) Run(a *app.App) (err error) {
	start := time.Now()
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, WithSpare(c.Memory)+BesideMemory))
	defer debug.SetMemoryLimit(limit)
	l := &load{a: a, c: c}
	if l.sources, err = a.NewCollection(c.Files, c.InputFlags, inputs.Access{Memory: int64(c.Memory)}); err != nil {
		return err
	}
	defer l.sources.Stored.Close(&err)
	o, err := c.CreateFlags.Options()
	if err != nil {
		return err
	}
	l.create = *o
	l.create.BusyTimeout = a.Global.BusyTimeout
	inputs.SetPictures(&l.create, c.Images)
	o.MustExist, o.BusyTimeout = true, a.Global.BusyTimeout
	o.ReadOnly = c.Into != nil // with Into, this only checks the parameters
	l.db, err = inputs.Open(c.DB, o)
	switch {
	case err == nil && c.Anew:
		return errors.Join(fmt.Errorf("%s: %w", c.DB, engine.ErrExists), l.db.Close())
	case err == nil && c.Into != nil:
		if err := l.db.Close(); err != nil {
			return err
		}
		l.db = c.Into
	case errors.Is(err, engine.ErrNotFound):
		if err = app.Prepare(c.DB); err != nil {
			return err
		}
		l.made = true
	case err != nil:
		return err
	}
	if l.builds() {
		return l.build(start)
	}
	defer func() { err = l.close(err) }()
	if l.db != nil {
		if err := inputs.CheckPictures(c.Images, c.DB, l.db); err != nil {
			return err
		}
		l.features = l.db.Options().Features
	} else if _, l.features, err = c.FeatureFlags.Params(0); err != nil {
		return err
	}
	if l.sources.Stored != nil {
		if err := l.takeStored(); err != nil {
			return err
		}
	}
	return l.load(start)
}

// load reads the files and prints a summary.
func (l *load) load(start time.Time) error {
	l.meter = l.a.Meter()
	defer l.meter.Stop()
	l.rejects = l.a.NewRejects(l.c.RejectFlags, filepath.Clean(l.c.DB)+".") // the whole name is part of the reject file's name
	l.rejects.Continue = l.c.Resume || l.c.Rejects == ""                    // rejected records are not read again, and other inputs share the file
	var err error
	l.stats, err = l.run()
	l.meter.Stop()
	l.a.Env().TellSkipped(l.sources, l.rejects)
	if !l.builds() { // otherwise it is not yet known whether the new database stays
		l.summary(start)
	}
	l.c.Rejected = l.rejects.N
	l.rejects.Partial = l.stats.Documents > 0 || l.passed
	return l.rejects.Close(errors.Join(append(l.failed, err)...))
}

// close closes the database, unless the caller opened it.
func (l *load) close(failure error) error {
	if l.db == nil || l.db == l.c.Into {
		return failure
	}
	return app.End(l.db, failure)
}

// run reads all files and returns statistics of the documents stored. Documents that were added are
// stored even if an error or a signal ends the reading.
func (l *load) run() (stats engine.LoadStats, err error) {
	if l.db != nil {
		if err := l.begin(records.Info{}); err != nil {
			return stats, err
		}
	}
	for i := range l.sources.Names {
		if err = l.file(i); err != nil {
			break
		}
	}
	l.ended = err == nil && !l.a.Interrupted()
	if l.db == nil && l.ended && len(l.failed) == 0 && l.rejects.N == 0 {
		err = l.begin(records.Info{}) // the files were empty
	}
	if l.loader == nil {
		return stats, err
	}
	l.meter.Report(engine.Progress{Stage: "write tables"})
	stats, closeErr := l.loader.Close()
	if err = errors.Join(err, closeErr); err == nil && l.sources.Stored != nil && l.ended {
		err = l.db.SetAllowed(l.a.Context(), true, slices.Collect(l.sources.Stored.Allowed())...)
	}
	if err == nil && !l.a.Interrupted() {
		err = l.db.Compact(l.a.Context(), &engine.CompactOptions{Due: true, Progress: func(p engine.Progress) {
			p.Stage = "merge"
			l.meter.Report(p)
		}})
	}
	if err == nil && l.a.Interrupted() {
		err = app.ErrInterrupted
	}
	return stats, err
}

// begin creates the database if it does not exist, and starts to load. Where no flag sets the
// fingerprints of a new database, it has those of the input.
func (l *load) begin(of records.Info) (err error) {
	if l.db == nil {
		l.create.Bits = cmp.Or(l.create.Bits, of.Bits)
		l.create.Features.Several = l.create.Features.Several || of.Several
		if l.db, err = inputs.Open(l.c.DB, &l.create); err != nil { // another process may have created it meanwhile
			return err
		}
		if l.db.Options().Features.Describe() != l.create.Features.Describe() {
			return fmt.Errorf("%s: another process has just created it with other features", l.c.DB)
		}
		if l.made = l.db.Metrics().Created; l.made {
			l.tellCreated()
		}
	}
	// Ctrl-C does not cancel the loader, so that the documents read so far are committed.
	l.loader, err = l.db.NewLoader(context.WithoutCancel(l.a.Context()),
		&engine.LoadOptions{Replace: l.c.OnConflict == "replace", MemoryBytes: int64(l.c.Memory)})
	return err
}

// indexPercent is the size of the containment index as a percentage of the texts, for words as long
// as in English; with longer words it is smaller.
const indexPercent = 40

// tellCreated reports a new database, and the expected size of its containment index.
func (l *load) tellCreated() {
	l.a.TalkTo(l.meter, "created %s", l.c.DB)
	if !l.create.Containment {
		return
	}
	size := ""
	if n := l.sources.ContentBytes(); n > 0 {
		size = fmt.Sprintf(", up to %s", quantity.Bytes(n*indexPercent/100))
	}
	l.a.TalkTo(l.meter, "the index for CONTAINS, WITHIN and PASSAGES will add about %d %% of the size of the texts%s", indexPercent, size)
}

// file loads one file. An error ends the load, but a damaged file does not.
func (l *load) file(i int) error {
	opt := l.c.PageInputFlags.Options(l.c.Named(l.a))
	opt.Memory, opt.Bits = int64(l.c.Memory), l.create.Bits
	if l.db != nil {
		opt.Bits = l.db.Options().Bits
	}
	if err := inputs.ReadFeatures(&opt, l.features); err != nil {
		return err
	}
	f := &loadFile{load: l, name: l.sources.Names[i]}
	f.source = f.name
	if l.sources.Tree != nil {
		f.source = l.sources.Tree.Key()
	} else if abs, err := filepath.Abs(f.name); err == nil && f.name != "-" {
		f.source = abs
	}
	if l.c.Resume && l.loader != nil {
		f.mark = loadMark(l.loader.Marked(f.source))
		if l.sources.Tree != nil { // its key says which list it is
			f.mark = loadMark(f.mark.pos())
		}
	}
	if l.sources.Stored != nil {
		opt.Need = records.NeedDoc
	}
	opt.After = f.mark.after()
	err := l.read(f, i, opt)
	if err != errOtherFile {
		return err
	}
	what := fmt.Sprintf("%s: %s %d has changed since an earlier load", f.name, f.unit, f.mark.pos())
	if st, err := place.Stat(l.a.Context(), f.name); f.name == "-" || err != nil || !st.Mode().IsRegular() {
		return fmt.Errorf("%s: load it without --resume", what)
	}
	l.a.TalkTo(l.meter, "%s: reading the whole file", what)
	opt.After, f.mark = 0, 0
	return l.read(f, i, opt)
}

type loadFile struct {
	*load
	name, source string   // in the user's spelling, and as the key in the database
	unit         string   // what positions count: lines, rows, ...
	mark         loadMark // how far an earlier load came; 0 if there was none
	found        bool     // the record at the mark, which comes first, was found
	stored       bool     // a record of the file has been stored
}

// read loads the records of a file after the mark. It returns errOtherFile if another file is at
// the mark.
func (l *load) read(f *loadFile, i int, opt records.Options) error {
	in, err := l.sources.Open(i, opt)
	if err != nil {
		l.failed = append(l.failed, err)
		return nil
	}
	defer in.Close()
	if err := l.sources.CheckIDs(in); err != nil {
		return err
	}
	f.unit, f.found, f.stored = in.Info().Format.EndUnit(), !f.mark.knows(), f.mark != 0
	if f.found && f.mark != 0 {
		f.tellResumed()
	}
	err = l.a.Env().ReadSource(l.a.Context(), l.sources, in, inputs.Reading{
		Stage: "read", Options: opt, Record: f.record, Issue: f.issue,
		Damaged: func(err error) {
			l.failed = append(l.failed, err)
			f.found = true // or it will never be known
		},
	})
	if err == nil && !f.found && !l.a.Interrupted() { // the file ends before the mark
		return errOtherFile
	}
	return err
}

func (f *loadFile) record(in records.Source, rec *records.Record) error {
	mark := markOf(rec)
	if known, err := f.atMark(mark); known || err != nil {
		return err
	}
	if err := f.add(in, rec); err != nil {
		return err
	}
	if f.sources.Stored == nil {
		f.loader.Mark(f.source, int64(mark))
	}
	f.stored = true
	return nil
}

// issue rejects a record.
func (f *loadFile) issue(in records.Source, is *records.Issue) error {
	mark := newLoadMark(is.End, hashRaw(is.Raw))
	if known, err := f.atMark(mark); known || err != nil {
		return err
	}
	err := f.rejects.Add(in, is)
	if _, kept := errors.AsType[*records.Issue](err); f.stored && is.End > 0 && f.loader != nil && (err == nil || kept) {
		f.loader.Mark(f.source, int64(mark))
		f.passed = true
	}
	return err
}

// add stores a record, or counts or rejects it.
func (l *load) add(in records.Source, rec *records.Record) error {
	l.rejects.Note(in, rec)
	if l.loader == nil {
		if err := l.begin(in.Info()); err != nil {
			return err
		}
	}
	if reason := l.c.Take(&rec.Doc); reason != "" {
		return l.rejects.Add(in, records.NewIssue(in, rec, reason))
	}
	if stays, err := l.wouldErase(rec); stays || err != nil {
		return err
	}
	err := l.loader.Add(rec.Doc)
	if err == nil && l.db.HasExpired(rec.Doc) {
		l.expired++
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, engine.ErrExists) && l.c.OnConflict == "skip":
		l.skipped++
		return nil
	case errors.Is(err, engine.ErrExists):
		return fmt.Errorf("%s:%d: %w (to continue, use --on-conflict replace or skip)", rec.File, rec.Pos, err)
	case errors.Is(err, engine.ErrInvalid), errors.Is(err, engine.ErrTooLarge):
		return l.rejects.Add(in, records.NewIssue(in, rec, reason(err)))
	}
	return err
}

// wouldErase reports whether a record without a usable text or fingerprint would replace a document
// that has one, and counts such records. An empty text does replace another text.
func (l *load) wouldErase(rec *records.Record) (bool, error) {
	if l.made || l.c.OnConflict != "replace" || rec.Flaw == "" || rec.Doc.Text != "" || rec.Doc.Fingerprints != nil && l.c.Images == nil {
		return false, nil
	}
	stored, err := l.db.Get(context.WithoutCancel(l.a.Context()), rec.Doc.ID)
	if errors.Is(err, engine.ErrNotFound) {
		return false, nil
	}
	if err != nil || stored.Text == "" && stored.Fingerprints == nil {
		return false, err
	}
	l.textless++
	return true, nil
}

// reason returns an error about a document without its class.
func reason(err error) string {
	return strings.TrimSuffix(err.Error(), ": "+engine.ErrInvalid.Error())
}

// emptiness says why documents have no fingerprint.
func (l *load) emptiness() string {
	f := l.features
	switch {
	case f.Code != "" || l.create.Features.Code != "":
		return "without a fingerprint, which NEAR does not find"
	case f.Unit == features.Set && f.MinWords > 1:
		return fmt.Sprintf("with fewer than %d members, which match nothing", f.MinWords)
	case f.Unit == features.Set:
		return "without members, which match nothing"
	case f.Unit == features.Given:
		return "with too few features, which match nothing"
	case f.MinWords > 1:
		return fmt.Sprintf("with fewer than %d words, which match nothing", f.MinWords)
	case f.RequireWords != nil:
		return "without a shingle that has a required word, which match nothing"
	}
	return "without words, which match nothing"
}

// summary prints a summary of the load.
func (l *load) summary(start time.Time) {
	s := l.stats
	text := fmt.Sprintf("%s: %s loaded in %s", l.c.DB, quantity.Count(s.Documents, "document"), app.Seconds(start))
	figures := []app.Figure{{Name: "loaded", Value: s.Documents}, {Name: "rejected", Value: l.rejects.N}}
	for _, part := range []struct {
		name string
		n    int64
		what string
	}{
		{"replaced", s.Replaced, "replaced an earlier one"},
		{"expired", l.expired, "already expired"},
		{"skipped", l.skipped, "skipped because their ids are stored"},
		{"not_replacing", l.textless, "without a usable text or fingerprint did not replace the stored document"},
		{"empty", s.Empty, l.emptiness()},
		{"bad_utf_8", l.rejects.BadUTF8, "with invalid UTF-8, replaced by U+FFFD; --encoding NAME sets their encoding"},
	} {
		figures = append(figures, app.Figure{Name: part.name, Value: part.n})
		if part.n > 0 {
			text += fmt.Sprintf("; %s %s", quantity.Number(part.n), part.what)
		}
	}
	if !l.c.Tell(l.a, start, figures...) {
		l.a.Say("%s", text)
	}
	if c := l.c; c.TimeField != "" && !c.timed && s.Documents > 0 {
		l.a.Say("warning: no document has a field %q: all count as stored now", c.TimeField)
	}
	if c := l.c; c.ExpiresField != "" && !c.expire && s.Documents > 0 {
		l.a.Say("warning: no document has a field %q: none expires by itself", c.ExpiresField)
	}
	switch {
	case !l.a.Interrupted():
	case l.builds():
		l.a.Say("stopped early; %s was not created", l.c.DB)
	case l.ended:
		l.a.Say("everything is stored, but merging was stopped; simdb compact %s finishes it", l.c.DB)
	case l.sources.Stored != nil:
		l.a.Say("stopped early; what was read is stored; load the database again to complete it")
	case l.db != nil:
		l.a.Say("stopped early; what was read is stored; load --resume continues after it")
	}
}
