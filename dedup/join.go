package dedup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/corpus"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/pairrule"
	"github.com/simdb/simdb/internal/pipeline"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// JoinOptions are the options of a Join.
type JoinOptions struct {
	By                  engine.Criterion
	Rule                *PairRule // replaces By, as in a Job; the documents of both sides are read before they are joined
	Agree, Distinct     []string  // as in a Job
	Across, WithinField string    // as in a Job
	Words               bool      // rows say in which words the documents differ; not with Contains and Within of Files
	Memory              int64     // bytes for the documents of a lookup, and for the matches
	IDs                 bool      // the texts of the input are ids of stored documents

	Read    records.Options               // of the input
	Rejects *inputs.Rejects               // for rejects of everything that is read
	Check   func(in records.Source) error // refuses an input; or nil

	// The collection is Stored, or the documents of Files, which are read with the options Of and
	// compared with Params. Files are read several times.
	Stored   *inputs.Stored
	Files    *inputs.Sources
	Of       records.Options
	Params   records.FeatureParams
	Compared inputs.Compared // Ignore and IgnoreCommon: what is not compared, although Stored has it; of Files, Params leave it out
}

// A lookup starts once there are joinMost documents, or joinBytes of text, or a share of the
// memory. Larger lots are hardly faster, and delay the first results.
const (
	joinMost  = 1 << 18
	joinBytes = 64 << 20
	joinSlow  = 64 // documents, by criteria that compare whole texts, which is slow
	joinShare = 16
	joinOne   = 2 << 10   // bytes of memory for each document of a lookup by containment
	joinLot   = 256 << 20 // bytes of memory for each concurrent lookup
	joinRows  = 1 << 10   // rows in a batch
	joinAhead = 4         // batches that each lookup may finish before they are read
)

// agreement returns the rule with its short forms.
func (o *JoinOptions) agreement() *agreement {
	return &agreement{o.By, o.Rule, o.Agree, o.Distinct, o.Across, o.WithinField}
}

// collection returns the documents that others are compared with.
func (o *JoinOptions) collection() *inputs.Sources {
	if o.Stored != nil {
		return o.Stored.Sources()
	}
	return o.Files
}

// A Join finds, for each document of an input, the documents of a collection that resemble it.
// One goroutine reads documents and others look them up.
type Join struct {
	Read    int64 // documents
	Matched int64 // documents with at least one row

	o       JoinOptions
	l       lookup
	to      lookupIn
	limits  *limits       // or nil
	stored  *lookupStored // nil for files
	rule    *ruleRows     // of a rule, which looks nothing up; or nil
	in      records.Source
	workers int
}

// A JoinRow is a document of the collection that resembles a document of the input.
type JoinRow struct {
	Query string // the id of the input's document
	engine.Match
	Lacks, Adds *string // words that only the document of the collection has, and that only the input's has, if JoinOptions.Words is set and both texts are known; up to 200 characters

	line int64 // of the input's document, from 0
}

// Workers returns how many lots are looked up concurrently. They share the memory, including that
// of the database's queries.
func (o *JoinOptions) Workers() int {
	jaccard := o.By.Kind() == "jaccard"
	if _, _, contained := containment(o.By); jaccard || contained { // one lookup already uses all processors
		return 1
	}
	return min(runtime.GOMAXPROCS(0), max(1, int(o.Memory/joinLot)))
}

// settle returns the rule that decides, or the limits of the criterion; both may be nil.
func (o *JoinOptions) settle() (rule, limits *pairrule.Rule, err error) {
	x := o.agreement()
	rule, limits, err = x.whole()
	if err == nil && rule == nil && o.Stored != nil && o.Compared.Ignores() {
		rule, err = x.asRule()
	}
	switch {
	case err != nil:
	case o.Stored != nil && o.Compared.Weights != "":
		err = o.Compared.NotStored()
	case rule != nil && o.Compared.Weights != "":
		err = &OptionError{Option: x.given(), Other: "Weights", Why: "a rule names what it compares"}
	case rule != nil:
		err = checkIgnored(rule, &o.Compared)
	}
	return rule, limits, err
}

// NewJoin opens the input, which Close closes, and prepares the collection.
func NewJoin(ctx context.Context, env *inputs.Env, src *inputs.Sources, o JoinOptions) (j *Join, err error) {
	rule, limits, err := o.settle()
	if err != nil {
		return nil, err
	}
	o.Read.NoText, o.Of.NoText = fieldsOnly(rule), fieldsOnly(rule)
	j = &Join{o: o, workers: o.Workers()}
	j.l = lookup{
		env: env, sources: src, reading: inputs.Reading{Stage: "join", Options: o.Read, Rejects: o.Rejects},
		refuse: o.Check, most: joinMost, arrive: src.Piped(), item: j.item,
	}
	if err = j.open(ctx, rule, limits); err != nil {
		return nil, err
	}
	if j.in, err = src.Open(0, o.Read); err != nil {
		if j.rule != nil {
			err = errors.Join(err, j.rule.close())
		}
		return nil, err
	}
	if j.rule != nil {
		if err := j.l.check(j.in); err != nil {
			return nil, errors.Join(err, j.Close())
		}
		return j, nil
	}
	near := o.By.Kind() == "near"
	if err = j.l.check(j.in); err == nil && o.Stored != nil {
		err = cmp.Or(env.CheckTexts(ctx, o.Stored.DB, "", near), env.CheckTexts(ctx, src.DB(), "", near))
	}
	if err != nil {
		return nil, errors.Join(err, j.in.Close())
	}
	j.l.bytes = min(joinBytes, int(o.Memory/joinShare))
	if t, role, contained := containment(o.By); contained { // each lot reads all texts of the collection; its sets use half of the memory
		const textBytes = 6 // in a text, for each shingle
		j.l.bytes = int(o.Memory / 2 / (1 + setjoin.FewBytes(t, role)/textBytes))
		j.l.most = max(joinMost, int(o.Memory/joinOne))
	} else if kind := o.By.Kind(); kind != "near" && kind != "jaccard" {
		j.l.most = joinSlow
	}
	return j, nil
}

// open prepares the collection, and reads the groups of its documents.
func (j *Join) open(ctx context.Context, rule, limits *pairrule.Rule) (err error) {
	o := &j.o
	if rule != nil {
		return j.openRule(ctx, rule)
	}
	if j.limits, err = o.agreement().limit(limits, features.Params{}, records.Options{}, j.l.sources, o.collection()); err != nil {
		return err
	}
	if o.Stored == nil {
		if o.Words {
			kind := map[string]string{"contains": "Contains", "within": "Within"}[string(o.By.Kind())]
			return &OptionError{Option: "Columns", Other: kind, Why: "texts of files are not held in memory; load them into a database"}
		}
		if err := corpus.NoWeights(o.Params.Real()); err != nil {
			return err
		}
		f := &lookupFiles{ctx: ctx, lookup: &j.l, o: o, limits: j.limits}
		j.to = f
		return f.hold()
	}
	j.stored = &lookupStored{Stored: o.Stored, by: o.By, limits: j.limits}
	j.to = j.stored
	return j.stored.group(ctx, j.l.env)
}

// Close closes the input.
func (j *Join) Close() error {
	if j.rule != nil {
		return errors.Join(j.rule.close(), j.in.Close())
	}
	return j.in.Close()
}

// Check returns an error if no document that was read has the field of Across or WithinField.
func (j *Join) Check() error { return j.limits.check() }

// Rows yields the matches, several rows at a time: in the order of the input, and for each
// document the best matches first.
func (j *Join) Rows(ctx context.Context) iter.Seq2[[]JoinRow, error] {
	return func(yield func([]JoinRow, error) bool) {
		read := func(ctx context.Context) iter.Seq2[*lookupLot, error] { return j.l.lots(ctx, j.in) }
		last := int64(-1)
		found := pipeline.Concat(ctx, j.workers, joinAhead, read, j.lookUp)
		if j.rule != nil {
			found = j.ruled(ctx)
		}
		for rows, err := range found {
			for i := range rows {
				if rows[i].line != last {
					last = rows[i].line
					j.Matched++
				}
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// item reduces the record to the parts that are compared, plus the ID of the stored document that
// it stands for. If the document cannot be looked up, item sets the record's Flaw.
func (j *Join) item(ctx context.Context, _ records.Source, rec *records.Record) (it lookupItem, err error) {
	j.Read++
	it.id = rec.Doc.ID
	if j.limits != nil {
		it.group = j.limits.group(rec)
	}
	doc := rec.Doc
	doc.ID, doc.Fields = "", nil
	if j.o.IDs {
		it.id, doc = strings.TrimSpace(doc.Text), engine.Doc{}
	}
	near := j.o.By.Kind() == "near"
	switch {
	case doc.Text == "" && doc.Fingerprints == nil && j.stored != nil && j.l.sources.Stored == nil: // the record stands for the stored document with its ID
		found, err := j.o.Stored.Lookup(ctx, it.id)
		if errors.Is(err, engine.ErrNotFound) {
			rec.Flaw = cmp.Or(rec.Flaw, fmt.Sprintf("no document %q is stored, and the line has no text", it.id))
			return it, nil
		}
		if err != nil {
			return it, err
		}
		doc.ID, it.group = it.id, j.stored.of[it.id]
		doc.Fingerprints = found.Fingerprints
	case !near && doc.Text == "":
		rec.Flaw = "it has no text to compare"
	}
	if rec.Flaw != "" {
		return it, nil
	}
	rec.Doc, it.rec, it.size = doc, rec, len(doc.Text)+len(it.id)
	return it, nil
}

// lookUp yields the rows of a lot, several at a time.
func (j *Join) lookUp(ctx context.Context, b *lookupLot) iter.Seq2[[]JoinRow, error] {
	return func(yield func([]JoinRow, error) bool) {
		defer j.l.free.Put(b)
		var rows []JoinRow
		for m, err := range j.to.search(ctx, b) {
			if err != nil {
				if yield(rows, nil) {
					yield(nil, err)
				}
				return
			}
			line := b.at[m.Query]
			row := JoinRow{Query: b.ids[line], Match: m, line: b.from + int64(line)}
			if err := j.differ(ctx, &row, &b.docs[m.Query]); err != nil {
				yield(nil, err)
				return
			}
			rows = append(rows, row)
			if len(rows) == joinRows {
				if !yield(rows, nil) {
					return
				}
				rows = make([]JoinRow, 0, joinRows)
			}
		}
		yield(rows, nil)
	}
}
