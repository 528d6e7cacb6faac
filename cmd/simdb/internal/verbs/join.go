package verbs

import (
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
	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/cmd/simdb/internal/progress"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/quantity"
)

// Join is `simdb join`.
type Join struct {
	DB   string `arg:"" file:"db" help:"The database."`
	File string `arg:"" file:"in" help:"A file with documents, fingerprints or ids of stored documents, or with --files a folder of documents; - is standard input."`
	app.CriterionFlags
	IDs         bool         `name:"ids" help:"The lines are ids of stored documents."`
	Estimate    bool         `group:"criterion" help:"With --jaccard: estimate similarities from sketches, which is faster; by default they are computed from the texts, if the database keeps them."`
	InputFormat input.Format `group:"input" name:"input-format" default:"auto" placeholder:"FORMAT" help:"How the file is written: ${inputs} (default: by name and content)."`
	app.InputFlags
	app.RejectFlags
	app.MemoryFlag
	app.RowFlags
}

// Help says what the rows are.
func (Join) Help() string {
	return `A row for each line and each stored document that is like it, by input line, best match first: query is the id of the line
(its place if it has none), id that of the stored document. A line stands for a stored document with --ids, which takes the
text for its id, and in JSON also if it has an id alone; that document is no match of its own.

Lines of a regular file are looked up many at a time, which takes a fraction of the time; those of a pipe as they come.`
}

// Run writes the rows.
func (c *Join) Run(a *app.App) (err error) {
	start := time.Now()
	opt := c.InputFlags.Options(c.InputFormat)
	opt.MakeID, opt.IDsOnly = true, true
	if c.IDs && opt.Format == input.Auto && !strings.Contains(filepath.Base(c.File), ".") {
		opt.Format = "txt" // ids may look like fingerprints
	}
	src, err := a.NewSource(c.File, c.InputFlags)
	if err != nil {
		return err
	}
	db, err := a.OpenForQuery(c.DB, c.MemoryFlag)
	if err != nil {
		return err
	}
	defer app.Closing(db, &err)
	if !c.IDs {
		if err := app.ReadFeatures(&opt, db.Params().Features); err != nil {
			return err
		}
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
	j := &joining{c: c, db: db, rejects: rejects, meter: m, sources: src, verify: !c.Estimate && db.Params().Text, most: 1}
	if j.s, err = db.Snapshot(); err != nil {
		return err
	}
	defer j.s.Close()
	if src.Total > 0 {
		j.most = joinQueries
	}
	found, err := a.Rows(c.RowFlags, c.Columns("query", "id"), func(row func(...any) error) error {
		j.row = row
		return j.run(a, in)
	})
	m.Stop()
	a.TellSkipped(&src)
	err = errors.Join(err, rejects.Close(err))
	a.Say("%s read, %s of them like a stored document; %s rejected; %s", quantity.Count(j.read, "line"), quantity.Number(j.matched), rejects.Counted(), app.Seconds(start))
	if err == nil && j.read == 0 && rejects.N > 0 {
		return fmt.Errorf("no line could be used: %s rejected", rejects.Counted())
	}
	return app.FoundOr(found, err)
}

// Queries are looked up when there are joinQueries, or when their texts have joinBytes.
const (
	joinQueries = 1 << 20
	joinBytes   = 64 << 20
)

// joining is a run of join.
type joining struct {
	c       *Join
	db      *engine.DB
	s       *engine.Snapshot
	verify  bool
	rejects *app.Rejects
	meter   *progress.Meter
	sources app.Sources
	row     func(...any) error
	most    int // queries that are looked up together

	queries []string // ids of the lines
	self    []bool   // of each line: it stands for the stored document with its ID
	docs    []engine.Doc
	line    []int // of each of docs
	bytes   int   // of texts and ids

	read, matched int64 // lines
}

func (j *joining) run(a *app.App, in input.Source) error {
	for rec, err := range in.Records(a.Context()) {
		if err == nil {
			err = j.add(a.Context(), rec, in)
		}
		if is, ok := errors.AsType[*input.Issue](err); ok {
			err = j.rejects.Add(is)
		}
		if err == nil && (len(j.queries) >= j.most || j.bytes >= joinBytes) {
			err = j.lookUp(a.Context())
		}
		if err != nil {
			if !a.Interrupted() { // lines before the error are looked up nevertheless
				err = errors.Join(err, j.lookUp(a.Context()))
			}
			return err
		}
		j.meter.Report(j.sources.Progress("join", in))
	}
	return j.lookUp(a.Context())
}

// add keeps a line until it is looked up. One that cannot be is an Issue.
func (j *joining) add(ctx context.Context, rec *input.Record, in input.Source) error {
	id, doc := rec.Doc.ID, engine.Doc{Text: rec.Doc.Text, Fingerprint: rec.Doc.Fingerprint}
	if j.c.IDs {
		id, doc = strings.TrimSpace(doc.Text), engine.Doc{}
	}
	self := doc.Text == "" && doc.Fingerprint == nil
	switch {
	case self:
		stored, err := j.s.Lookup(ctx, id)
		if errors.Is(err, engine.ErrNotFound) {
			return input.NewIssue(in, rec, fmt.Sprintf("no document %q is stored, and the line has no text", id))
		}
		if err != nil {
			return err
		}
		doc.ID = id
		if stored.HasFingerprint {
			doc.Fingerprint = &stored.Fingerprint
		}
	case j.c.Jaccard != nil && doc.Text == "":
		return input.NewIssue(in, rec, "it has no text for --jaccard to compare")
	}
	j.read++
	j.docs, j.line = append(j.docs, doc), append(j.line, len(j.queries))
	j.queries, j.self = append(j.queries, id), append(j.self, self)
	j.bytes += len(doc.Text) + len(id)
	return nil
}

// lookUp writes the rows of the lines that were kept.
func (j *joining) lookUp(ctx context.Context) error {
	last := -1
	for m, err := range j.matches(ctx) {
		if err != nil {
			return err
		}
		line := j.line[m.Query]
		if j.self[line] && m.ID == j.queries[line] {
			continue
		}
		if line != last {
			last = line
			j.matched++
		}
		if err := j.row(j.c.Values(m.Match, j.queries[line], m.ID)...); err != nil {
			return err
		}
	}
	clear(j.queries)
	clear(j.docs)
	j.queries, j.self, j.docs, j.line, j.bytes = j.queries[:0], j.self[:0], j.docs[:0], j.line[:0], 0
	return nil
}

// matches yields what the lines are like. Those without a fingerprint, which have no words, are
// like none by --near.
func (j *joining) matches(ctx context.Context) iter.Seq2[engine.BatchMatch, error] {
	switch {
	case j.c.Near != nil:
		return j.s.NearBatch(ctx, j.fingerprints(), int(*j.c.Near))
	case j.verify:
		return j.s.JaccardVerifiedBatch(ctx, j.docs, float64(*j.c.Jaccard))
	}
	return j.s.JaccardBatch(ctx, j.docs, float64(*j.c.Jaccard))
}

// fingerprints returns the fingerprints of the lines that have one, and leaves only those in line.
func (j *joining) fingerprints() []engine.Fingerprint {
	var work sync.WaitGroup
	const share = 256
	for docs := range slices.Chunk(j.docs, max(share, len(j.docs)/(4*runtime.GOMAXPROCS(0)))) {
		work.Go(func() {
			for i := range docs {
				if d := &docs[i]; d.Fingerprint == nil && d.Text != "" {
					if fp, ok := j.db.Fingerprint(d.Text); ok {
						d.Fingerprint = &fp
					}
				}
			}
		})
	}
	work.Wait()
	fps, line := make([]engine.Fingerprint, 0, len(j.docs)), j.line[:0]
	for i := range j.docs {
		if fp := j.docs[i].Fingerprint; fp != nil {
			fps, line = append(fps, *fp), append(line, j.line[i])
		}
	}
	j.line = line
	return fps
}
