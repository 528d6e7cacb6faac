// Package features defines and computes the features of documents: the elements of the set from
// which fingerprints and sketches are made.
//
//	Spec    which features; a parameter of a database, recorded as text (Spec.String)
//	Walker  text -> fields -> normalised, masked, without stop words -> shingles of words or of
//	        characters, or set members
//	Fingerprinter  features -> SimHash and MinHash sketch
//
// The zero Spec stands for shingles of words of a single text, all with the same weight.
package features

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/simdb/simdb/internal/token"
	"github.com/zeebo/xxh3"
)

// Unit is the unit of features.
type Unit = string

// Units of features.
const (
	Words Unit = "words"    // K consecutive words; the same as ""
	Chars Unit = "chars"    // K consecutive characters
	Set   Unit = "set"      // the members of a given set
	Given Unit = "features" // given features, with weights
	Own   Unit = "function" // those that a function of the program yields
)

// IsGiven reports whether the text of a document is its features, and they are not computed from it.
func IsGiven(u Unit) bool { return u == Set || u == Given }

// Func yields the features of a text, with their weights. See engine.Features.
type Func = func(text string) iter.Seq2[string, float64]

// Limits of a Spec.
const (
	MaxFields   = 16   // fields
	MinWeight   = 1e-6 // of a feature
	MaxWeight   = 1024
	MaxMinWords = 1 << 20 // Spec.MinWords
	MaxMasks    = 32      // Spec.Mask
	MaxName     = 64      // bytes of Spec.Code and Spec.Function
	MaxEncoded  = 1<<16 - 1
)

// Field is a field of documents whose text has features.
type Field struct {
	Name   string  `json:"name"`
	Weight float64 `json:"weight"` // MinWeight to MaxWeight
}

// Spec defines the features of a document. Only fingerprints and sketches with equal specs can be
// compared. See engine.Features, which documents the fields.
type Spec struct {
	Unit         Unit
	Symbols      bool
	Fields       []Field
	SetField     string
	StopWords    []string
	RequireWords []string
	Fold         []string
	Mask         []string
	MinWords     int
	Code         string
	Several      bool
	Function     string
	Compute      Func
}

// Canonical returns the canonical form of all specs with the same meaning as s, or an error if s is
// invalid. It adds or removes default values; words in lists become unique, lower-case and sorted,
// and masks are sorted.
func (s Spec) Canonical() (Spec, error) {
	if s.Unit == Words {
		s.Unit = ""
	}
	fold, err := parseFolds(s.Fold)
	if s.Fold = fold.Names(); err != nil {
		return s, err
	}
	if s.MinWords == 1 {
		s.MinWords = 0 // a text without words never has features
	}
	if s.SetField != "" && s.Unit == "" {
		s.Unit = Set
	}
	if IsGiven(s.Unit) && s.SetField == "" {
		s.SetField = s.Unit
	}
	if s.Function != "" && s.Unit == "" {
		s.Unit = Own
	}
	for what, list := range map[string]*[]string{"stop": &s.StopWords, "required": &s.RequireWords} {
		if *list == nil {
			continue
		}
		words := map[string]bool{}
		for _, text := range *list {
			for w := range s.Rules().Split(text) {
				words[w] = true
			}
		}
		if *list = slices.Sorted(maps.Keys(words)); len(words) == 0 {
			return s, fmt.Errorf("the list of %s words is empty", what)
		}
	}
	s.Mask = slices.Compact(slices.Sorted(slices.Values(s.Mask)))
	if err := s.validate(); err != nil {
		return s, err
	}
	if n := len(s.String()); n > MaxEncoded {
		return s, fmt.Errorf("the description of the features has %d bytes; the limit is %d: use fewer words in lists", n, MaxEncoded)
	}
	return s, nil
}

// validate returns the first error in s.
func (s Spec) validate() error {
	switch {
	case s.Unit != "" && s.Unit != Chars && !IsGiven(s.Unit) && s.Unit != Own:
		return fmt.Errorf("unknown unit of features %q: use words, chars, set or features", s.Unit)
	case (s.Unit == Own) != (s.Function != "") || s.Compute != nil && s.Function == "":
		return errors.New("features of a function need its name, and no other unit")
	case s.MinWords < 0 || s.MinWords > MaxMinWords:
		return fmt.Errorf("at least %d words: want 0 to %d", s.MinWords, MaxMinWords)
	case s.RequireWords != nil && s.Unit != "":
		return errors.New("required words need shingles of words")
	case s.SetField != "" && !IsGiven(s.Unit):
		return errors.New("the members of a set are its features, so there are no shingles")
	case (IsGiven(s.Unit) || s.Unit == Own) && (s.Fields != nil || s.folds()&^foldV2 != 0 || s.Symbols || s.Mask != nil || s.StopWords != nil):
		return errors.New("features that are given, such as the members of a set, are compared unchanged: fields, foldings, symbols, masks and stop words do not apply")
	case strings.ContainsAny(s.SetField, "\n") || !utf8.ValidString(s.SetField):
		return fmt.Errorf("%q cannot be the name of a field", s.SetField)
	case !isName(s.Code):
		return fmt.Errorf("%q cannot be the name of a code: want one line of at most %d bytes", s.Code, MaxName)
	case !isName(s.Function):
		return fmt.Errorf("%q cannot be the name of a function: want one line of at most %d bytes", s.Function, MaxName)
	case len(s.Fields) > MaxFields:
		return fmt.Errorf("%d fields; the limit is %d", len(s.Fields), MaxFields)
	}
	if _, err := compileMasks(s.Mask); err != nil {
		return err
	}
	for i, f := range s.Fields {
		if f.Name == "" || strings.ContainsAny(f.Name, "\n") || !utf8.ValidString(f.Name) {
			return fmt.Errorf("%q cannot be the name of a field", f.Name)
		}
		if err := CheckWeight(f.Weight); err != nil {
			return fmt.Errorf("field %q has %w", f.Name, err)
		}
		if slices.ContainsFunc(s.Fields[:i], func(g Field) bool { return g.Name == f.Name }) {
			return fmt.Errorf("field %q is named twice", f.Name)
		}
	}
	return nil
}

func isName(s string) bool {
	return len(s) <= MaxName && !strings.Contains(s, "\n") && utf8.ValidString(s)
}

// CheckWeight returns an error if a feature cannot have this weight.
func CheckWeight(w float64) error {
	if w >= MinWeight && w <= MaxWeight {
		return nil
	}
	return fmt.Errorf("weight %v: want a number from 0.000001 to %d; only the ratios of weights matter", w, MaxWeight)
}

// Real reports whether weights may be other than whole numbers; see Params.Real.
func (s Spec) Real() bool {
	return s.Unit == Given || s.Unit == Own || slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Weight != math.Trunc(f.Weight) })
}

// Override returns s with the nonzero parts of t in place of its own.
func (s Spec) Override(t Spec) Spec {
	if t.SetField != "" && t.Unit == "" {
		t.Unit = Set
	}
	s.Unit = cmp.Or(t.Unit, s.Unit)
	s.SetField = cmp.Or(t.SetField, s.SetField)
	s.MinWords = cmp.Or(t.MinWords, s.MinWords)
	s.Code = cmp.Or(t.Code, s.Code)
	s.Function = cmp.Or(t.Function, s.Function)
	if t.Compute != nil {
		s.Compute = t.Compute
	}
	s.Symbols = s.Symbols || t.Symbols
	s.Several = s.Several || t.Several
	if t.Fields != nil {
		s.Fields = t.Fields
	}
	if t.StopWords != nil {
		s.StopWords = t.StopWords
	}
	if t.RequireWords != nil {
		s.RequireWords = t.RequireWords
	}
	if t.Mask != nil {
		s.Mask = t.Mask
	}
	if t.Fold != nil { // the version stays
		if s.Version() == 2 {
			t.Fold = append(slices.Clone(t.Fold), V2)
		}
		s.Fold = t.Fold
	}
	return s
}

// String encodes a canonical spec: "" for the zero Spec, otherwise one line "key value" for each
// part, in this order:
//
//	unit UNIT   symbols       field WEIGHT NAME   set-field NAME   fold NAME
//	mask MASK   min-words N   left-out WORD       required WORD    code NAME   several   function NAME
//
// In place of "fold", version 2 has "normalize nfc", "normalize nfkc" and "strip-diacritics".
func (s Spec) String() string {
	var b strings.Builder
	line := func(parts ...any) { fmt.Fprintln(&b, parts...) }
	if s.Unit != "" {
		line("unit", s.Unit)
	}
	if s.Symbols {
		line("symbols")
	}
	for _, f := range s.Fields {
		line("field", f.Weight, f.Name)
	}
	if s.SetField != "" {
		line("set-field", s.SetField)
	}
	switch f := s.folds(); {
	case f&foldV2 == 0:
		for _, name := range s.Fold {
			line("fold", name)
		}
	default:
		if f&(foldWidth|foldNFC) != 0 {
			line("normalize", formNames[f&foldWidth != 0])
		}
		if f&foldAccents != 0 {
			line("strip-diacritics")
		}
	}
	for _, m := range s.Mask {
		line("mask", m)
	}
	if s.MinWords != 0 {
		line("min-words", s.MinWords)
	}
	for _, w := range s.StopWords {
		line("left-out", w)
	}
	for _, w := range s.RequireWords {
		line("required", w)
	}
	if s.Code != "" {
		line("code", s.Code)
	}
	if s.Several {
		line("several")
	}
	if s.Function != "" {
		line("function", s.Function)
	}
	return b.String()
}

// ErrUnknown is returned by Parse for features of a later version of the program.
var ErrUnknown = errors.New("features that this version does not know")

// formNames are the normal forms of version 2, without and with the folding width.
var formNames = map[bool]string{false: "nfc", true: "nfkc"}

// Version returns the version of the tokenizer that the features need.
func (s Spec) Version() int {
	if slices.Contains(s.Fold, V2) {
		return 2
	}
	return token.Version
}

// Rules returns the rules by which texts have words.
func (s Spec) Rules() token.Rules { return token.Rules{Symbols: s.Symbols, Version: s.Version()} }

// Parse is the inverse of Spec.String, for a version of the tokenizer. It accepts only canonical
// specs. For an unknown part, it returns ErrUnknown and names the part.
func Parse(text string, version int) (s Spec, err error) {
	if version < 3 {
		s.Fold = []string{V2}
	}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if err := s.parseLine(key, value); err != nil {
			return Spec{}, err
		}
	}
	c, err := s.Canonical()
	if err != nil {
		return Spec{}, err
	}
	if c.String() != text {
		return Spec{}, errors.New("the description of the features is not in its canonical form")
	}
	return c, nil
}

func (s *Spec) parseLine(key, value string) (err error) {
	switch key {
	case "unit":
		if s.Unit = Unit(value); s.Unit != Chars && !IsGiven(s.Unit) && s.Unit != Own {
			return fmt.Errorf("unit %q: %w", value, ErrUnknown)
		}
	case "field":
		weight, name, _ := strings.Cut(value, " ")
		f := Field{Name: name}
		f.Weight, err = strconv.ParseFloat(weight, 64)
		s.Fields = append(s.Fields, f)
	case "set-field":
		s.SetField = value
	case "normalize":
		name, known := map[string]string{"nfc": "nfc", "nfkc": "width"}[value]
		if s.Fold = append(s.Fold, name); !known {
			return fmt.Errorf("normal form %q: %w", value, ErrUnknown)
		}
	case "strip-diacritics":
		s.Fold = append(s.Fold, "accents")
	case "fold":
		if s.Fold = append(s.Fold, value); !slices.Contains(foldNames, value) {
			return fmt.Errorf("folding %q: %w", value, ErrUnknown)
		}
	case "min-words":
		s.MinWords, err = strconv.Atoi(value)
	case "symbols":
		s.Symbols = true
	case "mask":
		s.Mask = append(s.Mask, value)
	case "left-out":
		s.StopWords = append(s.StopWords, value)
	case "required":
		s.RequireWords = append(s.RequireWords, value)
	case "code":
		s.Code = value
	case "several":
		s.Several = true
	case "function":
		s.Function = value
	default:
		return fmt.Errorf("%q: %w", key, ErrUnknown)
	}
	return err
}

// Describe lists the parts of a canonical spec for a message, with the numbers of words in lists:
// "chars; fields title:3, body:1; folded width". It returns "" for the zero Spec.
func (s Spec) Describe() string {
	var parts []string
	if s.Unit == Chars {
		parts = append(parts, string(s.Unit))
	}
	switch s.Unit {
	case Set:
		parts = append(parts, "members of the set "+s.SetField)
	case Given:
		parts = append(parts, "weighted features of the field "+s.SetField)
	case Own:
		parts = append(parts, "features of the function "+s.Function)
	}
	if s.Symbols {
		parts = append(parts, "symbols")
	}
	if s.Fields != nil {
		parts = append(parts, "fields "+s.WeightedFields())
	}
	if names := (s.folds() &^ foldV2).Names(); names != nil {
		parts = append(parts, "folded "+strings.Join(names, ", "))
	}
	if s.Mask != nil {
		parts = append(parts, "mask "+strings.Join(s.Mask, ", "))
	}
	if s.MinWords != 0 {
		parts = append(parts, fmt.Sprintf("at least %d words", s.MinWords))
	}
	if n := len(s.StopWords); n > 0 {
		parts = append(parts, fmt.Sprintf("%d stop words (%s)", n, Digest(strings.Join(s.StopWords, "\n"))))
	}
	if n := len(s.RequireWords); n > 0 {
		parts = append(parts, fmt.Sprintf("one of %d required words (%s)", n, Digest(strings.Join(s.RequireWords, "\n"))))
	}
	if s.Code != "" {
		parts = append(parts, "codes by "+s.Code)
	}
	if s.Several {
		parts = append(parts, "several fingerprints per document")
	}
	return strings.Join(parts, "; ")
}

// WeightedFields lists the fields in the notation of the command line: "title:3,body:1".
func (s Spec) WeightedFields() string {
	var fields []string
	for _, f := range s.Fields {
		fields = append(fields, fmt.Sprintf("%s:%v", f.Name, f.Weight))
	}
	return strings.Join(fields, ",")
}

// Digest returns 8 hexadecimal digits of the XXH3 of text, which identify a list in messages.
func Digest(text string) string { return fmt.Sprintf("%08x", uint32(xxh3.HashString(text))) }
