package engine

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"unsafe"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/passage"
	"github.com/simdb/simdb/internal/table"
)

// A Passage is a sequence of words that occurs in a text and in the query and is not part of a
// longer such sequence. If the query contains it several times, the first occurrence counts.
// Positions are byte offsets in the stored texts: the passage has Words words in text[At:End] and
// query[QueryAt:QueryEnd].
type Passage struct {
	ID                string // of the document, from All
	Words             int
	At, End           int
	QueryAt, QueryEnd int
}

// Passages is a search for documents that share passages with a text. It serves one goroutine,
// while its Snapshot is open.
type Passages struct {
	s    *Snapshot
	find *passage.Finder
	look search.IndexFunc // nil if features cannot tell which texts have passages
	self string
	o    *SearchOptions
}

// passageWordBytes is the memory that each word of the query needs.
const passageWordBytes = 160

// passageBytes is the memory that each passage of a document needs until the document is yielded.
const passageBytes = 3 * int(unsafe.Sizeof(Passage{}))

// Passages prepares a search for the documents that share a run of at least words words, 1 or more,
// with doc.Text or, if that is empty, with the stored document doc.ID. Words are those from which
// the database makes shingles: without case, in normal form and without the stop words of its
// Features; no run extends from one field to the next. The document stored as doc.ID does not
// match. Of the options, Stats has an effect.
//
// Errors are ErrInvalid if words is less than 1, ErrParams if the database stores no texts,
// ErrTooLarge if the words of the query, 160 bytes each, exceed Options.Memory, ErrNotFound,
// ErrClosed, *CorruptionError, and ctx.Err().
func (s *Snapshot) Passages(ctx context.Context, doc Doc, words int, o *SearchOptions) (*Passages, error) {
	if words < 1 {
		return nil, fmt.Errorf("a passage of %d words: want 1 or more: %w", words, files.ErrInvalid)
	}
	if err := s.v.NeedTexts(); err != nil {
		return nil, err
	}
	s.searches()
	p := &Passages{s: s, self: doc.ID, o: o}
	err := s.v.Safely(ctx, func() error {
		text, err := doc.sample().ReadText(&s.v)
		if err != nil {
			return err
		}
		p.find = passage.New(s.v.Texts.Spec(), words, text)
		if n := p.find.Words(); n > s.v.Most(passageWordBytes) {
			return fmt.Errorf("passages of a text of %d words do not fit into the memory limit of a query: %w", n, files.ErrTooLarge)
		}
		if hashes, number, ok := s.v.Texts.InOrder(text, words); ok {
			p.look = func(part *view.Part, dst []uint32) ([]uint32, int, bool, error) {
				return part.RunCandidates(dst, hashes, number, s.v.Most(table.SetDocBytes))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return p, nil
}

// In returns the passages of a text, the longest first; passages of equal length are in text order.
func (p *Passages) In(text string) []Passage {
	return longestFirst("", p.find.Runs([]byte(text), math.MaxInt))
}

func longestFirst(id string, runs []passage.Run) (all []Passage) {
	for _, r := range runs {
		all = append(all, Passage{id, r.Words, r.At, r.End, r.QueryAt, r.QueryEnd})
	}
	slices.SortStableFunc(all, func(a, b Passage) int { return b.Words - a.Words })
	return all
}

// All yields for each visible document that has passages all of them, the longest first, as the
// documents are found: in an unspecified but
// reproducible order. It reads all texts in storage order, or, with an index of containment, only
// those that the index does not rule out. An error is the last value yielded: it is ErrTooLarge if
// the passages of one document exceed Options.Memory.
func (p *Passages) All(ctx context.Context) iter.Seq2[[]Passage, error] {
	ctx = p.o.counting(ctx)
	return func(yield func([]Passage, error) bool) {
		var runs []passage.Run
		scan := p.scan(&runs)
		err := p.s.v.Safely(ctx, func() error {
			return scan.Each(ctx, p.self, func(id []byte, _ view.Place, _ float64) (bool, error) {
				if scan.Matched(); len(runs) > p.s.v.Most(passageBytes) {
					return false, p.s.v.OverBudget("passages")
				}
				return yield(longestFirst(string(id), runs), nil), nil
			})
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Plan returns the plan of All, as Reader.Plan does for Search.
func (p *Passages) Plan() ([]PartPlan, error) {
	var parts []search.PartPlan
	err := p.s.v.Safely(context.Background(), func() (err error) {
		parts, err = p.scan(nil).Plan()
		return err
	})
	return partPlans(parts), err
}

// scan returns the search of the stored documents. For each document that it compares, it sets
// *runs to the passages.
func (p *Passages) scan(runs *[]passage.Run) *search.Similar {
	return search.NewScan(&p.s.v, func(_ context.Context, text []byte) (float64, bool) {
		*runs = p.find.Runs(text, p.s.v.Most(passageBytes))
		return 1, len(*runs) > 0
	}, p.look)
}
