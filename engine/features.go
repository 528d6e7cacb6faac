package engine

import (
	"iter"

	"github.com/simdb/simdb/internal/features"
)

// Field is a document field whose text is compared, with the weight of its features. Its fields are
//
//	Name   string
//	Weight float64 // 0.000001 to 1024
type Field = features.Field

// Features say which parts of a document are compared. They define the set of elements from which
// its fingerprint and its sketch are computed, and to which Jaccard similarities refer. They are
// fixed when a database is created. The zero Features are all shingles of words of the text.
type Features struct {
	// Unit is the kind of a feature: "words" (Options.Shingle consecutive words; the same as ""),
	// "chars" (Options.Shingle consecutive characters), "set" (the members of the set that a
	// document is), "features" (given features with weights), or "function" (see Function).
	//
	// Characters are the letters, marks and numbers of the text in lower case, with one space for
	// each run of other characters between two CJK characters. N-grams of characters suit short texts and
	// texts with typing errors. A text with fewer characters than Options.Shingle, or without
	// letters and numbers, has one feature: itself.
	//
	// In a database of sets the text of a document is its set, as a JSON array of strings; elements
	// that are not strings are used as written. A text that is not an array has members separated
	// by white space. Empty members do not count.
	//
	// With "features", the text of a document is a JSON object: its keys are the features, its
	// values the weights, 0.000001 to 1024 (a feature of weight 0, or null, is not in the
	// document; other values are ErrInvalid). Or it is a set as above, whose members have weight 1. A
	// feature that is given several times has the sum of its weights, and at most 1024.
	Unit string `json:"unit,omitempty"`

	// Symbols makes each run of characters that are not letters, marks, numbers or white space a
	// separate word, so that "x == y" differs from "x != y". With "chars" such characters count
	// as characters.
	Symbols bool `json:"symbols,omitempty"`

	// Fields are the fields to compare, at most 16; nil means one text. Their texts, in this order,
	// make up the text of a document: see JoinFields. No shingle extends from one field to the
	// next. A feature of weight w counts as much as w features of weight 1, for fingerprints and
	// for similarities, which are those of weighted sets: the sum of the smaller weights divided by
	// the sum of the larger ones. A feature that occurs in several fields has the largest of their
	// weights.
	Fields []Field `json:"fields,omitempty"`

	// SetField is the field of input documents that holds the members of a set, or the features; ""
	// means "set" or "features". It needs Unit "set" or "features".
	SetField string `json:"set_field,omitempty"`

	// StopWords are left out: each counts as white space, so that "Taylor and Francis" has the
	// words of "Taylor Francis". The stop words are the words of these strings, in any case. A text
	// that consists entirely of stop words keeps them as its words. The database stores the list.
	StopWords []string `json:"stop_words,omitempty"`

	// RequireWords, if not nil, are strings of words: only shingles that contain at least one of
	// these words count. With words such as "the" and "of", which prose has and lists, menus and
	// advertisements do not, only prose is compared. The database stores the list. It needs
	// Unit "words".
	RequireWords []string `json:"require_words,omitempty"`

	// Fold lists foldings, which make different spellings equal: "case" (for LEVENSHTEIN and COSINE;
	// words never differ in case), "accents", "arabic", "hebrew", "persian", "greek", "width"
	// (full-width, compatible and invisible characters), "hyphens" (also at line ends), "letters"
	// (those from accents to greek), "all", or "nfc" (only composed and decomposed characters).
	// "v2" means the words of version 2 of the tokenizer, which older databases have. Texts are
	// stored unchanged. See docs/format/fingerprints.md.
	Fold []string `json:"fold,omitempty"`

	// Mask lists patterns whose matches make no difference: "numbers" (runs of digits, with points,
	// commas and colons between them), "dates" (dates and times of day, in digits or with English
	// names), or regular expressions (RE2). Each match becomes a word, the same one for all matches,
	// after folding and before stop words are left out. See docs/format/fingerprints.md.
	Mask []string `json:"mask,omitempty"`

	// MinWords is the number of words that a text needs to be compared: a shorter text has no
	// fingerprint and matches nothing. In a database of sets it counts members.
	MinWords int `json:"min_words,omitempty"`

	// Code names the kind of the fingerprints if they are not computed from texts: a hash of
	// pictures, such as "pdq"; at most 64 bytes. Then Near compares only fingerprints that documents
	// are given, such as those of the pictures in them, and all other criteria compare the texts. The
	// name prevents fingerprints of different kinds, which cannot be compared, from being mixed.
	Code string `json:"code,omitempty"`

	// Several lets a document have several fingerprints: see Doc.Fingerprints.
	Several bool `json:"several,omitempty"`

	// Function, if not "", names the features that Compute yields for a text; Unit is "function". A
	// feature is any string, and its weight counts as above; one below 0.000001 counts as 0.
	// Compute must yield the same for the same text, and any number of goroutines call it. A database
	// has the name: it opens only with the same name and with Compute (ErrParams). The name has at
	// most 64 bytes; a function that yields something else needs another name.
	Function string                                       `json:"function,omitempty"`
	Compute  func(text string) iter.Seq2[string, float64] `json:"-"`
}

// JoinFields returns the text of a document whose fields have these texts, in the order of
// Features.Fields: U+001F separates them, and becomes a space where a text contains it. Empty fields
// at the end may be omitted.
func JoinFields(texts ...string) string { return features.JoinFields(texts...) }

// Describe says in words how f differs from the zero Features, with the number of words of each
// list: "chars; fields title:3,body:1; folded width". It returns "" for the zero Features.
func (f Features) Describe() string {
	s, err := features.Spec(f).Canonical()
	if err != nil {
		return ""
	}
	return s.Describe()
}
