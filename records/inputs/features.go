package inputs

import (
	"cmp"
	"fmt"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/files"
)

// Compared says which features of documents are compared. Zero values mean that an option is not
// given.
type Compared struct {
	Shingle  int // words or characters in a shingle; 0 is 3
	Bits     int // in a fingerprint; 0 is 64, or the width in the inputs
	Features engine.Features

	// Weights multiply the weights of features: IDF for weights by how few of all documents have the
	// feature, or a file of weights, as Weigh reads them. "" means no other weights.
	Weights string

	// Ignore names a file, folder or database: the features of its documents are not compared, such
	// as those of a template or of a licence. IgnoreCommon is a share of all documents: features of
	// more documents than that, and of more than two, are not compared; 0 means that all are. Both
	// apply only to comparisons: documents are written as they are.
	Ignore       string
	IgnoreCommon float64
}

// Params returns the parameters of fingerprints and sketches without a database, and the features
// that they cover, in the form that a new database records. sketch is the number of hashes in a
// sketch, 0 for none.
func (c Compared) Params(sketch int) (records.FeatureParams, engine.Features, error) {
	spec, err := features.Spec(c.Features).Canonical()
	k := cmp.Or(c.Shingle, 3)
	if features.IsGiven(spec.Unit) || spec.Unit == features.Own {
		k = 1
	}
	return features.Params{Shingle: k, Words: c.Bits / 64, Sketch: sketch, Features: spec}, engine.Features(spec), err
}

// Given returns the option names of the fields that are set.
func (c Compared) Given() (names []string) {
	f := &c.Features
	for _, option := range []struct {
		name  string
		given bool
	}{
		{"Shingle", c.Shingle != 0 || f.Unit == features.Words || f.Unit == features.Chars}, {"Symbols", f.Symbols}, {"Fields", f.Fields != nil}, {"StopWords", f.StopWords != nil},
		{"RequireWords", f.RequireWords != nil}, {"Mask", f.Mask != nil}, {"Fold", f.Fold != nil}, {"MinWords", f.MinWords != 0}, {"Bits", c.Bits != 0}, {"SetField", f.SetField != "" && f.Unit != features.Given},
		{"Weights", c.Weights != ""}, {"Ignore", c.Ignore != ""}, {"IgnoreCommon", c.IgnoreCommon != 0}, {"FeaturesField", f.Unit == features.Given}, {"Compute", f.Function != ""},
	} {
		if option.given {
			names = append(names, option.name)
		}
	}
	return names
}

// ReadFeatures sets in opt which fields of the input make up the text of a document with these
// features, which are those of a database (engine.Params) or of Params.
func ReadFeatures(opt *records.Options, f engine.Features) error {
	page := opt.HTML == "text" && opt.TextField != "" && f.Fields != nil // Fields are those of the page in TextField
	if opt.TextField != "" && !page && (f.Fields != nil || features.IsGiven(f.Unit)) {
		return fmt.Errorf("%s names a field, but the documents are compared by %s", option.Name("TextField"), f.Describe())
	}
	var names []string
	for _, field := range f.Fields {
		names = append(names, field.Name)
	}
	if opt.SetField, opt.Weighted = f.SetField, f.Unit == features.Given; page {
		opt.PageFields = names
		return files.CheckFields(names, opt.HTML)
	}
	opt.Fields = names
	return nil
}
