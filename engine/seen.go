package engine

import (
	"context"
	"runtime"

	"github.com/simdb/simdb/engine/internal/search"
	"github.com/simdb/simdb/internal/pipeline"
)

// seenBytes is the memory for each byte of a text whose shingles are looked for.
const seenBytes = 16

// seenTogether is Any with SearchOptions.Together.
func (s *Snapshot) seenTogether(ctx context.Context, docs []Doc, by Criterion, best []Match, unseen func(i int, runs []Passage)) ([]bool, error) {
	of := by.in(s.v.Config)
	of.Together = true
	if err := s.v.CheckCriterion(of); err != nil {
		return nil, err
	}
	known := make([]bool, len(docs))
	decide := func(from, to int, except string) ([][]Passage, error) {
		runs := make([][]Passage, to-from)
		err := s.v.Safely(ctx, func() error {
			x, texts := search.NewSeen(&s.v), make([][]byte, to-from)
			for i := range texts {
				d := docs[from+i]
				if d.ID == "" && d.Text == "" {
					continue // it has no shingles
				}
				text, err := d.sample().ReadText(&s.v)
				if err != nil {
					return err
				}
				texts[i] = text
				x.Add(text)
			}
			if err := x.Find(ctx, except); err != nil {
				return err
			}
			for i, text := range texts {
				share := x.Share(text)
				known[from+i] = share >= of.T
				if best != nil {
					best[from+i] = Match{Score: share, Exact: true}
				}
				if unseen != nil {
					for _, r := range x.Unseen(text) {
						runs[i] = append(runs[i], Passage{Words: r.Words, At: r.Word, End: r.Word + r.Words, QueryAt: r.At, QueryEnd: r.End})
					}
				}
			}
			return nil
		})
		return runs, err
	}
	parts := s.seenParts(docs, by)
	err := pipeline.Ordered(ctx, len(parts)-1, runtime.GOMAXPROCS(0), func(i int) ([][]Passage, error) {
		except := ""
		if parts[i+1] == parts[i]+1 {
			except = docs[parts[i]].ID
		}
		return decide(parts[i], parts[i+1], except)
	}, func(i int, runs [][]Passage) error {
		for n := range runs {
			if unseen != nil {
				unseen(parts[i]+n, runs[n])
			}
		}
		return nil
	})
	return known, err
}

// seenParts divides documents into parts that are looked for together, and returns where each
// begins, and the end. Documents with an ID, with which they are not compared, are by themselves;
// others, too, if the index is faster than one scan for all.
func (s *Snapshot) seenParts(docs []Doc, by Criterion) (bounds []int) {
	together, left := s.together(docs, by), -1
	for i, d := range docs {
		if left -= len(d.Text); !together || d.ID != "" || left < 0 {
			bounds = append(bounds, i)
			if left = s.v.Most(seenBytes) / runtime.GOMAXPROCS(0); d.ID != "" {
				left = -1
			}
		}
	}
	return append(bounds, len(docs))
}
