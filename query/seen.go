package query

import (
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query/internal/syntax"
)

// seen runs SEEN(what): the share of the shingles of a text, at each of their positions, that any
// other document has, and a row for each run of words that none has.
func (x *run) seen(s *syntax.Seen) error {
	doc, err := x.TextOf(s.Word, s.What)
	if err != nil {
		return err
	}
	var runs []engine.Passage
	_, best, err := x.Snap.Any(x.Ctx, []engine.Doc{doc}, engine.Contains(1), &engine.SearchOptions{
		Together: true, Stats: x.Stats, Unseen: func(_ int, all []engine.Passage) { runs = all },
	})
	if err != nil {
		return err
	}
	share := any(best[0].Score)
	if best[0].Score == 0 && runs == nil && x.DB.Options().Features.Unit == "" {
		share = nil // there are no shingles
	}
	rows := []Row{{share, nil, nil, nil}}
	for i, p := range runs {
		if i == 0 {
			rows = rows[:0]
		}
		rows = append(rows, Row{share, p.At + 1, p.Words, doc.Text[p.QueryAt:p.QueryEnd]})
	}
	x.answer([]string{"share", "word", "words", "text"}, fixed(rows...))
	return nil
}
