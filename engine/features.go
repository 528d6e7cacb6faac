package engine

import (
	"github.com/simdb/simdb/internal/features"
)

// FeatureUnit is what a feature is made of, a string.
type FeatureUnit = features.Unit

// The units of Features.
const (
	UnitWords FeatureUnit = features.Words // Options.Shingle consecutive words: the default
	UnitChars FeatureUnit = features.Chars // Options.Shingle consecutive characters
	UnitSet   FeatureUnit = features.Set   // the members of a set that documents are
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

// Field is a field of documents whose text has features, and the weight of these.
type Field = struct {
	Name   string `json:"name"`
	Weight int    `json:"weight"` // 1 to 32
}

// Features say what of a document is compared: the elements of the set that its fingerprint and its
// sketch are made of, and that Jaccard similarities are those of. They are fixed when a database is
// created. The zero Features are all shingles of words of the text.
type Features struct {
	// Unit is what a feature is: UnitWords, UnitChars or UnitSet; "" means UnitWords.
	//
	// Characters are the letters, marks and numbers of the text in lower case, with one space for
	// each run of anything else between two of them: n-grams of them suit short texts and those
	// with mistakes in typing. A text with fewer characters than Options.Shingle has one feature,
	// and so has one without letters and numbers: itself.
	//
	// In a database of sets the text of a document is its set, as a JSON array of strings (see
	// SetText); elements that are no strings are taken as they are written. A text that is no array
	// has the members that white space separates. Empty members are none.
	Unit FeatureUnit `json:"unit,omitempty"`

	// Symbols takes each run of characters that are not letters, marks, numbers or white space for
	// a word of its own, so that "x == y" differs from "x != y". With UnitChars such characters are
	// characters.
	Symbols bool `json:"symbols,omitempty"`

	// Fields are the fields of documents that have features, at most 16, nil for one text. Their
	// texts, in this order, make up the text of a document: see JoinFields. No shingle goes from
	// one to the next. A feature of weight w counts as much as w features of weight 1, for
	// fingerprints and for similarities, which are those of weighted sets: the sum of the lesser
	// weights over the sum of the greater ones. One that several fields have has the largest of
	// their weights.
	Fields []Field `json:"fields,omitempty"`

	// SetField is the field of input documents that has the members of a set; "" means "set". It
	// needs UnitSet.
	SetField string `json:"set_field,omitempty"`

	// StopWords are left out: each is taken for white space, so that "Taylor and Francis" has the
	// words of "Taylor Francis". The words of these strings count, in any case; a text that has no
	// others keeps them. A database keeps the words.
	StopWords []string `json:"stop_words,omitempty"`

	// RequireWords, if not nil, lets only shingles count that hold one of the words of these
	// strings. Running text has many words such as "the" and "of", and lists, menus and
	// advertisements few, so that these do not count. A database keeps the words. It needs
	// UnitWords.
	RequireWords []string `json:"require_words,omitempty"`

	// Normalize is the Unicode normal form that texts are brought into before they are cut into
	// words: NormalizeNFC or NormalizeNFKC; "" means none. NFKC also makes full-width and other
	// compatible characters equal, and removes soft hyphens and characters of no width. Texts are
	// kept as they are.
	Normalize NormalForm `json:"normalize,omitempty"`

	// StripDiacritics makes letters with diacritical marks equal to those without, and Latin
	// letters that are no letter with a mark, such as ł, ø, đ, ß and æ, to the letters of ASCII
	// that stand for them.
	StripDiacritics bool `json:"strip_diacritics,omitempty"`

	// Mask are what is not to make a difference: MaskNumbers, MaskDates, or regular expressions
	// (RE2). Each match becomes a word, the same one for all, before stop words are left out and
	// after texts are in their normal form. See docs/format/fingerprints.md.
	Mask []string `json:"mask,omitempty"`

	// MinWords is how many words a text must have to have features: a shorter one has no
	// fingerprint and matches nothing. In a database of sets it counts members.
	MinWords int `json:"min_words,omitempty"`

	// Code names what the fingerprints of documents come from where that is not their text: a hash
	// of pictures, such as "pdq", of at most 64 bytes. Texts have no features then. It keeps codes
	// of different kinds apart, which cannot be compared.
	Code string `json:"code,omitempty"`

	// Several lets a document have several fingerprints: see Doc.Fingerprints.
	Several bool `json:"several,omitempty"`
}

// FieldSeparator is between the texts of the fields in the text of a document. It is U+001F.
const FieldSeparator = features.Separator

// JoinFields returns the text of a document whose fields have these texts, in the order of
// Features.Fields. A FieldSeparator in a text becomes a space. Fields at the end may be left out.
func JoinFields(texts ...string) string { return features.JoinFields(texts...) }

// SetText returns the text of a document that is the set of members: a JSON array.
func SetText(members ...string) string { return features.SetText(members...) }

// Check returns why f makes no sense, nil if it does.
func (f Features) Check() error {
	_, err := features.Spec(f).Canonical()
	return err
}

// Words returns the words of text, in order, that shingles of words are made of: in lower case and
// in their normal form, with what masks put in, without stop words.
func (f Features) Words(text string) []string {
	s, err := features.Spec(f).Canonical()
	if err != nil {
		return nil
	}
	return s.Words(text)
}

// Describe lists what differs from the zero Features in words, lists of words by their number:
// "chars; fields title:3,body:1; nfkc". It is "" for the zero Features.
func (f Features) Describe() string {
	s, err := features.Spec(f).Canonical()
	if err != nil {
		return ""
	}
	return s.Describe()
}

// featuresOf returns the features that parameters record, which are valid.
func featuresOf(text string) Features {
	s, _ := features.Parse(text)
	return Features(s)
}
