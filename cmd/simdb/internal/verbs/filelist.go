package verbs

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/corpus"
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/health"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
)

// FileListFlags are the flags of commands that list what is alike in a database or in files.
type FileListFlags struct {
	Sample  app.Quantity `placeholder:"N" help:"List what is alike among N documents drawn at random."`
	Seed    uint64       `default:"1" placeholder:"SEED" help:"Of --sample: another number draws other documents (default: 1)."`
	Threads int          `placeholder:"N" help:"Processors to use; the rows are the same (default: all)."`
	app.RowInputFlags
	app.RejectFlags
	app.FeatureFlags
	summary bool   // clusters --summary: keep some texts
	TempDir string `placeholder:"FOLDER" help:"Folder for temporary files (default: that of the system)."`
}

// Validate checks the flags.
func (f *FileListFlags) Validate() error {
	if f.Threads < 0 {
		return fmt.Errorf("--threads %d: 1 or more", f.Threads)
	}
	return nil
}

// useThreads keeps to --threads until the function that it returns is called.
func (f *FileListFlags) useThreads() (restore func()) {
	if f.Threads == 0 {
		return func() {}
	}
	before := runtime.GOMAXPROCS(f.Threads)
	return func() { runtime.GOMAXPROCS(before) }
}

// small reports whether what is listed is no whole database.
func (f *FileListFlags) small(args []string) bool { return f.Sample > 0 || f.ofFiles(args) }

// ofFiles reports whether arguments are files with documents, and not one database.
func (f *FileListFlags) ofFiles(args []string) bool {
	return f.WholeFiles || len(args) > 1 || app.NamesFiles(args[0])
}

// fileList is a run that lists what is alike in files, or in a sample of a database.
type fileList struct {
	*corpus.Listing
	a       *app.App
	f       *FileListFlags
	by      corpus.Criterion
	o       corpus.JoinOptions
	meter   *app.Meter
	rejects *app.Rejects
	sources *app.Sources // nil of a database
	opt     input.Options
	sample  *health.Sample  // nil without --sample
	allowed bool            // the database has allowed pairs
	texts   *health.Sample  // of clusters --summary: documents in which shingles are counted
	params  features.Params // of the documents
	failed  []error         // files that could not be read to the end
	start   time.Time
}

// list reads the files, and has the rows written by rows. It removes its temporary file.
func (f *FileListFlags) list(a *app.App, args []string, output string, c app.SimilarityFlags, v app.VerifyFlags, memory app.MemoryFlag, rows func(*fileList) error) (err error) {
	l := &fileList{a: a, f: f, start: time.Now()}
	switch {
	case c.Near != nil:
		l.by = corpus.Criterion{K: int(*c.Near)}
	case c.Jaccard != nil:
		l.by = corpus.Criterion{Sets: true, T: float64(*c.Jaccard)}
	case c.Levenshtein != nil:
		l.by = corpus.Levenshtein(float64(*c.Levenshtein))
	default:
		l.by = corpus.Cosine(float64(*c.Cosine))
	}
	if v.Estimate {
		return errors.New("--estimate uses the sketches of a whole database; files and a --sample have none")
	}
	if f.Sample > 0 {
		l.sample = health.New(int(min(int64(f.Sample), setjoin.MaxSets)), f.Seed, int64(memory.Memory)/2)
	}
	files := f.ofFiles(args)
	if files {
		if l.by.Measure.Kind != setjoin.Jaccard {
			if err := f.RefuseFor("--levenshtein or --cosine of files"); err != nil {
				return err
			}
		}
		if l.sources, err = a.NewSources(args, f.InputFlags); err != nil {
			return err
		}
	}
	size := int64(memory.Memory)
	defer app.KeepTo(size)()
	dir, err := a.TempDirIn(f.TempDir)
	if err != nil {
		return err
	}
	l.meter = a.Meter()
	defer l.meter.Stop()
	l.rejects = a.NewRejects(f.RejectFlags, output)
	if f.summary {
		l.texts = health.NewSample()
	}
	l.o = corpus.JoinOptions{Memory: size, Progress: l.meter.Report}
	l.Listing = &corpus.Listing{Corpus: corpus.New(corpus.Options{
		Sets: l.by.Sets, Measure: l.by.Measure, Prints: !l.by.Sets, Memory: size, InputBytes: l.inputBytes(), Dir: dir,
	})}
	defer l.Close()
	if files {
		err = l.read()
	} else {
		err = l.readDB(args[0])
	}
	if err == nil {
		err = rows(l)
	}
	l.meter.Stop()
	if err == nil || errors.Is(err, app.Status(app.ExitNo)) {
		l.summary()
	}
	return l.rejects.Close(err)
}

// inputBytes is about how many bytes the files have when they are decompressed.
func (l *fileList) inputBytes() int64 {
	const unknown = 1 << 30
	if l.sources == nil {
		return unknown
	}
	return cmp.Or(l.sources.ContentBytes(), unknown)
}

// read reads all files.
func (l *fileList) read() error {
	params, features, err := l.f.Params(0)
	if err != nil {
		return err
	}
	l.opt = l.f.RowInputFlags.Options()
	l.opt.MakeID = true
	if err := app.ReadFeatures(&l.opt, features); err != nil {
		return err
	}
	l.params = params
	x := corpus.NewExtractor(l.a.Context(), params, l.Corpus)
	defer x.Stop()
	err = l.a.EachInput(l.sources, app.Reading{
		Stage: "read", Meter: l.meter, Options: l.opt, Rejects: l.rejects,
		Begin: func(_ int, in input.Source) error { return l.sources.CheckIDs(in) },
		Record: func(in input.Source, rec *input.Record) error {
			if n := len(rec.Doc.ID); n > engine.MaxIDBytes {
				return input.NewIssue(in, rec, fmt.Sprintf("its id has %d bytes, the most is %d", n, engine.MaxIDBytes))
			}
			return l.record(x, &rec.Doc)
		},
		Damaged: func(err error) { l.failed = append(l.failed, err) },
	})
	if err != nil {
		return err
	}
	if l.sample != nil {
		for _, d := range l.sample.Documents() {
			if err := l.add(x, &d); err != nil {
				return err
			}
		}
	}
	if err := x.Finish(); err != nil {
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

// add adds a document.
func (l *fileList) add(x *corpus.Extractor, d *engine.Doc) error {
	l.AddID(d.ID)
	if l.texts != nil {
		if err := l.texts.Add(d); err != nil {
			return err
		}
	}
	return x.Add(d)
}

// record takes a document of a file.
func (l *fileList) record(x *corpus.Extractor, d *engine.Doc) error {
	if l.sample != nil {
		return l.sample.Add(d)
	}
	return l.add(x, d)
}

// summary says what was read.
func (l *fileList) summary() {
	if l.sources != nil {
		l.a.TellSkipped(l.sources)
	}
	if l.Replaced > 0 {
		l.a.Say("%s had an id that comes again: the last document with an id counts", quantity.Count(l.Replaced, "document"))
	}
	l.rejects.TellUTF8()
	read := l.N
	if l.sample != nil {
		read = l.sample.Seen()
		share := float64(l.N) / float64(max(l.sample.Distinct(), 1))
		l.a.Say("%s drawn at random with --seed %d, %.3g %% of those that count: about %.3g %% of all pairs are among them",
			quantity.Count(l.N, "document"), l.f.Seed, 100*share, 100*share*share)
	}
	l.a.Say("%s read; %s", quantity.Count(read, "document"), app.Seconds(l.start))
}
