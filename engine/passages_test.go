package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
)

// TestPassages compares searches for passages with a comparison of all runs of words, in tables and
// memtables. Many of the texts contain parts of others.
func TestPassages(t *testing.T) {
	ctx := t.Context()
	r := rand.New(rand.NewPCG(35, 4))
	db, _ := create4test(t, &Options{NoSync: true, Shingle: 5, Features: Features{Unit: "chars", Fold: []string{"width"}}})
	texts := map[string]string{"empty": "", "short": "w1 w2"}
	var all [][]string
	for i := range 120 {
		var words []string
		for range 5 + r.IntN(40) {
			words = append(words, fmt.Sprintf("w%d", r.IntN(300)))
		}
		if i%2 == 1 { // with a part of another text
			from := all[r.IntN(len(all))]
			words = slices.Concat(words[:len(words)/3], from[r.IntN(len(from)):], words[len(words)/3:])
		}
		all = append(all, words)
		texts[fmt.Sprintf("d%d", i)] = strings.Join(words, " ")
	}
	i := 0
	for id, text := range texts {
		must.Get(struct{}{}, db.Put(ctx, Doc{ID: id, Text: text}))(t)
		if i++; i%50 == 0 {
			must.Get(struct{}{}, db.Flush(ctx))(t)
		}
	}
	for i := range 10 {
		id := fmt.Sprintf("d%d", 3*i)
		must.Get(struct{}{}, db.Delete(ctx, id))(t)
		delete(texts, id)
	}
	s := must.Get(db.Snapshot())(t)
	defer s.Close()
	queries := []Doc{{Text: "W2, W1!"}, {Text: strings.ToUpper(strings.Join(all[3], "... "))}, {ID: "d1", Text: texts["d1"]}}
	for id := range texts {
		queries = append(queries, Doc{ID: id})
	}
	found := 0
	for _, q := range queries {
		text := q.Text
		if text == "" {
			text = texts[q.ID]
		}
		for _, least := range []int{1, 3, 8} {
			p := must.Get(s.Passages(ctx, q, least, nil))(t)
			got := map[string][]Passage{}
			for m, err := range p.All(ctx) {
				all := must.Get(m, err)(t)
				id := all[0].ID
				got[id] = withoutIDs(all)
			}
			for id, other := range texts {
				if want := passagesOf(text, other, least); id == q.ID {
					equal(t, fmt.Sprintf("%+v in itself", q), got[id], nil)
				} else if len(want) > 0 || len(got[id]) > 0 {
					where := fmt.Sprintf("%d words of %q in %q", least, text, other)
					equal(t, where, got[id], want)
					equal(t, where, p.In(other), want)
					found++
				}
				delete(got, id)
			}
			if len(got) > 0 {
				t.Fatalf("%+v is found in %v", q, got)
			}
			for _, part := range must.Get(p.Plan())(t) {
				if part.Method != "scan" || part.Candidates != part.Documents || part.Cost == 0 {
					t.Fatalf("%+v", part)
				}
			}
		}
	}
	if found < 500 {
		t.Errorf("%d matches in all", found)
	}
	for range must.Get(s.Passages(ctx, Doc{Text: texts["d1"]}, 1, nil))(t).All(ctx) {
		break // must end without an error
	}
}

// passagesOf returns the runs of at least least words of a text that occur in query, by comparing
// all. Both have single spaces or other characters between words.
func passagesOf(query, text string, least int) (runs []Passage) {
	word := func(text string) (words []string, at []int) {
		for i := range text {
			if text[i] == 'w' || text[i] == 'W' {
				words = append(words, strings.ToLower(strings.TrimRight(strings.Fields(text[i:])[0], ".,!")))
				at = append(at, i)
			}
		}
		return words, at
	}
	q, qat := word(query)
	w, wat := word(text)
	last := 0
	for s := range w {
		best, from := 0, 0
		for i := range q {
			n := 0
			for s+n < len(w) && i+n < len(q) && w[s+n] == q[i+n] {
				n++
			}
			if n > best {
				best, from = n, i
			}
		}
		if best >= least && s+best > last {
			e, qe := s+best-1, from+best-1
			runs = append(runs, Passage{"", best, wat[s], wat[e] + len(w[e]), qat[from], qat[qe] + len(q[qe])})
		}
		last = max(last, s+best)
	}
	slices.SortStableFunc(runs, func(a, b Passage) int { return b.Words - a.Words })
	return runs
}

func TestPassagesErrors(t *testing.T) {
	ctx := t.Context()
	db, _ := create4test(t, nil)
	s := must.Get(db.Snapshot())(t)
	defer s.Close()
	if _, err := s.Passages(ctx, Doc{Text: "a"}, 0, nil); !errors.Is(err, ErrInvalid) {
		t.Error(err)
	}
	if _, err := s.Passages(ctx, Doc{ID: "nobody"}, 1, nil); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	without, _ := create4test(t, &Options{NoText: true})
	n := must.Get(without.Snapshot())(t)
	defer n.Close()
	if _, err := n.Passages(ctx, Doc{Text: "a"}, 1, nil); !errors.Is(err, ErrParams) {
		t.Error(err)
	}
	small, _ := create4test(t, &Options{Memory: 160 * 100})
	m := must.Get(small.Snapshot())(t)
	defer m.Close()
	if _, err := m.Passages(ctx, Doc{Text: strings.Repeat("a ", 101)}, 1, nil); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
	must.Get(m.Passages(ctx, Doc{Text: strings.Repeat("a ", 100)}, 1, nil))(t)
	must.Get(struct{}{}, small.Put(ctx, Doc{ID: "many", Text: strings.Repeat("a b ", 1000)}))(t)
	many := must.Get(small.Snapshot())(t)
	defer many.Close()
	var failed error
	for _, failed = range must.Get(many.Passages(ctx, Doc{Text: "a c"}, 1, nil))(t).All(ctx) {
	}
	if !errors.Is(failed, ErrTooLarge) {
		t.Errorf("1,000 passages of a text: %v", failed)
	}
	p := must.Get(s.Passages(ctx, Doc{Text: "a"}, 1, nil))(t)
	s.Close()
	for _, err := range p.All(ctx) {
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
}

// BenchmarkPassages searches 20,000 texts of 1.4 KB, in one table, for the passages of one text.
func BenchmarkPassages(b *testing.B) {
	source := &titles{rng: rand.New(rand.NewPCG(1, 1))}
	db := must.Get(Open(b.TempDir()+"/test.simdb", &Options{NoSync: true, NoSketch: true}))(b)
	defer db.Close()
	size := 0
	for i := range 20000 {
		var text strings.Builder
		for text.Len() < 1400 {
			text.WriteString(source.next() + ". ")
		}
		size += text.Len()
		must.Do(b, db.Put(b.Context(), Doc{ID: fmt.Sprint(i), Text: text.String()}))
	}
	must.Do(b, db.Compact(b.Context(), nil))
	s := must.Get(db.Snapshot())(b)
	defer s.Close()
	for _, words := range []int{8, 50} {
		b.Run(fmt.Sprint(words), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				p := must.Get(s.Passages(b.Context(), Doc{ID: "100"}, words, nil))(b)
				for _, err := range p.All(b.Context()) {
					must.Do(b, err)
				}
			}
		})
	}
}

func withoutIDs(all []Passage) []Passage {
	for i := range all {
		all[i].ID = ""
	}
	return all
}
