package inputs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records"
)

// IDF stands for weights by how few documents have a feature, as the value of Compared.Weights.
const IDF = "idf"

// A Weighing is what Env.Weigh needs to know about a job.
type Weighing struct {
	Inputs *Sources        // decide how Compared.Ignore is read: with Tree, each of its files is a document
	Read   records.Options // of Compared.Ignore
	Memory int64           // of the job, in bytes. Counting uses about half of it
	Dir    string          // for a file if counts need more memory

	// Each passes all documents to count. It is called up to twice.
	Each func(count func(d *engine.Doc) error) error
}

// Weigh sets what features p leaves out, and their weights, as c asks for. If the features of more
// than one document, whose weights it needs, do not fit into a quarter of the memory, the error is
// engine.ErrTooLarge.
func (e *Env) Weigh(ctx context.Context, c Compared, p *records.FeatureParams, w Weighing) (err error) {
	if c.Ignore != "" {
		if err := e.ignore(ctx, c, p, w); err != nil {
			return fmt.Errorf("%s: %w", option.Set("Ignore", c.Ignore), err)
		}
	}
	if c.IgnoreCommon != 0 {
		if err := e.ignoreCommon(c, p, w); err != nil {
			return err
		}
	}
	switch c.Weights {
	case "":
		return nil
	case IDF:
		p.Weights, err = frequencies(*p, w)
		return err
	}
	file, err := place.Open(context.Background(), c.Weights)
	if err != nil {
		return fmt.Errorf("%s: %w", option.Name("Weights"), err)
	}
	defer file.Close()
	if p.Weights, err = features.ReadWeights(file, *p); err != nil {
		err = fmt.Errorf("%s: %w", c.Weights, err)
	}
	return err
}

// unweighted returns a function that returns the features of a text without their weights.
func unweighted(p records.FeatureParams) func(text string) features.Hashes {
	p.Features.Fields = slices.Clone(p.Features.Fields)
	for i := range p.Features.Fields {
		p.Features.Fields[i].Weight = 1
	}
	hasher := p.NewSetHasher()
	return func(text string) features.Hashes {
		set := hasher.Brief([]byte(text))
		if p.Real() {
			set = features.Hashes(features.Weighted(set).Hashes())
		}
		return set
	}
}

// count calls f with the number of documents that have each feature, and n, the number of documents
// that have any.
func count(p records.FeatureParams, w Weighing, f func(n int64, feature uint64, documents int64) error) (n int64, err error) {
	set := unweighted(p)
	counts := setjoin.NewFrequencies(w.Memory/4, func() (*os.File, error) { return vfs.Temp(w.Dir, "features-*") })
	defer func() { err = errors.Join(err, counts.Close()) }()
	err = w.Each(func(d *engine.Doc) error {
		all := set(d.Text)
		if len(all) > 0 {
			n++
		}
		return counts.Add(all)
	})
	if err != nil {
		return n, err
	}
	return n, counts.Each(func(feature uint64, documents int64) error { return f(n, feature, documents) })
}

// frequencies returns weights by the number of documents that have a feature.
func frequencies(p records.FeatureParams, w Weighing) (*features.Weights, error) {
	const weightBytes = 48 // in a map
	of := map[uint64]float64{}
	n, err := count(p, w, func(n int64, feature uint64, documents int64) error {
		if documents > 1 {
			of[feature] = features.IDF(n, documents)
		}
		if int64(len(of)) > w.Memory/4/weightBytes {
			return fmt.Errorf("more weights of features than fit into %s: %w; a higher %s helps, or a file of weights",
				quantity.Bytes(w.Memory/4), engine.ErrTooLarge, option.Name("Memory"))
		}
		return nil
	})
	return features.NewWeights(of, features.IDF(n, 1)), err
}

// Ignores reports whether some features are not compared.
func (c Compared) Ignores() bool { return c.Ignore != "" || c.IgnoreCommon != 0 }

// NotStored returns an error if c has what fingerprints and sketches of a database do not know: then
// only texts can be compared.
func (c Compared) NotStored() error {
	switch {
	case c.Weights != "":
		return fmt.Errorf("%s: fingerprints, sketches and indexes of a database know no table of weights", option.Set("Weights", c.Weights))
	case c.Ignores():
		return fmt.Errorf("%s and %s: fingerprints, sketches and indexes of a database are of all features", option.Name("Ignore"), option.Name("IgnoreCommon"))
	}
	return nil
}
