package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/rulejoin"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// A Listing is a job that lists pairs or clusters of the documents of files, or of a database.
type Listing struct {
	By         engine.Criterion // exact for files and samples, even if Estimated
	Components bool
	Unordered  bool // yields pairs as they are found, without holding them in memory

	Compared inputs.Compared // what to compare in documents of files; a database has its own settings

	Rule  *PairRule // replaces By, as in a Job
	Agree []string  // as in a Job

	Distinct []string // as in a Job

	// Across is a field, or "file" or "folder": two documents match only if they differ in it.
	// WithinField is a field: two documents match only if they are equal in it.
	Across, WithinField string

	Words bool // Documents.Words tells in which words documents differ: files' texts are stored for it

	Sample int64  // compare only this many documents, drawn at random; 0: all
	Seed   uint64 // of the draw: another seed draws other documents

	Memory  int64  // as in Options
	TempDir string // as in Options

	Read    records.Options      // how files are read
	Rejects inputs.RejectOptions // what to do with input that is not a record
	Output  string               // the file of the rows, beside which the file of rejects is placed; or ""
}

// Documents are the documents that a Listing compares. Its methods are not safe for concurrent
// use.
type Documents struct {
	Read     int64 // documents of files, or documents that a sample was drawn from
	Listed   int64 // documents that are compared
	Repeated int64 // documents of files that repeat the ID of an earlier document
	Bare     int64 // documents with a fingerprint but no text, where texts are compared
	Rejects  *inputs.Rejects

	job     Listing
	env     *inputs.Env
	sources *inputs.Sources
	stored  bool // the documents are a whole database, which compares them itself

	files   *corpus.Listing
	by      corpus.Criterion
	params  features.Params
	remove  func()            // removes the temporary folder
	limits  *limits           // or nil
	rule    *rulejoin.Corpus  // of a rule; files has only the ids
	sample  *listSample       // nil for all
	allowed bool              // the database has allowed pairs
	damaged []error           // files that could not be read to the end
	texts   *corpus.TextStore // by number of a document; nil if not needed
	last    [2]struct {       // the documents of the last row; of a cluster, the one to keep and a member
		n  uint32
		id string
	}
}

// agreement returns the rule of a Listing with its short forms.
func (j *Listing) agreement() *agreement {
	return &agreement{j.By, j.Rule, j.Agree, j.Distinct, j.Across, j.WithinField}
}

// Open reads the documents, except for a whole database without limits and Sample, which uses its
// indexes. Close frees them.
func (j Listing) Open(ctx context.Context, env *inputs.Env, src *inputs.Sources) (_ *Documents, err error) {
	j.Memory = cmp.Or(max(j.Memory, 0), 1<<30)
	if err := src.CheckHTML(j.Read); err != nil {
		return nil, err
	}
	l := &Documents{job: j, env: env, sources: src, Rejects: env.NewRejects(ctx, j.Rejects, j.Output)}
	x := j.agreement()
	rule, limits, err := x.settle()
	if rule == nil && err == nil {
		l.job.By = x.by
		l.by, err = corpus.CriterionOf(x.by)
	}
	if err = cmp.Or(err, j.checkRule(rule, limits)); err != nil {
		return nil, err
	}
	if rule != nil {
		l.by, l.job.Read.NoText = corpus.Criterion{Sets: true}, fieldsOnly(rule) // pairs have scores
	}
	if src.Stored != nil {
		if err := env.CheckTexts(ctx, src.DB(), "", !l.by.Sets); err != nil {
			return nil, err
		}
		if l.stored = limits == nil && j.Sample == 0 && rule == nil && j.Compared.NotStored() == nil; l.stored {
			return l, nil
		}
	}
	if rule != nil {
		return l, l.openRule(ctx, rule)
	}
	return l, l.openCompared(ctx, limits)
}

// openCompared reads the documents that a criterion compares.
func (l *Documents) openCompared(ctx context.Context, limits *pairrule.Rule) (err error) {
	j := &l.job
	p, err := l.compared()
	if err != nil {
		return err
	}
	if l.limits, err = j.agreement().limit(limits, p, j.Read, l.sources); err != nil {
		return err
	}
	if j.Sample > 0 {
		l.sample = &listSample{n: int(min(j.Sample, setjoin.MaxSets)), seed: j.Seed, most: j.Memory / 2}
	}
	given := slices.DeleteFunc(j.Compared.Given(), func(name string) bool {
		stored := l.sources.Stored != nil && name != "Weights" && name != "Ignore" && name != "IgnoreCommon"
		return name == "Fold" || stored
	})
	if l.by.Measure.Kind.OfTexts() && len(given) > 0 {
		return fmt.Errorf("%s or %s compares whole texts: %s does not apply",
			option.Name("Levenshtein"), option.Name("Cosine"), option.Name(given[0]))
	}
	dir, remove, err := l.env.TempDir(j.TempDir)
	if err != nil {
		return err
	}
	l.remove = remove
	l.files = corpus.NewListing(corpus.Options{
		Sets: l.by.Sets, Measure: l.by.Measure, Fingerprints: !l.by.Sets, Memory: j.Memory, InputBytes: cmp.Or(l.sources.ContentBytes(), unknownBytes), Dir: dir,
	})
	if j.Words {
		l.texts = corpus.NewTextStore(j.Memory, dir)
	}
	if l.limits != nil {
		l.files.Groups = l.limits.Groups()
	}
	read := func(ctx context.Context) error { return l.readFiles(ctx, dir) }
	if l.sources.Stored != nil {
		read = func(ctx context.Context) error { return l.readStored(ctx, dir) }
	}
	if err := cmp.Or(read(ctx), l.limits.check()); err != nil {
		return l.Close(err)
	}
	l.Read, l.Listed, l.Repeated = l.files.N, l.files.N, l.files.Repeated
	if l.sample != nil {
		l.Read = l.sample.seen
	}
	return nil
}

// Whole reports whether the documents are a whole database, which compares them itself: they are not
// read, and the counts are 0.
func (l *Documents) Whole() bool { return l.stored }

// Close frees the documents. err is the error that ended the listing, or nil; Close returns err,
// or inputs.ErrRejected if some input was not a record.
func (l *Documents) Close(err error) error {
	if l.stored {
		return err
	}
	err = cmp.Or(err, l.files.Close(), l.texts.Close())
	if l.rule != nil {
		err = errors.Join(err, l.rule.Close())
	}
	l.remove()
	return l.Rejects.Close(err)
}

// readFiles reads the documents of files.
func (l *Documents) readFiles(ctx context.Context, dir string) error {
	params, features, err := paramsOf(l.job.Compared)
	if err != nil {
		return err
	}
	l.params = params
	opt := l.job.Read
	opt.MakeID, opt.Bits = true, l.job.Compared.Bits
	if err := inputs.ReadFeatures(&opt, features); err != nil {
		return err
	}
	if l.rule == nil {
		if err := l.weigh(ctx, &l.params, opt, dir); err != nil {
			return err
		}
	}
	x := corpus.NewExtractor(ctx, l.params, l.files.Corpus)
	defer x.Stop()
	err = l.env.EachInput(ctx, l.sources, inputs.Reading{
		Stage: "read", Options: opt, Rejects: l.Rejects,
		Begin: func(_ int, in records.Source) error { return l.sources.CheckIDs(in) },
		Record: func(in records.Source, rec *records.Record) error {
			if n := len(rec.Doc.ID); n > base.MaxIDBytes {
				return records.NewIssue(in, rec, fmt.Sprintf("its id has %d bytes; the limit is %d", n, base.MaxIDBytes))
			}
			return l.record(x, rec)
		},
		Damaged: func(err error) { l.damaged = append(l.damaged, err) },
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
	if err := cmp.Or(x.Finish(), inputs.CheckDistance(&l.by.K, max(64*len(l.files.Fingerprints), l.job.Compared.Bits))); err != nil {
		return err
	}
	if l.rule == nil {
		l.env.TellIdle(l.sources, x.Idle(l.job.Compared.Features.Fold))
	}
	if short := x.Few().Advice(l.params.Features); short != "" && l.by.Measure == (setjoin.Measure{}) {
		l.env.Say("%s", short)
	}
	if len(l.damaged) > 0 {
		return errors.Join(append(l.damaged, errors.New("nothing was listed, because rows would be missing: make the input readable or leave it out"))...)
	}
	if err := l.Rejects.Nothing(); err != nil {
		return err
	}
	if l.by.Sets && l.files.Textual == 0 && l.files.Given > 0 {
		return inputs.NoTexts()
	}
	l.env.Report(engine.Progress{Stage: "sort ids"})
	return l.files.Rank(ctx)
}

// weigh sets which features are not compared, and the weights of the others.
func (l *Documents) weigh(ctx context.Context, p *features.Params, opt records.Options, dir string) error {
	w := inputs.Weighing{Inputs: l.sources, Read: opt, Memory: l.job.Memory, Dir: dir}
	w.Each = func(count func(*engine.Doc) error) error {
		if err := l.env.Reread(ctx, l.sources, dir); err != nil {
			return err
		}
		return l.env.EachInput(ctx, l.sources, inputs.Reading{
			Stage: "count features", Options: opt, Record: func(_ records.Source, rec *records.Record) error { return count(&rec.Doc) }, Damaged: func(error) {},
		})
	}
	return l.env.Weigh(ctx, l.job.Compared, p, w)
}

func (l *Documents) add(x *corpus.Extractor, d *engine.Doc) error {
	if err := l.files.AddID(d.ID); err != nil {
		return err
	}
	if err := l.addText(d); err != nil {
		return err
	}
	if l.by.Sets && d.Text == "" && d.Fingerprints != nil {
		l.Bare++
	}
	return x.Add(d, l.files.Groups)
}

// addText stores the text of a document if it is wanted for Words.
func (l *Documents) addText(d *engine.Doc) (err error) {
	if l.texts != nil {
		_, err = l.texts.Add(d.Text)
	}
	return err
}

// record adds a document of a file, or of a database.
func (l *Documents) record(x *corpus.Extractor, rec *records.Record) error {
	if l.sample != nil {
		return l.sample.add(&rec.Doc)
	}
	if l.rule != nil {
		l.files.N++
		return cmp.Or(l.files.AddID(rec.Doc.ID), l.addText(&rec.Doc), l.rule.Add(ruled(rec)))
	}
	if l.limits != nil {
		l.files.Groups.Of = append(l.files.Groups.Of, l.limits.group(rec))
	}
	return l.add(x, &rec.Doc)
}

// readStored reads a database, or draws the sample from it. Its documents are then compared like
// documents of files.
func (l *Documents) readStored(ctx context.Context, dir string) (err error) {
	db, whole := l.sources.Stored, l.job.Compared.NotStored()
	if db.DB.Options().NoText && (l.by.Sets || whole != nil) {
		return cmp.Or(whole, fmt.Errorf("%s stores no texts, which %s, %s, %s and %s need to compare by %s",
			db.Path, option.Name("Sample"), option.Name("Rule"), option.Name("Across"), option.Name("WithinField"), option.Name("Jaccard")))
	}
	db.NoFingerprints = whole != nil // they are of all features
	for range db.Allowed() {
		l.allowed = true
		break
	}
	if l.params, err = db.Params(); err == nil && l.rule == nil {
		err = l.weigh(ctx, &l.params, records.Options{Need: records.NeedText}, dir)
	}
	if err != nil {
		return err
	}
	x := corpus.NewExtractor(ctx, l.params, l.files.Corpus)
	defer x.Stop()
	if l.sample == nil {
		err = l.readWhole(ctx, x)
	} else {
		var docs []engine.Doc
		docs, err = l.draw(ctx, db)
		for _, d := range docs {
			err = cmp.Or(err, l.add(x, &d))
		}
	}
	if err = cmp.Or(err, x.Finish()); err != nil {
		return err
	}
	return l.files.Rank(ctx)
}

// readWhole reads a database, whose documents are preferred in the order of writing.
func (l *Documents) readWhole(ctx context.Context, x *corpus.Extractor) error {
	var written []uint64
	err := l.env.EachInput(ctx, l.sources, inputs.Reading{
		Stage: "read", Options: records.Options{Need: records.NeedDoc},
		Record: func(_ records.Source, rec *records.Record) error {
			written = append(written, rec.Seq)
			return l.record(x, rec)
		},
	})
	order := ordered.Numbers(len(written))
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(cmp.Compare(written[a], written[b]), cmp.Compare(a, b)) })
	l.files.Order = order
	return err
}

// draw returns a sample of the documents, in the order of writing, with the features to compare.
func (l *Documents) draw(ctx context.Context, db *inputs.Stored) (docs []engine.Doc, err error) {
	r := inputs.Reading{Stage: "draw documents", Options: records.Options{Need: records.NeedID}}
	r.Record = func(_ records.Source, rec *records.Record) error { return l.sample.add(&rec.Doc) }
	if err := l.env.EachInput(ctx, l.sources, r); err != nil {
		return nil, err
	}
	db.Only, db.NoTexts = map[string]bool{}, !l.by.Sets && l.job.Compared.NotStored() == nil
	for _, d := range l.sample.documents() {
		db.Only[d.ID] = true
	}
	written, left := make(map[string]uint64, len(db.Only)), l.job.Memory/2
	r.Options.Need = records.NeedText
	r.Record = func(_ records.Source, rec *records.Record) error {
		docs, written[rec.Doc.ID] = append(docs, rec.Doc), rec.Seq
		if left -= int64(len(rec.Doc.Text)); left < 0 {
			return sampleTooLarge()
		}
		return nil
	}
	if err := l.env.EachInput(ctx, l.sources, r); err != nil {
		return nil, err
	}
	slices.SortFunc(docs, func(a, b engine.Doc) int {
		return cmp.Or(cmp.Compare(written[a.ID], written[b.ID]), cmp.Compare(a.ID, b.ID))
	})
	return docs, nil
}

// options returns the options of joins.
func (l *Documents) options() corpus.JoinOptions {
	return corpus.JoinOptions{Memory: l.job.Memory, Progress: l.env.Report, Crowded: crowded(l.env, l.by.Measure.Kind)}
}

// CountPairs returns how many pairs there are.
func (l *Documents) CountPairs(ctx context.Context) (n int64, err error) {
	if l.rule != nil {
		return l.rule.Count(ctx, l.ruleOptions())
	}
	if !l.stored {
		return l.files.CountPairs(ctx, l.by, l.options())
	}
	return l.sources.Stored.CountPairs(ctx, l.job.By, &engine.SearchOptions{Progress: l.env.Report})
}

// Pairs yields all pairs, as engine.Reader.Pairs does.
func (l *Documents) Pairs(ctx context.Context) iter.Seq2[engine.Pair, error] {
	if l.stored {
		pairs := l.sources.Stored.Pairs(ctx, l.job.By, &engine.SearchOptions{Unordered: l.job.Unordered, Progress: l.env.Report})
		return func(yield func(engine.Pair, error) bool) {
			for p, err := range pairs {
				l.last[0].id, l.last[1].id = p.A, p.B
				if !yield(p, err) {
					return
				}
			}
		}
	}
	return func(yield func(engine.Pair, error) bool) {
		pairs := l.files.Pairs(ctx, l.by, l.job.Unordered, l.options())
		if l.rule != nil {
			pairs = l.files.Arrange(ctx, l.job.Unordered, l.job.Memory/4, func(emit func(a, b uint32, score float64) bool) error {
				return l.rule.Pairs(ctx, l.ruleOptions(), emit)
			})
		}
		for p, err := range pairs {
			l.last[0].n, l.last[1].n = p.A, p.B
			a, e := l.files.ID(p.A)
			b, f := l.files.ID(p.B)
			if err = cmp.Or(err, e, f); !yield(engine.Pair{A: a, B: b, Match: l.by.Of(b, p.Match)}, err) || err != nil {
				return
			}
		}
	}
}

// clusters forms the clusters of files.
func (l *Documents) clusters(ctx context.Context) (*corpus.Clusters, error) {
	if l.allowed {
		return nil, fmt.Errorf("the database has allowed pairs, which only clusters of a whole database respect: leave out %s, %s, %s and %s, or list pairs",
			option.Name("Sample"), option.Name("Rule"), option.Name("Across"), option.Name("WithinField"))
	}
	if l.rule != nil {
		form := func() (keeper []uint32, scores []float64, err error) {
			if l.job.Components {
				return l.rule.Components(ctx, l.files.Order, l.ruleOptions())
			}
			return l.rule.Stars(ctx, rulejoin.StarOptions{Order: l.files.Order}, l.ruleOptions())
		}
		keeper, scores, err := form()
		if err != nil {
			return nil, err
		}
		return l.files.Collect(ctx, keeper, scores)
	}
	return l.files.Clusters(ctx, l.by, l.job.Components, l.options())
}

// CountClusters returns how many clusters there are.
func (l *Documents) CountClusters(ctx context.Context) (n int64, err error) {
	if !l.stored {
		found, err := l.clusters(ctx)
		if err == nil {
			n = int64(found.Len())
		}
		return n, err
	}
	return l.sources.Stored.CountClusters(ctx, l.job.By, &engine.ClusterOptions{Components: l.job.Components, Progress: l.env.Report})
}

// Clusters yields the members of all clusters, as engine.Reader.Clusters does.
func (l *Documents) Clusters(ctx context.Context) iter.Seq2[engine.Member, error] {
	if l.stored {
		members := l.sources.Stored.Clusters(ctx, l.job.By, &engine.ClusterOptions{Components: l.job.Components, Progress: l.env.Report})
		return func(yield func(engine.Member, error) bool) {
			for m, err := range members {
				if l.last[1].id = m.ID; m.Keep {
					l.last[0].id = m.ID
				}
				if !yield(m, err) {
					return
				}
			}
		}
	}
	return func(yield func(engine.Member, error) bool) {
		found, err := l.clusters(ctx)
		if err != nil {
			yield(engine.Member{}, err)
			return
		}
		for m, err := range found.All(ctx) {
			if l.last[1].n = m.N; m.Keep {
				l.last[0].n = m.N
			}
			id, e := l.files.ID(m.N)
			if err = cmp.Or(err, e); !yield(engine.Member{Cluster: m.Cluster, Keep: m.Keep, Match: l.by.Of(id, m.Match)}, err) || err != nil {
				return
			}
		}
	}
}
