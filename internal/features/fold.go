package features

import (
	"bytes"
	_ "embed" // for the table of replacements
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Folds is a set of foldings. What each one means is part of the format of stored fingerprints:
// docs/format/fingerprints.md.
type Folds uint16

const (
	foldCase Folds = 1 << iota
	foldAccents
	foldArabic
	foldHebrew
	foldPersian
	foldGreek
	foldWidth
	foldHyphens
	foldNFC
	foldV2
)

// foldNames are the names of foldings, by bit. "nfc" is canonical composition, which is also the
// last step of all others but "case". "v2" means the words and foldings of version 2 of the
// tokenizer, which folds only accents, width and nfc.
var foldNames = []string{"case", "accents", "arabic", "hebrew", "persian", "greek", "width", "hyphens", "nfc", V2}

// V2 is the folding of databases of version 2 of the tokenizer.
const V2 = "v2"

// foldGroups are names of several foldings. "letters" has those that change letters.
var foldGroups = map[string]Folds{"none": 0, "nfkc": foldWidth, "letters": foldAccents | foldArabic | foldHebrew | foldPersian | foldGreek, "all": foldNFC - 1}

// folds returns the set of s.Fold, which is canonical.
func (s Spec) folds() Folds {
	f, _ := parseFolds(s.Fold)
	return f
}

func parseFolds(names []string) (f Folds, err error) {
	for _, name := range names {
		group, known := foldGroups[name]
		if i := slices.Index(foldNames, name); i >= 0 {
			group, known = 1<<i, true
		}
		if !known {
			return 0, fmt.Errorf("unknown folding %q: use %s, letters (%s) or all", name, strings.Join(foldNames[:8], ", "), strings.Join(foldNames[1:6], ", "))
		}
		f |= group
	}
	if f&foldV2 != 0 {
		if slices.Contains(names, "letters") {
			f &^= foldGroups["letters"] &^ foldAccents
		}
		if f&^(foldV2|foldAccents|foldWidth|foldNFC) != 0 {
			return 0, fmt.Errorf("words of tokenizer version 2 have only the foldings accents, width and nfc: rebuild the database for others")
		}
	}
	if f&foldWidth != 0 || f&foldV2 == 0 && f&^(foldCase|foldNFC) != 0 {
		f &^= foldNFC
	}
	return f, nil
}

// Names returns the names of the foldings in f, in their canonical order.
func (f Folds) Names() (names []string) {
	for i, name := range foldNames {
		if f&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Idle returns the names, each of one or several foldings, of which changed has none.
func Idle(names []string, changed Folds) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		f, _ := parseFolds([]string{name})
		return f&^foldV2 == 0 || f&changed != 0
	})
}

//go:embed fold.txt
var foldText string

// A replacement replaces a rune by some foldings.
type replacement struct {
	with string
	by   Folds
}

// replacements are those of fold.txt.
var replacements = sync.OnceValue(func() map[rune]replacement {
	all := map[rune]replacement{}
	for line := range strings.Lines(foldText) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		by, _ := parseFolds(strings.Split(fields[0], ","))
		for _, runes := range fields[2:] {
			list, low, high := []rune(runes), rune(0), rune(0)
			if n, _ := fmt.Sscanf(runes, "U+%X-%X", &low, &high); n == 2 {
				for list = nil; low <= high; low++ {
					list = append(list, low)
				}
			}
			for _, r := range list {
				all[r] = replacement{strings.TrimPrefix(fields[1], "∅"), by}
				if fields[1] == "NFKD" {
					all[r] = replacement{norm.NFKD.String(string(r)), by}
				}
			}
		}
	}
	return all
})

// A folder applies foldings, other than case, to texts that are not ASCII.
type folder struct {
	on          Folds
	table       map[rune]replacement
	end, open   norm.Form // form of the result, and decomposed form
	early, late bool      // replace before decomposing, and when decomposed
	changed     Folds     // which foldings have changed a text
}

func newFolder(s Spec) folder {
	f := folder{on: s.folds() &^ foldCase, end: norm.NFC, open: norm.NFD}
	if f.on&foldWidth != 0 {
		f.end, f.open = norm.NFKC, norm.NFKD
	}
	f.early = f.on&^(foldAccents|foldGreek|foldNFC|foldV2) != 0
	if f.late = f.on&foldGroups["letters"] != 0; f.on == foldV2 {
		f.on = 0
	}
	if f.on != 0 {
		f.table = replacements()
	}
	return f
}

// replace returns what replaces r, after the letter base, by which foldings; none if it stays.
func (f *folder) replace(r, base rune) (with string, by Folds) {
	p, found := f.table[r]
	if !found {
		return "", 0
	}
	switch mark := isDiacritic(r); {
	case mark && (base >= 0x370 && base <= 0x3ff || base >= 0x1f00 && base <= 0x1fff):
		p.by |= foldGreek
	case !mark && p.with == "" && f.on&foldV2 != 0:
		p.by &= foldWidth
	}
	return p.with, p.by & f.on
}

// appendReplaced appends text with runes replaced.
func (f *folder) appendReplaced(dst, text []byte) []byte {
	base := rune(0)
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			dst, base, text = append(dst, text[0]), 0, text[1:]
			continue
		}
		r, size := utf8.DecodeRune(text) // no folding replaces U+FFFD
		with, by := f.replace(r, base)
		if f.changed |= by; by == 0 {
			with = string(text[:size])
		}
		dst = append(dst, with...)
		if !isDiacritic(r) {
			base = r
		}
		text = text[size:]
	}
	return dst
}

// nextBreak is a mask that finds a hyphen and the end of a line between the parts of a word. Only a
// small letter continues a word that does not end in a capital.
func nextBreak(text []byte, from int) (start, end int) {
	for at := from; ; at++ {
		line := bytes.IndexByte(text[at:], '\n')
		if line < 0 {
			return -1, -1
		}
		at += line
		before := bytes.TrimRight(text[from:at], " \t\r")
		hyphen, size := utf8.DecodeLastRune(before)
		if hyphen != '-' && hyphen != 0xad && hyphen != 0x2010 && hyphen != 0x2011 {
			continue
		}
		start = from + len(before) - size
		end = len(text) - len(bytes.TrimLeft(text[at+1:], " \t"))
		last, _ := utf8.DecodeLastRune(text[from:start])
		first, _ := utf8.DecodeRune(text[end:])
		if unicode.IsLetter(last) && unicode.IsLetter(first) && (unicode.IsUpper(last) || !unicode.IsUpper(first)) {
			return start, end
		}
	}
}

// A TextFolder folds the texts that LEVENSHTEIN and COSINE compare. Only one goroutine may use it.
type TextFolder struct {
	normalizer
	cased bool // fold case
}

// NewTextFolder returns the TextFolder of s, or nil if unchanged texts are compared, as always with
// version 2. A nil TextFolder changes nothing.
func (s Spec) NewTextFolder() *TextFolder {
	if f := s.folds(); f == 0 || f&foldV2 != 0 {
		return nil
	}
	return &TextFolder{normalizer: normalizer{folder: newFolder(s)}, cased: s.folds()&foldCase != 0}
}

// Fold returns the folded form of text, which is valid until the next call.
func (t *TextFolder) Fold(text []byte) []byte {
	if t == nil {
		return text
	}
	if text = t.normalizer.folded(text); !t.cased {
		return text
	}
	if t.word = t.rules.AppendFolded(t.word[:0], text); !bytes.Equal(t.word, text) {
		t.changed |= foldCase
	}
	return norm.NFC.Bytes(t.word)
}

// Changed returns the foldings that have changed a text.
func (t *TextFolder) Changed() (f Folds) {
	if t != nil {
		f = t.changed
	}
	return f
}

// isDiacritic reports whether a rune is in the blocks of combining diacritical marks, which Latin,
// Greek, Cyrillic and other letters have. Marks that are vowels, as in Indic scripts, are in the
// blocks of their scripts.
func isDiacritic(r rune) bool {
	return r >= 0x0300 && r <= 0x036f || r >= 0x1ab0 && r <= 0x1aff || r >= 0x1dc0 && r <= 0x1dff || r >= 0x20d0 && r <= 0x20ff
}
