package engine

import (
	"github.com/simdb/simdb/internal/features"
)

// FeatureUnit says which parts of a text are features. It is a string.
type FeatureUnit = features.Unit

// The units of Features.
const (
	UnitWords FeatureUnit = features.Words // Options.Shingle consecutive words: the default
	UnitChars FeatureUnit = features.Chars // Options.Shingle consecutive characters
	UnitSet   FeatureUnit = features.Set   // the members of the set that a document is
)

// NormalForm is a normal form of Unicode, a string.
type NormalForm = features.NormalForm

// The normal forms of Features.
const (
	NormalizeNone NormalForm = features.None // the default
	NormalizeNFC  NormalForm = features.NFC
	NormalizeNFKC NormalForm = features.NFKC
)

// The masks of Features that have names.
const (
	MaskNumbers = features.MaskNumbers // runs of digits, with points, commas and colons between them
	MaskDates   = features.MaskDates   // dates and times of day, in digits or with English names
)

// Field is a document field whose text is compared, with the weight of its features.
type Field = struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"` // 1 to 32
}

// Features say which parts of a document are compared. They define the set of elements from which
// its fingerprint and its sketch are computed, and to which Jaccard similarities refer. They are
// fixed when a database is created. The zero Features are all shingles of words of the text.
type Features struct {
	// Unit is the kind of a feature: UnitWords, UnitChars or UnitSet; "" means UnitWords.
	//
	// Characters are the letters, marks and numbers of the text in lower case, with one space for
	// each run of other characters between two of them. N-grams of characters suit short texts and
	// texts with typing errors. A text with fewer characters than Options.Shingle, or without
	// letters and numbers, has one feature: itself.
	//
	// In a database of sets the text of a document is its set, as a JSON array of strings (see
	// SetText); elements that are not strings are used as written. A text that is not an array has
	// members separated by white space. Empty members do not count.
	Unit FeatureUnit `json:"unit,omitempty"`

	// Symbols makes each run of characters that are not letters, marks, numbers or white space a
	// separate word, so that "x == y" differs from "x != y". With UnitChars such characters count
	// as characters.
	Symbols bool `json:"symbols,omitempty"`

	// Fields are the fields to compare, at most 16; nil means one text. Their texts, in this order,
	// make up the text of a document: see JoinFields. No shingle extends from one field to the
	// next. A feature of weight w counts as much as w features of weight 1, for fingerprints and
	// for similarities, which are those of weighted sets: the sum of the smaller weights divided by
	// the sum of the larger ones. A feature that occurs in several fields has the largest of their
	// weights.
	Fields []Field `json:"fields,omitempty"`

	// SetField is the field of input documents that holds the members of a set; "" means "set". It
	// needs UnitSet.
	SetField string `json:"set_field,omitempty"`

	// StopWords are left out: each counts as white space, so that "Taylor and Francis" has the
	// words of "Taylor Francis". The stop words are the words of these strings, in any case. A text
	// that consists of stop words alone still has them as its words. The database stores the list.
	StopWords []string `json:"stop_words,omitempty"`

	// RequireWords, if not nil, are strings of words: only shingles that contain at least one of
	// these words count. With words such as "the" and "of", which prose has and lists, menus and
	// advertisements do not, only prose is compared. The database stores the list. It needs
	// UnitWords.
	RequireWords []string `json:"require_words,omitempty"`

	// Normalize is the Unicode normal form of texts before they are split into words:
	// NormalizeNFC or NormalizeNFKC; "" means none. NFKC also folds full-width and other
	// compatibility characters, and removes soft hyphens and zero-width characters. Texts are
	// stored unchanged.
	Normalize NormalForm `json:"normalize,omitempty"`

	// StripDiacritics makes letters with diacritical marks equal to those without, and Latin
	// letters without a decomposition, such as ł, ø, đ, ß and æ, equal to the ASCII letters
	// that stand for them.
	StripDiacritics bool `json:"strip_diacritics,omitempty"`

	// Mask lists patterns whose matches make no difference: MaskNumbers, MaskDates, or regular
	// expressions (RE2). Each match becomes a word, the same one for all matches, after
	// normalization and before stop words are left out. See docs/format/fingerprints.md.
	Mask []string `json:"mask,omitempty"`

	// MinWords is the number of words that a text needs to be compared: a shorter text has no
	// fingerprint and matches nothing. In a database of sets it counts members.
	MinWords int `json:"min_words,omitempty"`

	// Code names the kind of the fingerprints if they are not computed from texts: a hash of
	// pictures, such as "pdq"; at most 64 bytes. Texts then have no features. The name prevents
	// fingerprints of different kinds, which cannot be compared, from being mixed.
	Code string `json:"code,omitempty"`

	// Several lets a document have several fingerprints: see Doc.Fingerprints.
	Several bool `json:"several,omitempty"`
}

// FieldSeparator separates the texts of the fields in the text of a document. It is U+001F.
const FieldSeparator = features.Separator

// JoinFields returns the text of a document whose fields have these texts, in the order of
// Features.Fields. A FieldSeparator in a text becomes a space. Empty fields at the end may be
// omitted.
func JoinFields(texts ...string) string { return features.JoinFields(texts...) }

// SetText returns the text of a document that is a set with these members: a JSON array.
func SetText(members ...string) string { return features.SetText(members...) }

// Check returns an error that says why f is invalid, or nil.
func (f Features) Check() error {
	_, err := features.Spec(f).Canonical()
	return err
}

// Words returns the words of text from which shingles are made, in order: in lower case and in
// normal form, after masks, without stop words.
func (f Features) Words(text string) []string {
	s, err := features.Spec(f).Canonical()
	if err != nil {
		return nil
	}
	return s.Words(text)
}

// Describe says in words how f differs from the zero Features, with the number of words of each
// list: "chars; fields title:3,body:1; nfkc". It returns "" for the zero Features.
func (f Features) Describe() string {
	s, err := features.Spec(f).Canonical()
	if err != nil {
		return ""
	}
	return s.Describe()
}

// featuresOf parses the features of stored parameters, which are valid.
func featuresOf(text string) Features {
	s, _ := features.Parse(text)
	return Features(s)
}
