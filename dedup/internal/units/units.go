// Package units removes repeated lines, paragraphs or passages from documents. Text that many
// documents share, such as headers, menus and licences, stays only at its first occurrence.
//
//	units.go     splits texts into units, and removes units from texts
//	hash.go      hashes of units
//	passages.go  runs of words, few of which are units to compare
//	repeats.go   finds repeated units, in bounded memory
//	seen.go      finds units whose n-grams have been seen, in bounded memory
//	filter.go    sets of n-grams with false positives
//	workers.go   the steps of seen.go, for many workers
//	extract.go   the units of many documents, on all processors
//
// Units are compared by a hash of 128 bits. With n units, the probability that two different ones
// are treated as equal is n²/2^129. The hash assigns each unit to one of 256 parts, in memory or
// in a temporary file; each part in turn builds a map of its different hashes. The units of a
// part stay in the order of the input, so merging the parts orders all repeats without a sort.
// The result depends neither on memory nor on threads.
//
// Other programs: dolma, BFF and CCNet split texts at every line end and call the lines
// paragraphs. CCNet removes punctuation and replaces digits by 0. dolma and BFF use a Bloom
// filter, which mistakes some new text for repeated text. datatrove compares runs of three
// sentences. Here, units of fewer than ten words stay unless the user says otherwise: shorter
// repeated lines are mostly headings and commands, which have a meaning where they stand.
package units

import (
	"strings"

	"github.com/simdb/simdb/internal/textsim"
)

// Level is the type of the units.
type Level string

// The levels.
const (
	Document  Level = "document"
	Line      Level = "line"      // a line that is not blank
	Paragraph Level = "paragraph" // lines up to the next blank line
	Passage   Level = "passage"   // any run of a given number of words
)

// Span is a part of a text: its bytes from From up to To.
type Span struct{ From, To int }

// Split appends the units of a text to dst. A unit includes no line end; only line ends and blank
// lines separate units. A line is blank if it contains only white space.
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

// Removed is a range of removed units of a text: numbers From to To-1. First is an earlier place
// of the first one. Share and Score are those of a Repeat.
type Removed struct {
	From, To     uint32
	First        Place
	Share, Score float64
}

// A Words appends the words of a text to dst.
type Words func(dst []Span, text string) []Span

// Keep returns the parts of a text that stay when units are removed, in ascending order; none if
// no unit stays. Text before the first unit and after the last one stays. Between two units that
// stay, Keep retains one of the separators that were between them: the first of those with the
// most lines, so that paragraphs stay separate. If the units are words, words must find them; the
// separator must then prevent the two words from becoming one, as could happen between scripts
// without spaces. If there is no such separator, an empty part stands for a space. For other
// units, words is nil.
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

// widest returns the separator with the most line ends among those between units. It returns
// false if every separator would turn the first and the last unit into one word.
func (w Words) widest(text string, all []Span) (best Span, found bool) {
	first, last := all[0], all[len(all)-1]
	best = Span{first.To, first.To}
	most, glued := -1, false // an empty separator does not separate them
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

// joined appends a part, merging it with the last one if they are adjacent; empty parts are
// ignored.
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
