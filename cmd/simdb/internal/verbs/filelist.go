package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/grouping"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// fileList is a run that lists what is alike in files, or in a sample of a database.
type fileList struct {
	*corpus.Listing
	a       *app.App
	f       *AlikeFlags
	by      corpus.Criterion
	o       corpus.JoinOptions
	meter   *app.Meter
	rejects *inputs.Rejects
	sources *inputs.Sources
	opt     records.Options
	groups  *grouping.Grouper // nil without --across and --within-field
	sample  *sample           // nil without --sample
	allowed bool              // the database has allowed pairs
	params  features.Params   // of the documents
	failed  []error           // files that could not be read to the end
	bare    int64             // documents with a fingerprint and no text, where texts are compared
	start   time.Time
}

// unknownBytes stands for the size of inputs that is not known.
const unknownBytes = 1 << 30

// listFiles lists what is alike in files, or in a sample. It removes its temporary file.
func (f *AlikeFlags) listFiles(a *app.App, m *app.Meter, src *inputs.Sources, list func(alike) error) (err error) {
	l := &fileList{a: a, f: f, meter: m, sources: src, start: time.Now()}
	switch {
	case f.Near != nil:
		l.by = corpus.Criterion{K: int(*f.Near)}
	case f.Jaccard != nil:
		l.by = corpus.Criterion{Sets: true, T: float64(*f.Jaccard)}
	case f.Levenshtein != nil:
		l.by = corpus.Levenshtein(float64(*f.Levenshtein))
	case f.Cosine != nil:
		l.by = corpus.Cosine(float64(*f.Cosine))
	default:
		l.by = corpus.Contained(float64(*cmp.Or(f.Contains, f.Within)))
	}
	if f.Estimate {
		return errors.New("--estimate uses the sketches of a whole database; files and a --sample have none, and --across and --within-field compare texts")
	}
	database := ""
	if src.Stored != nil {
		database = src.Stored.Path
	}
	if l.groups, err = f.Flags.New(database); err != nil {
		return err
	}
	if f.Sample > 0 {
		l.sample = &sample{n: int(min(int64(f.Sample), setjoin.MaxSets)), seed: f.Seed, most: int64(f.Memory) / 2}
	}
	if src.Stored == nil && l.by.Measure.Kind.OfTexts() {
		if err := f.RefuseFor("--levenshtein or --cosine of files"); err != nil {
			return err
		}
	}
	size := int64(f.Memory)
	dir, err := a.TempDirIn(f.TempDir)
	if err != nil {
		return err
	}
	l.rejects = a.NewRejects(f.RejectFlags, f.Output)
	l.o = corpus.JoinOptions{Memory: size, Progress: l.meter.Report}
	l.Listing = corpus.NewListing(corpus.Options{
		Sets: l.by.Sets, Measure: l.by.Measure, Prints: !l.by.Sets, Memory: size, InputBytes: cmp.Or(src.ContentBytes(), unknownBytes), Dir: dir,
	})
	defer l.Close()
	if l.groups != nil {
		l.Groups = &corpus.Groups{Across: l.groups.Across}
	}
	read := l.read
	if src.Stored != nil {
		read = l.readStored
	}
	if err = cmp.Or(read(), l.groups.Check()); err == nil {
		err = list(l)
	}
	l.meter.Stop()
	if err == nil || errors.Is(err, app.Status(app.ExitNo)) {
		l.say()
	}
	return l.rejects.Close(err)
}

func (l *fileList) read() error {
	params, features, err := l.f.Params(0)
	if err != nil {
		return err
	}
	l.opt = l.f.RowInputFlags.Options()
	l.opt.MakeID, l.opt.Bits = true, int(l.f.Bits)
	if err := app.ReadFeatures(&l.opt, features); err != nil {
		return err
	}
	l.params = params
	x := corpus.NewExtractor(l.a.Context(), params, l.Corpus)
	defer x.Stop()
	err = l.a.Env().EachInput(l.a.Context(), l.sources, inputs.Reading{
		Stage: "read", Options: l.opt, Rejects: l.rejects,
		Begin: func(_ int, in records.Source) error { return l.sources.CheckIDs(in) },
		Record: func(in records.Source, rec *records.Record) error {
			if n := len(rec.Doc.ID); n > engine.MaxIDBytes {
				return records.NewIssue(in, rec, fmt.Sprintf("its id has %d bytes, the most is %d", n, engine.MaxIDBytes))
			}
			return l.record(x, rec)
		},
		Damaged: func(err error) { l.failed = append(l.failed, err) },
	})
	if err != nil {
		return err
	}
	if l.sample != nil {
		for _, d := range l.sample.documents() {
			if err := l.add(x, &d); err != nil {
				return err
			}
		}
	}
	if err := cmp.Or(x.Finish(), l.f.Near.Within(max(64*len(l.Prints), int(l.f.Bits)))); err != nil {
		return err
	}
	if short := x.Few().Advice(l.params.Features); short != "" && l.by.Measure == (setjoin.Measure{}) {
		l.a.TalkTo(l.meter, "%s", short)
	}
	if len(l.failed) > 0 {
		return errors.Join(append(l.failed, errors.New("nothing is listed, as lines would be missing: repair or leave out what is damaged"))...)
	}
	if err := l.rejects.Nothing(); err != nil {
		return err
	}
	if l.by.Sets && l.Textual == 0 && l.Given > 0 {
		return corpus.ErrNoTexts
	}
	l.meter.Report(engine.Progress{Stage: "sort ids"})
	return l.Rank(l.a.Context())
}

func (l *fileList) add(x *corpus.Extractor, d *engine.Doc) error {
	if err := l.AddID(d.ID); err != nil {
		return err
	}
	if l.by.Sets && d.Text == "" && d.Fingerprint != nil {
		l.bare++
	}
	return x.Add(d, l.Groups)
}

// record takes a document of a file, or of a database.
func (l *fileList) record(x *corpus.Extractor, rec *records.Record) error {
	if l.sample != nil {
		return l.sample.add(&rec.Doc)
	}
	if l.groups != nil {
		l.Groups.Of = append(l.Groups.Of, l.groups.Of(rec))
	}
	return l.add(x, &rec.Doc)
}

func (l *fileList) countPairs() (int64, error) { return l.CountPairs(l.a.Context(), l.by, l.o) }

func (l *fileList) pairs(unordered bool) iter.Seq2[engine.Pair, error] {
	return func(yield func(engine.Pair, error) bool) {
		for p, err := range l.Pairs(l.a.Context(), l.by, unordered, l.o) {
			a, e := l.ID(p.A)
			b, f := l.ID(p.B)
			if err = cmp.Or(err, e, f); !yield(engine.Pair{A: a, B: b, Match: l.by.Of(b, p.Match)}, err) || err != nil {
				return
			}
		}
	}
}

func (l *fileList) form() (*corpus.Clusters, error) {
	if l.allowed {
		return nil, errors.New("some pairs are allowed, which only clusters of a whole database keep apart: leave out --sample, --across and --within-field, or list pairs")
	}
	return l.Clusters(l.a.Context(), l.by, l.f.components, l.o)
}

func (l *fileList) countClusters() (int64, error) {
	found, err := l.form()
	if err != nil {
		return 0, err
	}
	n, _ := found.Count()
	return n, nil
}

func (l *fileList) clusters() iter.Seq2[engine.Member, error] {
	return func(yield func(engine.Member, error) bool) {
		found, err := l.form()
		if err != nil {
			yield(engine.Member{}, err)
			return
		}
		for m, err := range found.All(l.a.Context()) {
			id, e := l.ID(m.N)
			if err = cmp.Or(err, e); !yield(engine.Member{Cluster: m.Cluster, Keep: m.Keep, Match: l.by.Of(id, m.Match)}, err) || err != nil {
				return
			}
		}
	}
}

// readStored reads a database, or draws the sample from it: its documents are compared as those of
// files are.
func (l *fileList) readStored() (err error) {
	db := l.sources.Stored
	if l.by.Sets && !db.DB.Params().Text {
		return fmt.Errorf("%s keeps no texts, which --sample, --across and --within-field compare by --jaccard", db.Path)
	}
	for range db.Allowed() {
		l.allowed = true
		break
	}
	if l.params, err = db.Params(); err != nil {
		return err
	}
	x := corpus.NewExtractor(l.a.Context(), l.params, l.Corpus)
	defer x.Stop()
	if l.sample == nil {
		err = l.readWhole(x)
	} else {
		err = l.readDrawn(x, db)
	}
	if err = cmp.Or(err, x.Finish()); err != nil {
		return err
	}
	return l.Rank(l.a.Context())
}

// readWhole reads a database, whose documents are preferred in the order of writing.
func (l *fileList) readWhole(x *corpus.Extractor) error {
	var written []uint64
	err := l.a.Env().EachInput(l.a.Context(), l.sources, inputs.Reading{
		Stage: "read", Options: records.Options{Need: records.NeedDoc},
		Record: func(_ records.Source, rec *records.Record) error {
			written = append(written, rec.Seq)
			return l.record(x, rec)
		},
	})
	l.Order = make([]uint32, len(written))
	for n := range l.Order {
		l.Order[n] = uint32(n)
	}
	slices.SortFunc(l.Order, func(a, b uint32) int { return cmp.Or(cmp.Compare(written[a], written[b]), cmp.Compare(a, b)) })
	return err
}

// readDrawn reads the sample of a database.
func (l *fileList) readDrawn(x *corpus.Extractor, db *inputs.Stored) error {
	docs, err := l.draw(db)
	for _, d := range docs {
		err = cmp.Or(err, l.add(x, &d))
	}
	return err
}

// draw returns a sample of the documents, in the order of writing, with what they are compared by.
func (l *fileList) draw(db *inputs.Stored) (docs []engine.Doc, err error) {
	r := inputs.Reading{Stage: "draw documents", Options: records.Options{Need: records.NeedID}}
	r.Record = func(_ records.Source, rec *records.Record) error { return l.sample.add(&rec.Doc) }
	if err := l.a.Env().EachInput(l.a.Context(), l.sources, r); err != nil {
		return nil, err
	}
	db.Only, db.NoTexts = map[string]bool{}, !l.by.Sets
	for _, d := range l.sample.documents() {
		db.Only[d.ID] = true
	}
	written, room := make(map[string]uint64, len(db.Only)), l.o.Memory/2
	r.Options.Need = records.NeedText
	r.Record = func(_ records.Source, rec *records.Record) error {
		docs, written[rec.Doc.ID] = append(docs, rec.Doc), rec.Seq
		if room -= int64(len(rec.Doc.Text)); room < 0 {
			return errLarge
		}
		return nil
	}
	if err := l.a.Env().EachInput(l.a.Context(), l.sources, r); err != nil {
		return nil, err
	}
	slices.SortFunc(docs, func(a, b engine.Doc) int {
		return cmp.Or(cmp.Compare(written[a.ID], written[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return docs, nil
}

func (l *fileList) say() {
	l.a.Env().TellSkipped(l.sources)
	if l.Repeated > 0 {
		l.a.Say("%s had an id that an earlier one has; each is a document of its own, as in dedup", quantity.Count(l.Repeated, "document"))
	}
	if l.bare > 0 {
		l.a.Say("%s: a fingerprint and no text, which match nothing; --near K compares fingerprints", quantity.Count(l.bare, "document"))
	}
	l.rejects.TellUTF8()
	read := l.N
	if l.sample != nil {
		read = l.sample.seen
		share := float64(l.N) / float64(max(read, 1))
		l.a.Say("%s drawn at random with --seed %d, %.3g %% of all: about %.3g %% of all pairs are among them",
			quantity.Count(l.N, "document"), l.f.Seed, 100*share, 100*share*share)
	}
	l.a.Say("%s read%s; %s", quantity.Count(read, "document"), l.f.Alike(l.f.Near), app.Seconds(l.start))
}
