// Package units removes repeated lines, paragraphs or passages from documents: text that many
// documents have in common, such as headers, menus and licences, stays where it comes first.
//
//	units.go    the units of a text, and the text without some of them
//	hash.go     what of a unit is compared
//	passages.go runs of words, of which few are units that are compared
//	repeats.go  which units have come before, in bounded memory
//	extract.go  the units of many documents, on all processors
//
// A unit is compared as a whole, by a hash of 128 bits. Two different units of n are taken for one
// with a probability of n²/2^129. The units are distributed to 256 parts by their hashes, in memory
// or in a temporary file; each part in turn has a map of its different hashes. The units of a part
// stay in the order of the input, so a merge of the parts brings all repeats in order, and there is
// no sort. The outcome depends neither on memory nor on threads.
//
// Other programs: dolma, BFF and CCNet split texts at every line end and call the lines paragraphs.
// CCNet removes punctuation and replaces digits by 0. dolma and BFF ask a Bloom filter, which takes
// some new text for repeated text. datatrove compares runs of three sentences. Units of fewer than
// ten words stay here, unless the user says otherwise: shorter repeated lines are mostly headings
// and commands, which mean something where they stand.
package units

import (
	"strings"

	"github.com/simdb/simdb/internal/textsim"
)

// Level is what is compared.
type Level string

// The levels.
const (
	Document  Level = "document"
	Line      Level = "line"      // a line that is not blank
	Paragraph Level = "paragraph" // lines up to the next blank line
	Passage   Level = "passage"   // any run of words, of a number
)

// Span is a part of a text: its bytes from From up to To.
type Span struct{ From, To int }

// Split appends the units of a text to dst. A unit has no line end; between two units are line ends
// and blank lines alone. A line is blank if it has nothing but white space.
func Split(dst []Span, text string, level Level) []Span {
	joins := false // the line before belongs to the same paragraph
	for from := 0; from < len(text); {
		end, next := len(text), len(text)
		if i := strings.IndexByte(text[from:], '\n'); i >= 0 {
			end, next = from+i, from+i+1
		}
		for end > from && text[end-1] == '\r' {
			end--
		}
		switch {
		case textsim.Blank(text[from:end]):
			joins = false
		case joins:
			dst[len(dst)-1].To = end
		default:
			dst = append(dst, Span{from, end})
			joins = level == Paragraph
		}
		from = next
	}
	return dst
}

// Removed is units of a text that are removed: those from number From to To-1. The first of them
// stands at First, too.
type Removed struct {
	From, To uint32
	First    Place
}

// A Words appends the words of a text to dst.
type Words func(dst []Span, text string) []Span

// Keep returns the parts of a text that stay when units are removed, in ascending order; none if no
// unit stays. What is before the first unit and after the last one stays.
// Between two units that stay is one of the separators that were between them, the first of those
// with the most lines, so that paragraphs stay apart. If the units are words, which the last argument
// finds, it is one with which they do not become one word, as between scripts without spaces they
// would; where none is, an empty part stands for a space. Of other units the argument is nil.
func Keep(text string, all []Span, removed []Removed, words Words) []Span {
	var keep []Span
	last := -1 // the last unit that stays so far
	stay := func(from, to int) {
		switch {
		case from == to:
			return
		case last < 0:
			keep = joined(keep, Span{0, all[0].From})
		default:
			gap, found := words.widest(text, all[last:from+1])
			if keep = joined(keep, gap); !found {
				keep = append(keep, gap)
			}
		}
		keep = joined(keep, Span{all[from].From, all[to-1].To})
		last = to - 1
	}
	next := 0
	for _, r := range removed {
		stay(next, int(r.From))
		next = int(r.To)
	}
	if stay(next, len(all)); last < 0 {
		return nil
	}
	return joined(keep, Span{all[len(all)-1].To, len(text)})
}

// widest returns the separator with the most line ends of those between units, and false if with each
// the first and the last of them would be one word.
func (w Words) widest(text string, all []Span) (best Span, found bool) {
	first, last := all[0], all[len(all)-1]
	best = Span{first.To, first.To}
	most, glued := -1, false // glued: nothing does not separate them
	for i, u := range all[1:] {
		between := text[all[i].To:u.From]
		n := strings.Count(between, "\n")
		if n <= most || between == "" && glued {
			continue
		}
		if w != nil {
			both := w(nil, text[first.From:first.To]+between+text[last.From:last.To])
			if len(both) != 2 || both[0].To != first.To-first.From || both[1].From != both[0].To+len(between) {
				glued = glued || between == ""
				continue
			}
		}
		best, most, found = Span{all[i].To, u.From}, n, true
	}
	return best, found
}

// joined appends a part, unless it is empty, to others or to the last of them.
func joined(parts []Span, p Span) []Span {
	switch n := len(parts); {
	case p.From == p.To:
	case n > 0 && parts[n-1].To == p.From:
		parts[n-1].To = p.To
	default:
		parts = append(parts, p)
	}
	return parts
}
