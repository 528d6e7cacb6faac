// Package tune estimates, from the matches of a sample of a corpus, what each threshold would
// find: the distribution of similarities, how much each threshold would remove, how distances
// relate to similarities, and example pairs.
//
//	tune.go      a run on files or a database
//	sample.go    the sample, and the search for its matches
//	report.go    the matches, and the pairs at a threshold
//	estimate.go  estimates for all documents, with their errors
package tune

import (
	"context"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Options are the options of Run.
type Options struct {
	Sample  int64  // documents
	Seed    uint64 // another seed draws other documents
	Memory  int64  // bytes; half of it limits the number of documents that are searched for
	Read    records.Options
	Params  records.FeatureParams // what to compare in documents
	Rejects *inputs.Rejects       // receives input that is not a record
}

// Run draws a sample of the documents, and compares all documents with it. It reads them twice.
func Run(ctx context.Context, env *inputs.Env, src *inputs.Sources, o Options) (*Report, error) {
	rejects := o.Rejects // only for the first pass
	of := Documents{o.Params, func(stage string, f func(*engine.Doc) error) error {
		r := inputs.Reading{Stage: stage, Options: o.Read, Rejects: rejects, Record: func(_ records.Source, rec *records.Record) error { return f(&rec.Doc) }}
		rejects = nil
		if err := env.EachInput(ctx, src, r); err != nil {
			return err
		}
		return src.Unchanged()
	}}
	drawn, n, err := Draw(of, int(min(o.Sample, setjoin.MaxSets)), o.Seed, o.Memory/8)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, of, drawn, n, o.Memory/2)
}
