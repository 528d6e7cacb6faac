package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/internal/place"
	"github.com/simdb/simdb/internal/spelling"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/records/inputs"
)

// FeatureFlags say which features of documents are compared. They are parameters of a database: for
// an existing database, the given flags must equal its parameters.
type FeatureFlags struct {
	Shingle         Shingle        `group:"features" placeholder:"UNIT:N" help:"What to compare: words:N (runs of N words), chars:N (runs of N characters, for short texts) or tokens (single words); N alone means words:N (default: words:3)."`
	Field           weightedFields `group:"features" placeholder:"NAME:W,..." help:"Compare these fields, each with its own weight, such as title:3,body:0.5; runs do not cross fields."`
	Symbols         bool           `group:"features" help:"Also compare symbols: each run of symbols is a word, so x == y differs from x != y. For programs and formulas."`
	StopWords       string         `group:"features" file:"in" placeholder:"FILE" help:"Leave out the words in FILE; # begins a comment."`
	RequireWord     string         `group:"features" file:"in" placeholder:"FILE" help:"Compare only runs that contain one of the words in FILE, such as words found in prose but not in menus; # begins a comment."`
	Mask            []string       `group:"features" sep:"none" placeholder:"MASK" help:"Treat all numbers (numbers), dates and times (dates), or matches of a regular expression (RE2 syntax) as one word. Can be repeated."`
	Fold            foldings       `group:"features" placeholder:"NAME,..." help:"Compare texts without differences in: case (for edit distance; words have none), accents, arabic, hebrew, persian, greek, width (full-width, compatible and invisible characters), hyphens (also at line ends); letters is accents to greek, all is all."`
	IgnoreCase      bool           `group:"features" hidden:"" help:"The same as --fold case."`
	Normalize       foldings       `group:"features" hidden:"" placeholder:"FORM" help:"The same as --fold: nfkc is width."`
	StripDiacritics bool           `group:"features" hidden:"" help:"The same as --fold letters."`
	MinWords        minWords       `group:"features" placeholder:"N" help:"A text with fewer than N words matches nothing (default: 1)."`
	Bits            BitLength      `group:"features" placeholder:"BITS" help:"Length of fingerprints, a multiple of 64 up to 1024 (default: 64, or the length of the first fingerprints in the files)."`
	Weights         string         `group:"features" file:"in" placeholder:"idf|FILE" help:"Multiply the weights of features: idf, by how few documents have them, or FILE, with lines of a feature, a tab and its weight (0 leaves it out; others have 1). For files, and for pairs and clusters of a database with texts."`
	Ignore          string         `group:"features" file:"in" placeholder:"FILE|DB" help:"Do not compare the shingles of the documents in FILE, a folder, or a database: a template, base code, the head of a licence. Plain text is one document. What is written or stored stays whole. Texts are compared, also those of a database."`
	IgnoreCommon    Share          `group:"features" placeholder:"S" help:"Do not compare shingles of more than the share S of the documents, such as 1%, and more than two documents: what pages of a site have in common. What is written or stored stays whole. Texts are compared, also those of a database."`
	SetField        string         `group:"features" xor:"given" placeholder:"NAME" help:"Compare documents as sets: the strings in the array in this field, unchanged."`
	FeaturesField   string         `group:"features" xor:"given" placeholder:"NAME" help:"Compare the features in this field, with their weights: an object such as {\"red\":2.5,\"blue\":1}, or an array, whose strings have weight 1."`
}

// Shingle is the unit of features: runs of a number of words or characters. The zero Shingle means
// not set.
type Shingle struct {
	Unit string
	N    int
}

// UnmarshalText parses words:3, chars:5, tokens, or 3 for words:3.
func (s *Shingle) UnmarshalText(text []byte) error {
	name, number, ok := strings.Cut(string(text), ":")
	unit := string(name)
	switch {
	case unit == "tokens" && !ok:
		*s = Shingle{features.Words, 1}
		return nil
	case !ok:
		unit, number = features.Words, name
	case unit != features.Words && unit != features.Chars:
		return fmt.Errorf("%q: use words:N or chars:N, such as words:3 or chars:5, or tokens", text)
	}
	n, err := strconv.Atoi(number)
	if err != nil && !ok {
		return fmt.Errorf("%q: use a number of words, or words:N or chars:N, such as chars:5, or tokens", text)
	}
	if err != nil || n < 1 || n > table.MaxShingle {
		return fmt.Errorf("%q: use a whole number of %s, from 1 to %d", text, unit, table.MaxShingle)
	}
	*s = Shingle{unit, n}
	return nil
}

type foldings []string

// UnmarshalText parses a list of names.
func (f *foldings) UnmarshalText(text []byte) error {
	*f = append(*f, strings.Split(string(text), ",")...)
	_, err := features.Spec{Fold: *f}.Canonical()
	return err
}

// minWords is the smallest number of words of a text.
type minWords int

// UnmarshalText parses a number of words.
func (n *minWords) UnmarshalText(text []byte) error {
	return whole(n, text, "a text has a whole number of words", 1, features.MaxMinWords)
}

type weightedFields []engine.Field

// UnmarshalText parses title:3,body; a missing weight is 1.
func (f *weightedFields) UnmarshalText(text []byte) error {
	for part := range strings.SplitSeq(string(text), ",") {
		field := engine.Field{Name: part, Weight: 1}
		if i := strings.LastIndexByte(part, ':'); i >= 0 {
			w, err := strconv.ParseFloat(part[i+1:], 64)
			if err != nil {
				return fmt.Errorf("%q: the weight of a field is a number, as in title:2.5", part)
			}
			field = engine.Field{Name: part[:i], Weight: w}
		}
		*f = append(*f, field)
	}
	_, err := features.Spec{Fields: *f}.Canonical()
	return err
}

// CheckImages returns an error if a feature flag is given although the files are pictures.
func (f FeatureFlags) CheckImages(of FileFlags) error {
	if given := f.Given(); of.Images != nil && len(given) > 0 {
		return fmt.Errorf("--images compares picture hashes: %s does not apply", given[0])
	}
	return nil
}

// Given returns the names of the flags that are given.
func (f FeatureFlags) Given() (names []string) {
	c := inputs.Compared{Shingle: f.Shingle.N, Bits: int(f.Bits), Features: f.said(), Weights: f.Weights, Ignore: f.Ignore, IgnoreCommon: float64(f.IgnoreCommon)}
	if f.StopWords != "" {
		c.Features.StopWords = []string{} // not nil: the stop words are in a file
	}
	if f.RequireWord != "" {
		c.Features.RequireWords = []string{}
	}
	for _, field := range c.Given() {
		names = append(names, option.Name(field))
	}
	return names
}

// Folded returns the foldings that the flags name.
func (f FeatureFlags) Folded() []string {
	fold := slices.Concat(f.Fold, f.Normalize)
	if f.StripDiacritics {
		fold = append(fold, "letters")
	}
	if f.IgnoreCase {
		fold = append(fold, "case")
	}
	return fold
}

// said returns the features that the flags set, without the words in files.
func (f FeatureFlags) said() engine.Features {
	said := engine.Features{
		Unit: f.Shingle.Unit, Symbols: f.Symbols, Fields: f.Field, SetField: f.SetField, Fold: f.Folded(), Mask: f.Mask, MinWords: int(f.MinWords),
	}
	if f.FeaturesField != "" {
		said.Unit, said.SetField = features.Given, f.FeaturesField
	}
	return said
}

// Features returns the features that the flags set, in the form that a new database would record.
// It reads the files of words.
func (f FeatureFlags) Features() (engine.Features, error) {
	said := f.said()
	if f.SetField != "" || f.FeaturesField != "" {
		if f.Shingle.Unit != "" {
			return said, fmt.Errorf("%s does not apply: given features, such as the members of a set, are compared unchanged", option.Name("Shingle"))
		}
		said.Unit = cmp.Or(said.Unit, features.Set)
	}
	for _, m := range f.Mask {
		if named, ok := spelling.Closest(m, []string{"numbers", "dates"}); ok && m != named {
			return said, fmt.Errorf("%s as an expression matches only this word: did you mean %s? To match the word, write (%s)", option.Set("Mask", m), named, m)
		}
	}
	var err error
	if said.StopWords, err = readWords(f.StopWords); err != nil {
		return said, err
	}
	if said.RequireWords, err = readWords(f.RequireWord); err != nil {
		return said, err
	}
	_, err = features.Spec(said).Canonical()
	return said, err
}

// readWords returns the words of a file, or nil if path is "".
func readWords(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	text, err := place.ReadFile(context.Background(), path)
	return []string{withoutComments(text)}, err
}

// withoutComments returns a list of words without the text after # in each line.
func withoutComments(list []byte) string {
	var b strings.Builder
	for line := range bytes.Lines(bytes.TrimPrefix(list, []byte("\xef\xbb\xbf"))) {
		line, _, _ = bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("#"))
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String()
}

// Options sets the options in o that the flags give.
func (f FeatureFlags) Options(o *engine.Options) error {
	c, err := f.Compared()
	o.Shingle, o.Bits, o.Features = c.Shingle, c.Bits, c.Features
	return cmp.Or(err, c.NotStored())
}

// Compared returns the features that the flags require a database to have.
func (f FeatureFlags) Compared() (inputs.Compared, error) {
	said, err := f.Features()
	return inputs.Compared{Shingle: f.Shingle.N, Bits: int(f.Bits), Features: said, Weights: f.Weights, Ignore: f.Ignore, IgnoreCommon: float64(f.IgnoreCommon)}, err
}

// Params returns the parameters of fingerprints and sketches without a database, and their
// features. sketch is the number of hashes in a sketch, 0 for no sketch.
func (f FeatureFlags) Params(sketch int) (features.Params, engine.Features, error) {
	c, err := f.Compared()
	if err != nil {
		return features.Params{}, c.Features, err
	}
	return c.Params(sketch)
}
