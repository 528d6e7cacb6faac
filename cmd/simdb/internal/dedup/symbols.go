package dedup

import (
	"encoding/binary"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/simdb/simdb/cmd/simdb/internal/input"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/features"
)

// symbols counts the documents that were dropped as equal to their keepers, and are not where
// symbols are words. Ordinary punctuation makes no difference. It looks at the texts of such pairs
// alone, while the second pass comes by them.
type symbols struct {
	ready  func([]byte) []byte // makes a text ready to be cut into words; nil: it is
	sets   *features.SetHasher // without what ready does
	sums   []uint32            // of the sets of these documents, by ordinal; 1 without symbols, 0 of those that no pair has
	text   []byte
	set    []uint64
	buffer []byte
}

// watchSymbols looks at documents of score 1, if the features are of texts without symbols and
// anyone will read of it.
func (d *job) watchSymbols() {
	if d.a.Global.Quiet || d.c.ofTexts() || d.out.score == nil || d.features.Symbols || d.features.Unit == engine.UnitSet {
		return
	}
	for n, k := range d.out.keeper {
		if d.out.score[n] == 1 && int64(n) >= d.known && int64(k) >= d.known && k != uint32(n) {
			if d.symbols == nil {
				of := d.params.Features
				with := features.Spec{Unit: of.Unit, Fields: of.Fields, RequireWords: of.RequireWords, Symbols: true}
				d.symbols = &symbols{
					ready: of.Normalizer(), sets: features.NewSetHasher(with, d.params.Shingle, d.params.Seed),
					sums: make([]uint32, len(d.out.keeper)),
				}
			}
			d.symbols.sums[n], d.symbols.sums[k] = 1, 1
		}
	}
}

// add takes a document of the second pass.
func (s *symbols) add(n int64, rec *input.Record) {
	if s == nil || s.sums[n] == 0 {
		return
	}
	text := rec.Doc.Text
	if !hasSymbol(text) {
		return // its set is the same with symbols
	}
	if s.ready != nil {
		text = string(s.ready([]byte(text)))
	}
	s.text = appendSymbols(s.text[:0], text)
	s.set = s.sets.Append(s.set[:0], string(s.text))
	s.buffer = s.buffer[:0]
	for _, h := range s.set {
		s.buffer = binary.LittleEndian.AppendUint64(s.buffer, h)
	}
	s.sums[n] = max(uint32(xxh3.Hash(s.buffer)), 2)
}

// count returns how many of the dropped differ from their keepers.
func (s *symbols) count(out *outcome) (n int64) {
	for d, k := range out.keeper {
		if s.sums[d] != 0 && s.sums[d] != s.sums[k] && out.score[d] == 1 {
			n++
		}
	}
	return n
}

// appendSymbols appends text with spaces for ordinary punctuation: not for signs that are operators
// in programs and formulas, such as * / & % @ # and \, nor for a negation (!).
func appendSymbols(dst []byte, text string) []byte {
	for i, r := range text {
		if r < utf8.RuneSelf && ordinary[r] && !negates(text[i:]) || r >= utf8.RuneSelf && unicode.In(r, unicode.P, unicode.Sk) {
			r = ' '
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// ordinary is the punctuation of ASCII that is no operator, or only where negates says so.
var ordinary = func() (t [utf8.RuneSelf]bool) {
	for _, r := range ".,:;?!'\"()[]{}-_`" {
		t[r] = true
	}
	return t
}()

// negates reports whether text begins with ! as an operator.
func negates(text string) bool {
	return len(text) > 1 && text[0] == '!' && (text[1] == '=' || text[1] == '(' || text[1]|0x20 >= 'a' && text[1]|0x20 <= 'z')
}

// plain are the bytes that are no symbols: letters, digits, white space, ordinary punctuation.
var plain = func() (t [utf8.RuneSelf]bool) {
	for b := range rune(utf8.RuneSelf) {
		t[b] = ordinary[b] && b != '!' || unicode.In(b, unicode.L, unicode.N) || unicode.IsSpace(b)
	}
	return t
}()

// hasSymbol reports whether text may have symbols.
func hasSymbol(text string) bool {
	for i, r := range text {
		if r < utf8.RuneSelf && !plain[r] && (r != '!' || negates(text[i:])) || r >= utf8.RuneSelf && unicode.IsSymbol(r) {
			return true
		}
	}
	return false
}

// programs are endings of the names of source files.
var programs = strings.Fields(".c .cc .cpp .cs .cxx .go .h .hpp .java .jl .js .jsx .kt .lua .m .php .pl .py .r .rb .rs .scala .sh .sql .swift .ts .tsx .vb .zig")

// isProgram reports whether a name is that of a source file.
func isProgram(name string) bool {
	ending := strings.ToLower(filepath.Ext(name))
	return slices.Contains(programs, ending)
}
