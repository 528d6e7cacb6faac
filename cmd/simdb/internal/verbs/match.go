package verbs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/repl/output"
)

// Match is `simdb match`.
type Match struct {
	DB   string `arg:"" file:"db" help:"The database."`
	File string `arg:"" file:"in" help:"A file with documents, or with --files a folder of documents; - is standard input."`
	app.SimilarityFlags
	app.NoVerifyFlag
	Add    bool   `help:"Store the documents that are new, so that later lines are compared with them too."`
	Output string `short:"o" file:"lines" placeholder:"FILE" help:"Write the new lines to FILE instead of standard output."`
	app.NullFlag
	app.InputFormat
	app.InputFlags
	app.FeatureFlags
	app.RejectFlags
}

// Run copies the lines that are new.
func (c *Match) Run(a *app.App) (err error) {
	start := time.Now()
	opt := c.InputFlags.Options(c.Format)
	opt.MakeID = !c.Add
	src, err := a.NewSources([]string{c.File}, c.InputFlags)
	if err != nil {
		return err
	}
	open := a.OpenWithFeatures
	if c.Add {
		open = a.OpenForWritingWith
	}
	db, err := open(c.DB, c.FeatureFlags)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if err := app.ReadFeatures(&opt, db.Params().Features); err != nil {
		return err
	}
	if c.Jaccard != nil && !c.NoVerify && !db.Params().Text {
		return fmt.Errorf("%s stores no texts to verify with: --no-verify uses estimates", c.DB)
	}
	m := a.Meter()
	defer m.Stop()
	in, err := a.OpenInput(m, &src, src.Names[0], opt)
	if err != nil {
		return err
	}
	defer in.Close()
	rejects, err := a.NewRejects(c.RejectFlags, a.Talk(m))
	if err != nil {
		return err
	}
	t := &matching{c: c, db: db, rejects: rejects, meter: m, sources: src, inPairs: idsInPairs(db)}
	if c.Near != nil && !c.Add && src.Total > 0 {
		t.held = new(heldLines)
	}
	err = t.run(a, in)
	m.Stop()
	a.TellSkipped(&src)
	err = errors.Join(err, rejects.Close(err))
	a.Say("%s; %s rejected; %s", t.summary(err), rejects.Counted(), app.Seconds(start))
	return err
}

// matching is a run of match.
type matching struct {
	c       *Match
	db      *engine.DB
	rejects *app.Rejects
	meter   *progress.Meter
	sources app.Sources
	inPairs map[string]bool // IDs in pairs of ALLOW
	held    *heldLines      // nil where records are decided one by one
	out     input.Copier
	read    int64 // documents
	fresh   int64 // of them, new
	stored  int64 // of them, with --add
}

// summary says what was read and found, and after an error what was stored before it.
func (t *matching) summary(err error) string {
	text := fmt.Sprintf("%s read, %s of them new", quantity.Count(t.read, "document"), quantity.Number(t.fresh))
	if err != nil && t.c.Add {
		text += fmt.Sprintf("; %s stored before the error", quantity.Count(t.stored, "document"))
	}
	return text
}

// run reads the file and writes what is new: each record as soon as it is decided, or from a
// regular file many at a time.
func (t *matching) run(a *app.App, in input.Source) error {
	format := in.Info().Format
	to, err := a.Sink(t.c.Output, app.CopiesOf(format), output.Options{})
	if err != nil {
		return err
	}
	t.out = format.NewCopier(to, input.CopyOptions{Follow: true, Like: in, Null: t.c.Null})
	if err = t.records(a, in); err == nil {
		err = t.out.Close()
	}
	return to.Close(err)
}

func (t *matching) records(a *app.App, in input.Source) error {
	for rec, err := range in.Records(a.Context()) {
		if err == nil {
			if err := t.record(a.Context(), rec, in); err != nil {
				return err
			}
		} else if is, ok := errors.AsType[*input.Issue](err); ok {
			err = t.rejects.Add(is)
		}
		if err != nil {
			if !a.Interrupted() { // records before the error are decided nevertheless
				err = errors.Join(err, t.release(a.Context(), in))
			}
			return err
		}
		t.meter.Report(t.sources.Progress("match", in))
	}
	return t.release(a.Context(), in)
}

// record writes a record if it is new.
func (t *matching) record(ctx context.Context, rec *input.Record, in input.Source) error {
	t.read++
	if t.held != nil {
		if full, err := t.hold(ctx, rec); !full || err != nil {
			return err
		}
		return t.release(ctx, in)
	}
	fresh, err := t.isNew(ctx, rec)
	if err != nil || !fresh {
		return err
	}
	return t.write(rec.Raw, in)
}

// write writes a new record.
func (t *matching) write(raw []byte, in input.Source) error {
	t.fresh++
	return t.out.Copy(in, raw)
}

// isNew reports whether no document in the database is similar to the record, not even one with the
// same ID. With --add a new record is stored.
func (t *matching) isNew(ctx context.Context, rec *input.Record) (bool, error) {
	by := t.c.Criterion(!t.c.NoVerify)
	var known bool
	var err error
	if t.inPairs[rec.Doc.ID] {
		known, err = t.knownBeside(ctx, rec)
	} else {
		_, known, err = t.db.AnyMatch(ctx, engine.Doc{Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}, by)
	}
	if err != nil || known || !t.c.Add {
		return !known, err
	}
	_, stored, err := t.db.PutNovel(ctx, rec.Doc, by)
	if stored {
		t.stored++
	}
	return stored, err
}

// fingerprint returns the record's fingerprint, or that of its text, if it has one.
func (t *matching) fingerprint(rec *input.Record) (fp engine.Fingerprint, ok bool) {
	if rec.Doc.Fingerprint != nil {
		return *rec.Doc.Fingerprint, true
	}
	return t.db.Fingerprint(rec.Doc.Text)
}

// idsInPairs returns the ids that are in allowed pairs.
func idsInPairs(db *engine.DB) map[string]bool {
	ids := map[string]bool{}
	for p := range db.Allowed() {
		ids[p.A], ids[p.B] = true, true
	}
	return ids
}

// knownBeside reports whether a document in the database is similar to a record, apart from those
// that are paired with its ID by ALLOW.
func (t *matching) knownBeside(ctx context.Context, rec *input.Record) (bool, error) {
	s, err := t.db.Snapshot()
	if err != nil {
		return false, err
	}
	defer s.Close()
	for m, err := range t.like(ctx, s, rec) {
		if err != nil || !s.IsAllowed(rec.Doc.ID, m.ID) {
			return err == nil, err
		}
	}
	return false, nil
}

// like yields the documents that are similar to a record.
func (t *matching) like(ctx context.Context, s *engine.Snapshot, rec *input.Record) iter.Seq2[engine.Match, error] {
	by := t.c.Criterion(!t.c.NoVerify)
	text := engine.Doc{Text: rec.Doc.Text}
	share, isShare := by.Threshold()
	_, isText := by.OfText()
	switch {
	case isText && text.Text == "", isShare && text.Text == "":
	case isText:
		return s.Similar(ctx, text, by)
	case isShare && by.IsVerified():
		return s.JaccardVerified(ctx, text, share)
	case isShare:
		return s.Jaccard(ctx, text, share)
	default:
		if fp, ok := t.fingerprint(rec); ok {
			k, _ := by.Distance()
			return s.Near(ctx, fp, k)
		}
	}
	return func(func(engine.Match, error) bool) {}
}

// A batch of searches takes a fraction of the time of single ones, so records of a regular file are
// collected and decided together.
const (
	heldCount = 1 << 18  // most records of a batch
	heldBytes = 64 << 20 // bytes of records after which a batch is decided
)

// heldLines are records that are not decided yet.
type heldLines struct {
	raw   []byte               // one after the other
	ends  []int                // of each line
	fps   []engine.Fingerprint // of the lines that have one
	line  []int                // of each fingerprint
	known []bool               // of each line: something in the database is like it
}

// hold keeps a record and reports whether the batch is full. Records in allowed pairs, which are
// few, are decided at once.
func (t *matching) hold(ctx context.Context, rec *input.Record) (full bool, err error) {
	h := t.held
	known := false
	if t.inPairs[rec.Doc.ID] {
		if known, err = t.knownBeside(ctx, rec); err != nil {
			return false, err
		}
	} else if fp, ok := t.fingerprint(rec); ok {
		h.fps, h.line = append(h.fps, fp), append(h.line, len(h.ends))
	}
	h.raw = append(h.raw, rec.Raw...)
	h.ends, h.known = append(h.ends, len(h.raw)), append(h.known, known)
	return len(h.ends) >= heldCount || len(h.raw) >= heldBytes, nil
}

// release decides the batch and writes its new records. It does nothing where records are decided
// one by one.
func (t *matching) release(ctx context.Context, in input.Source) error {
	h := t.held
	if h == nil {
		return nil
	}
	known, err := t.db.AnyNear(ctx, h.fps, int(*t.c.Near))
	if err != nil {
		return err
	}
	for i, is := range known {
		h.known[h.line[i]] = is
	}
	start := 0
	for i, end := range h.ends {
		if !h.known[i] {
			if err := t.write(h.raw[start:end:end], in); err != nil {
				return err
			}
		}
		start = end
	}
	h.raw, h.ends, h.fps, h.line, h.known = h.raw[:0], h.ends[:0], h.fps[:0], h.line[:0], h.known[:0]
	return nil
}
