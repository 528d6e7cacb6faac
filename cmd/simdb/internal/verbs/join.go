package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/grouping"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	"github.com/simdb/simdb/repl/output"
)

// Join is `simdb join`.
type Join struct {
	DB   string `arg:"" file:"db" name:"db|file" help:"The database; with --contains or --within also a file with documents."`
	File string `arg:"" file:"in" help:"A file with documents, fingerprints or ids of stored documents, or a database, or with --files or --images a folder of documents; - is standard input."`
	app.SimilarityFlags
	grouping.Flags
	IDs      bool `name:"ids" help:"The lines are ids of stored documents."`
	Estimate bool `group:"criterion" help:"With --jaccard: estimate similarities from sketches, which is faster; by default they are computed from the texts, if the database keeps them."`
	app.RowInputFlags
	app.FeatureFlags
	app.RejectFlags
	app.MemoryFlag
	app.RowFlags
}

// Help says what the rows are.
func (Join) Help() string {
	return `Writes a row for each line and each stored document that it resembles, in the order of lines, best match first: query is the id of
the line (or its place, if it has none), id that of the stored document. A line stands for a stored document if --ids is given, which
takes the line for its id, or if it is a JSON object with an id alone. A stored document does not match itself.

Lines are looked up in batches, which takes a fraction of the time; on a pipe, lines that arrive during one lookup make up the next
batch.`
}

// Run writes the rows.
func (c *Join) Run(a *app.App) (err error) {
	start := time.Now()
	opt := c.RowInputFlags.Options()
	opt.MakeID, opt.IDsOnly, opt.Answers = true, true, true
	if name := filepath.Base(c.File); c.IDs && opt.Format == records.Auto && (!strings.Contains(name, ".") || strings.HasSuffix(name, ".txt")) {
		opt.Format = "txt" // ids may look like fingerprints
	}
	src, err := a.NewCollection([]string{c.File}, c.InputFlags, app.Access{})
	if err != nil {
		return err
	}
	defer src.Stored.Close(&err)
	if err := src.One(c.File); err != nil {
		return err
	}
	if src.Stored != nil {
		opt.Need = records.NeedDoc
	}
	if src.Stored != nil && c.IDs {
		return fmt.Errorf("--ids: %s is a database, and no list of ids", c.File)
	}
	defer app.KeepTo(int64(c.Memory))()
	m := a.Meter()
	defer m.Stop()
	j := &joining{a: a, c: c, rejects: a.NewRejects(c.RejectFlags, c.Output), meter: m, sources: src, most: joinQueries, pipe: src.Total == 0 && src.Stored == nil, workers: c.workers()}
	err = j.open(&opt)
	defer j.db.Close(&err)
	if err == nil {
		err = j.group()
	}
	if err != nil {
		return err
	}
	in, err := src.Open(0, opt)
	if err != nil {
		return err
	}
	defer in.Close()
	if err = c.CheckInput(in); err == nil && j.db != nil {
		err = cmp.Or(a.Env().CheckTexts(a.Context(), j.db.DB, c.Near != nil), a.Env().CheckTexts(a.Context(), src.DB(), c.Near != nil))
	}
	if err != nil {
		return err
	}
	switch j.opt = opt; {
	case c.Levenshtein != nil || c.Cosine != nil:
		j.most = joinSlow
	case c.Contained(): // all texts are read for each lot
		j.most = max(joinQueries, int(c.Memory/joinOne))
	}
	found, err := a.RowsTo(c.RowFlags, c.Columns("query", "id"), func(w *output.Writer) error {
		j.out = w
		return j.run(a, in)
	})
	m.Stop()
	a.Env().TellSkipped(src)
	a.Say("%s read, %s of them with a match%s; %s", quantity.Count(j.read, "line"), quantity.Number(j.matched), c.Alike(c.Near), app.Seconds(start))
	j.rejects.TellUTF8()
	return j.rejects.Close(app.FoundOr(found, cmp.Or(err, j.groups.Check())))
}

func (j *joining) open(opt *records.Options) (err error) {
	c := j.c
	if inputs.NamesFiles(c.DB) {
		f, err := c.openFiles(j.a, opt, j.meter, j.rejects)
		if err == nil {
			f.groups, err = c.Flags.New(stored(j.sources))
		}
		if err == nil {
			j.groups, err = f.groups, f.hold()
		}
		if err == nil {
			j.search = f.search
		}
		return err
	}
	j.db, err = j.a.OpenStored(c.DB, app.Access{Near: c.Near, Features: c.FeatureFlags, Images: c.Images, Memory: int64(c.Memory) / int64(j.workers)})
	if err != nil {
		return err
	}
	c.Settle(j.a, j.db.DB, c.Images)
	return j.useStored(opt)
}

// stored is the path of a database that documents are of, "" for files.
func stored(src *inputs.Sources) string {
	if src.Stored == nil {
		return ""
	}
	return src.Stored.Path
}

// group reads the groups of the documents of the database, with --across or --within-field.
func (j *joining) group() (err error) {
	if j.db == nil || !j.c.Grouped() {
		return nil
	}
	if j.groups, err = j.c.Flags.New(j.c.DB); err != nil {
		return err
	}
	j.stored = map[string]uint32{}
	err = j.a.Env().EachInput(j.a.Context(), j.db.Sources(), inputs.Reading{
		Stage: "read", Options: records.Options{Need: records.NeedDoc},
		Record: func(_ records.Source, rec *records.Record) error {
			j.stored[strings.Clone(rec.Doc.ID)] = j.groups.Of(rec)
			return nil
		},
	})
	return cmp.Or(err, j.groups.Check())
}

// openFiles opens the files that the first argument names, and prepares the lines to be read as
// they are.
func (c *Join) openFiles(a *app.App, opt *records.Options, m *app.Meter, rejects *inputs.Rejects) (f *joinFiles, err error) {
	if c.Contains == nil && c.Within == nil {
		return nil, fmt.Errorf("%s is a file: files are joined by --contains and --within; simdb load makes a database of one for other criteria", c.DB)
	}
	if c.IDs {
		return nil, fmt.Errorf("--ids: %s is a file, and stores no documents", c.DB)
	}
	if c.DB == "-" && c.File == "-" {
		return nil, errors.New("standard input (-) can be read only once")
	}
	f = &joinFiles{a: a, by: c.SimilarityFlags, memory: int64(c.Memory), rejects: rejects, meter: m, opt: c.RowInputFlags.Options()}
	f.opt.MakeID = true
	said := engine.Features{}
	if f.params, said, err = c.Params(0); err == nil {
		err = cmp.Or(inputs.ReadFeatures(opt, said), inputs.ReadFeatures(&f.opt, said))
	}
	if err != nil {
		return nil, err
	}
	if f.files, err = a.NewSources([]string{c.DB}, c.InputFlags); err != nil {
		return nil, err
	}
	dir, err := a.TempDirIn("")
	if err != nil {
		return nil, err
	}
	return f, a.Env().Reread(a.Context(), f.files, dir)
}

// useStored prepares a search of the database, and opt for lines as its documents are.
func (j *joining) useStored(opt *records.Options) error {
	params := j.db.DB.Params()
	opt.Bits = params.Bits
	if !j.c.IDs {
		if err := cmp.Or(inputs.ReadFeatures(opt, params.Features), j.sources.Stored.ReadsAs(params.Features, j.c.DB)); err != nil {
			return err
		}
	}
	by := j.c.Criterion(!j.c.Estimate && params.Text)
	j.search = func(ctx context.Context, l *joinLines) iter.Seq2[engine.BatchMatch, error] {
		return j.db.SearchBatch(ctx, l.docs, by)
	}
	return nil
}

// Lines are looked up when there are joinQueries, or when their texts have joinBytes, or a share of
// --memory. More are faster by little, and nothing is written before the first ones have been
// looked up.
const (
	joinQueries = 1 << 18
	joinBytes   = 64 << 20
	joinSlow    = 64 // lines that are compared as they are, which takes long
	joinShare   = 16
	joinOne     = 2 << 10   // of --memory, for each line that is looked up with others by containment
	joinLot     = 256 << 20 // of --memory, for each lot of lines that is looked up
	joinRows    = 1 << 10   // rows that are handed on at a time
	joinAhead   = 4         // such parts that wait to be written, of each lot of lines
)

// joining is a run of join. Lines are read in one goroutine, looked up in others, and rows written
// by that of the caller.
type joining struct {
	a       *app.App
	c       *Join
	db      *inputs.Stored // nil if it is files
	search  func(ctx context.Context, l *joinLines) iter.Seq2[engine.BatchMatch, error]
	groups  *grouping.Grouper // nil without --across and --within-field
	stored  map[string]uint32 // of a database: groups by ID
	rejects *inputs.Rejects
	meter   *app.Meter
	sources *inputs.Sources
	opt     records.Options
	out     *output.Writer
	most    int       // lines that are looked up together
	workers int       // such lots of lines at a time
	pipe    bool      // lines may come slowly
	free    sync.Pool // of *joinLines

	read, matched int64 // lines
}

// joinLines are lines that are looked up together.
type joinLines struct {
	from    int64    // lines before them
	queries []string // ids of the lines
	groups  []uint32 // of the lines
	docs    []engine.Doc
	line    []int // of each of docs
	bytes   int   // of texts and ids
}

// joinLine is a line, or what ended the reading.
type joinLine struct {
	id    string
	group uint32
	doc   engine.Doc
	err   error
}

func (l *joinLine) size() int { return len(l.doc.Text) + len(l.id) }

func (l *joinLines) add(line *joinLine) {
	l.docs, l.line = append(l.docs, line.doc), append(l.line, len(l.queries))
	l.queries, l.groups = append(l.queries, line.id), append(l.groups, line.group)
	l.bytes += line.size()
}

type joinRow struct {
	line  int64 // of the input, from 0
	query string
	engine.Match
}

// workers is how many lots of lines are looked up at a time. They share the memory.
func (c *Join) workers() int {
	if c.Jaccard != nil && c.Images == nil || c.Contained() { // it uses all processors itself
		return 1
	}
	return min(runtime.GOMAXPROCS(0), max(1, int(c.Memory/joinLot)))
}

func (j *joining) run(a *app.App, in records.Source) error {
	read := func(ctx context.Context) iter.Seq2[*joinLines, error] { return j.lines(ctx, a, in) }
	last := int64(-1)
	for rows, err := range pipeline.Concat(a.Context(), j.workers, joinAhead, read, j.lookUp) {
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.line != last {
				last = r.line
				j.matched++
			}
			if err := j.out.Row(j.c.Values(r.Match, r.query, r.ID)...); err != nil {
				return err
			}
		}
		if j.pipe { // who writes it may wait for the rows
			if err := j.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lines yields the lines of the input, many at a time: of a pipe those that have come.
func (j *joining) lines(ctx context.Context, a *app.App, in records.Source) iter.Seq2[*joinLines, error] {
	return func(yield func(*joinLines, error) bool) {
		l, read := j.freeLines(), int64(0)
		for come := range j.arrivals(ctx, in) {
			for i := range come {
				if err := come[i].err; err != nil { // lines before it are looked up nevertheless
					if a.Interrupted() || yield(l, nil) {
						yield(nil, err)
					}
					return
				}
				l.add(&come[i])
				read++
			}
			if j.pipe || len(l.queries) >= j.most || l.bytes >= j.bytes() {
				if !yield(l, nil) {
					return
				}
				l = j.freeLines()
				l.from = read
			}
		}
		yield(l, nil)
	}
}

// bytes is how many bytes of texts are looked up together.
func (j *joining) bytes() int {
	if j.c.Contained() { // all texts are read for each lot, of which half of the memory holds the sets
		t, role := j.c.Contains, setjoin.FewContained
		if t == nil {
			t, role = j.c.Within, setjoin.FewContaining
		}
		const textBytes = 6 // of a shingle
		return int(int64(j.c.Memory) / 2 / (1 + setjoin.FewBytes(float64(*t), role)/textBytes))
	}
	return min(joinBytes, int(j.c.Memory/joinShare))
}

// arrivals yields the lines of the input as they come, and at last what ended the reading before
// its end: of a file one by one.
func (j *joining) arrivals(ctx context.Context, in records.Source) iter.Seq[[]joinLine] {
	each := func(ctx context.Context) iter.Seq2[joinLine, int] { return j.each(ctx, in) }
	if j.pipe {
		return pipeline.Arrivals(ctx, j.most, j.bytes(), each)
	}
	return func(yield func([]joinLine) bool) {
		var room [1]joinLine
		for room[0] = range each(ctx) {
			if !yield(room[:]) {
				return
			}
		}
	}
}

// each yields the lines of the input and their sizes, and at last what ended the reading before its
// end.
func (j *joining) each(ctx context.Context, in records.Source) iter.Seq2[joinLine, int] {
	return func(yield func(joinLine, int) bool) {
		err := j.a.Env().ReadSource(ctx, j.sources, in, inputs.Reading{
			Stage: "join", Options: j.opt, Rejects: j.rejects,
			Record: func(in records.Source, rec *records.Record) error {
				if rec.Flaw != "" && j.c.Images != nil { // nobody can say that it is like none
					return records.NewIssue(in, rec, rec.Flaw)
				}
				j.read++
				l, err := j.lineOf(ctx, rec)
				if err == nil && rec.Flaw == "" && !yield(l, l.size()) {
					return records.ErrStop
				}
				return err
			},
		})
		if err != nil {
			yield(joinLine{err: err}, 0)
		}
	}
}

// freeLines returns an empty lot of lines, in the memory of one that has been looked up if there is
// one.
func (j *joining) freeLines() *joinLines {
	l, ok := j.free.Get().(*joinLines)
	if !ok {
		return &joinLines{}
	}
	clear(l.queries)
	clear(l.docs)
	*l = joinLines{queries: l.queries[:0], groups: l.groups[:0], docs: l.docs[:0], line: l.line[:0]}
	return l
}

// lineOf returns the line of a record. One that cannot be looked up has a flaw then.
func (j *joining) lineOf(ctx context.Context, rec *records.Record) (joinLine, error) {
	l := joinLine{id: rec.Doc.ID, doc: rec.Doc}
	if j.groups != nil {
		l.group = j.groups.Of(rec)
	}
	l.doc.ID, l.doc.Fields = "", nil
	if j.c.IDs {
		l.id, l.doc = strings.TrimSpace(l.doc.Text), engine.Doc{}
	}
	switch {
	case l.doc.Text == "" && l.doc.Fingerprint == nil && j.db != nil && j.sources.Stored == nil: // it stands for the stored document with its ID
		stored, err := j.db.Lookup(ctx, l.id)
		if errors.Is(err, engine.ErrNotFound) {
			rec.Flaw = cmp.Or(rec.Flaw, fmt.Sprintf("no document %q is stored, and the line has no text", l.id))
			return l, nil
		}
		if err != nil {
			return l, err
		}
		l.doc.ID, l.group = l.id, j.stored[l.id]
		l.doc.SetFingerprint(stored.Words()...)
		l.doc.Fingerprints = stored.Fingerprints
	case j.c.Near == nil && l.doc.Text == "":
		rec.Flaw = "it has no text to compare"
	}
	return l, nil
}

// lookUp yields the rows of some lines, several at a time.
func (j *joining) lookUp(ctx context.Context, l *joinLines) iter.Seq2[[]joinRow, error] {
	return func(yield func([]joinRow, error) bool) {
		defer j.free.Put(l)
		var rows []joinRow
		for m, err := range j.matches(ctx, l) {
			if err != nil {
				if yield(rows, nil) {
					yield(nil, err)
				}
				return
			}
			line := l.line[m.Query]
			if j.stored != nil && !j.groups.Accept(l.groups[line], j.stored[m.ID]) {
				continue
			}
			rows = append(rows, joinRow{l.from + int64(line), l.queries[line], m.Match})
			if len(rows) == joinRows {
				if !yield(rows, nil) {
					return
				}
				rows = make([]joinRow, 0, joinRows)
			}
		}
		yield(rows, nil)
	}
}

// matches yields what the lines are like. Those without a fingerprint, which have no words, are
// like none by --near.
func (j *joining) matches(ctx context.Context, l *joinLines) iter.Seq2[engine.BatchMatch, error] {
	if j.c.Near != nil {
		j.fingerprints(l)
	}
	return j.search(ctx, l)
}

// fingerprints gives the lines their fingerprints, and leaves only those that have one.
func (j *joining) fingerprints(l *joinLines) {
	var work sync.WaitGroup
	const share = 256
	for docs := range slices.Chunk(l.docs, max(share, len(l.docs)/(4*runtime.GOMAXPROCS(0)))) {
		work.Go(func() {
			for i := range docs {
				if d := &docs[i]; d.Fingerprint == nil && d.Text != "" {
					words, _ := j.db.DB.Hash(d.Text)
					d.SetFingerprint(words...)
				}
			}
		})
	}
	work.Wait()
	docs, line := l.docs[:0], l.line[:0]
	for i, d := range l.docs {
		if d.Fingerprint != nil {
			docs, line = append(docs, d), append(line, l.line[i])
		}
	}
	l.docs, l.line = docs, line
}
