// Package tune says what each threshold would find in a corpus, by the matches of a sample of its
// documents: a distribution of their similarities, what each threshold would remove, how distances
// and similarities relate, and pairs to look at.
//
//	tune.go      a run, on files or a database
//	sample.go    the sample, and what is like it
//	report.go    the matches of the sample, and the pairs at a threshold
//	estimate.go  what they say of all documents, and how sure it is
package tune

import (
	"context"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// Options say how large the sample is, and what is read and compared.
type Options struct {
	Sample  int64  // documents
	Seed    uint64 // another number draws other documents
	Memory  int64  // bytes; as many documents are searched for as have room in half of it
	Read    records.Options
	Params  features.Params // what of documents is compared
	Rejects *inputs.Rejects // of what is no record
}

// Run draws a sample of the documents, and compares all with it. It reads them twice.
func Run(ctx context.Context, env *inputs.Env, src *inputs.Sources, o Options) (*Report, error) {
	rejects := o.Rejects // of the first pass
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
