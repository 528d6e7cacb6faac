package inputs

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/quantity"
	"github.com/simdb/simdb/internal/setjoin"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/records"
)

// IDF stands for weights by how few documents have a feature, as the value of Compared.Weights.
const IDF = "idf"

// Weigh sets the weights of features in p that c asks for, if any. For IDF it counts in how many
// documents each feature is; each must pass all documents to count. Counting uses about half of the
// memory, and a file in dir for more. The weights of all features that more than one document has must
// fit into a quarter of it, or the error is engine.ErrTooLarge.
func (c Compared) Weigh(p *records.FeatureParams, memory int64, dir string, each func(count func(d *engine.Doc) error) error) (err error) {
	switch c.Weights {
	case "":
		return nil
	case IDF:
		p.Weights, err = frequencies(*p, memory, dir, each)
		return err
	}
	file, err := os.Open(c.Weights)
	if err != nil {
		return fmt.Errorf("%s: %w", option.Name("Weights"), err)
	}
	defer file.Close()
	if p.Weights, err = features.ReadWeights(file, *p); err != nil {
		err = fmt.Errorf("%s: %w", c.Weights, err)
	}
	return err
}

// frequencies returns weights by the number of documents that have a feature.
func frequencies(p records.FeatureParams, memory int64, dir string, each func(count func(d *engine.Doc) error) error) (_ *features.Weights, err error) {
	const weightBytes = 48 // in a map
	p.Features.Fields = slices.Clone(p.Features.Fields)
	for i := range p.Features.Fields {
		p.Features.Fields[i].Weight = 1
	}
	hasher, n := p.NewSetHasher(), int64(0)
	counts := setjoin.NewFrequencies(memory/4, func() (setjoin.File, error) { return vfs.Temp(dir, "features-*") })
	defer func() { err = errors.Join(err, counts.Close()) }()
	err = each(func(d *engine.Doc) error {
		set := hasher.Brief([]byte(d.Text))
		if p.Real() {
			set = features.Hashes(features.Weighted(set).Hashes())
		}
		if len(set) > 0 {
			n++
		}
		return counts.Add(set)
	})
	if err != nil {
		return nil, err
	}
	of := map[uint64]float64{}
	err = counts.Each(func(feature uint64, documents int64) error {
		if documents > 1 {
			of[feature] = features.IDF(n, documents)
		}
		if int64(len(of)) > memory/4/weightBytes {
			return fmt.Errorf("more weights of features than fit into %s: %w; a higher %s helps, or a file of weights",
				quantity.Bytes(memory/4), engine.ErrTooLarge, option.Name("Memory"))
		}
		return nil
	})
	return features.NewWeights(of, features.IDF(n, 1)), err
}

// NotStored returns an error if c needs what a database does not have.
func (c Compared) NotStored() error {
	if c.Weights == "" {
		return nil
	}
	return fmt.Errorf("%s: a database stores no table of weights, which files of documents can be compared with", option.Set("Weights", c.Weights))
}
