package corpus

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/setjoin"
)

// printOf returns the fingerprint of a document, and false if it has none.
func printOf(h *hasher, d *engine.Doc) (fp base.Fingerprint, ok bool) {
	words := h.appendPrint(nil, d)
	if len(words) == 0 {
		return 0, false
	}
	return words[0], true
}

// TestSearch compares the matches with brute force: for very similar texts, empty texts, and
// documents with their own fingerprints, in several batches.
func TestSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	p := features.Params{Shingle: 2}
	o := SearchOptions{Within: 16, Least: 0.5, Memory: 1 << 20, Documents: 600}
	var docs, drawn []engine.Doc
	for i, text := range shortTexts(r, 600) {
		d := engine.Doc{ID: fmt.Sprint(i), Text: text}
		if i%7 == 0 {
			d.Fingerprints = []engine.Fingerprint{{base.Fingerprint(1) << r.IntN(64)}}
		}
		if docs = append(docs, d); i < 10 || r.IntN(30) == 0 {
			drawn = append(drawn, d)
		}
	}
	h := newHasher(p)
	a := features.NewSetHasher(p.Features, p.Shingle, p.Seed)
	jaccard := func(x, y string) float64 {
		b := map[uint64]bool{}
		xs := a.Append(nil, x)
		for _, e := range xs {
			b[e] = true
		}
		common, all := 0, len(xs)
		for _, e := range a.Append(nil, y) {
			if all++; b[e] {
				common, all = common+1, all-1
			}
		}
		return float64(common) / float64(max(all, 1))
	}
	type key struct {
		place int
		id    string
	}
	type how struct {
		bits  int
		score float64
	}
	s := NewSearch(p, drawn, o)
	nodes, searched := s.Nodes(), 0
	want, words := map[key]how{}, 0
	for i := range docs {
		fp, ok := printOf(h, &docs[i])
		if ok {
			words++
		}
		for place, node := range nodes {
			m := how{-1, -1}
			if other, has := printOf(h, &node.Doc); has && ok && base.Distance(fp, other) <= o.Within {
				m.bits = base.Distance(fp, other)
			}
			if s := jaccard(docs[i].Text, node.Doc.Text); s >= o.Least {
				m.score = s
			}
			if m != (how{-1, -1}) {
				want[key{place, docs[i].ID}] = m
			}
		}
	}
	for _, node := range nodes {
		equal := 0
		for _, d := range drawn {
			fp, _ := printOf(h, &d)
			if print, _ := printOf(h, &node.Doc); fp == print && slices.Equal(a.Append(nil, d.Text), a.Append(nil, node.Doc.Text)) {
				equal++
				if d.ID < node.Doc.ID {
					t.Errorf("%s stands for %s, whose ID is less", node.Doc.ID, d.ID)
				}
			}
		}
		if equal != node.Count || node.Set != (len(a.Append(nil, node.Doc.Text)) > 0) {
			t.Errorf("%+v stands for %d documents", node, equal)
		}
		searched += node.Count
	}
	for i := range drawn {
		if _, ok := printOf(h, &drawn[i]); ok {
			searched--
		}
	}
	if searched != 0 {
		t.Errorf("%d documents too many are searched for", searched)
	}
	got := map[key]how{}
	x := s.Extractor(t.Context(), p, func(some bool) {
		if some {
			words--
		}
	}, func(m Found) error {
		k := key{m.Place, strings.Clone(m.Doc.ID)}
		if _, twice := got[k]; twice || docs[0].Text != "" || m.Doc.Text == "" && m.Doc.Fingerprints == nil {
			t.Errorf("%v: again, or without its text", k)
		}
		got[k] = how{m.Distance, m.Score}
		return nil
	})
	defer x.Stop()
	for i := range docs {
		must.Do(t, x.Add(&docs[i], nil))
	}
	must.Do(t, x.Finish())
	both := 0
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%v: %v, want %v", k, got[k], w)
		}
		if w.bits >= 0 && w.score >= 0 {
			both++
		}
	}
	if len(got) != len(want) || words != 0 || both == 0 || both == len(want) {
		t.Errorf("%d found, want %d, %d of them both ways; %d documents with words too few", len(got), len(want), both, words)
	}
	o.Memory = 40 * setjoin.FewBytes(1, setjoin.FewJaccard)
	if few := NewSearch(p, drawn, o).Nodes(); len(few) == 0 || len(few) >= len(nodes) {
		t.Errorf("without memory: %d nodes", len(few))
	}
}

// TestSearchOfCrowds checks that a Search looks for fewer documents if very many others resemble
// them, unless those are equal.
func TestSearchOfCrowds(t *testing.T) {
	p, o := features.Params{Shingle: 3}, SearchOptions{Within: 16, Least: 0.5, Memory: 1 << 30, Documents: 1e6}
	search := func(text func(i int) string) (n int) {
		var docs []engine.Doc
		for i := range 500 {
			docs = append(docs, engine.Doc{ID: fmt.Sprint(i), Text: text(i)})
		}
		for _, node := range NewSearch(p, docs, o).Nodes() {
			n += node.Count
		}
		return n
	}
	const page = "a page of a site that says the same on all of its pages and then ends with its "
	if n := search(func(i int) string { return page + fmt.Sprint(i) }); n < searchLeast || n > 100 {
		t.Errorf("near copies: %d are searched for", n)
	}
	if n := search(func(int) string { return page }); n != 500 {
		t.Errorf("equal texts: %d are searched for", n)
	}
	if n := search(func(i int) string { return fmt.Sprintf("%d x %d y %d z", i, i, i) }); n != 500 {
		t.Errorf("unlike texts: %d are searched for", n)
	}
}

// TestBrevity checks that words are counted as they are compared, in any script.
func TestBrevity(t *testing.T) {
	for _, c := range []struct {
		short, long, unit, want string
	}{
		{"Great phone case!", strings.Repeat("word ", 50), "", "fewer than 8 words"},
		{"one two three four five six seven eight nine ten", strings.Repeat("word ", 50), "", "fewer than 11 words"},
		{strings.Repeat("word ", 12), strings.Repeat("word ", 50), "", "fewer than 13 words"},
		{strings.Repeat("word ", 13), strings.Repeat("word ", 50), "", ""},
		{"产品名称", strings.Repeat("产品", 50), "", "fewer than 8 words"},
		{strings.Repeat("产品", 50), "word", "", ""},
		{"", strings.Repeat("word ", 50), "", ""},
		{"Great phone case!", "word", "chars", ""},
	} {
		var b Brevity
		for range 10 {
			b.Add(c.short)
		}
		for range 9 {
			b.Add(c.long)
		}
		if got := b.Advice(features.Spec{Unit: features.Unit(c.unit)}); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%q: %q", c.short, got)
		}
	}
}

// TestSearchWide compares a search by fingerprints of several words with brute force.
func TestSearchWide(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var docs []engine.Doc
	for i := range 300 {
		words := []base.Fingerprint{r.Uint64(), r.Uint64N(2), r.Uint64()}
		if i > 0 && r.IntN(2) == 0 {
			words = slices.Clone(docs[r.IntN(i)].Fingerprints[0])
			for range r.IntN(60) {
				words[r.IntN(3)] ^= 1 << r.IntN(64)
			}
		}
		docs = append(docs, engine.Doc{ID: fmt.Sprint(i)})
		docs[i].Fingerprints = []engine.Fingerprint{words}
	}
	p := features.Params{Shingle: 3}
	s := NewSearch(p, docs[:40], SearchOptions{Within: 16, Least: 0.5, Memory: 1 << 20, Documents: 300})
	found := map[string]bool{}
	x := s.Extractor(t.Context(), p, func(bool) {}, func(m Found) error {
		found[fmt.Sprint(s.Nodes()[m.Place].Doc.ID, " ", m.Doc.ID, " ", m.Distance)] = true
		return nil
	})
	defer x.Stop()
	want := map[string]bool{}
	for _, d := range docs {
		must.Do(t, x.Add(&d, nil))
		for _, node := range s.Nodes() {
			if distance := base.DistanceWords(node.Doc.Fingerprints[0], d.Fingerprints[0]); distance <= 3*16 {
				want[fmt.Sprint(node.Doc.ID, " ", d.ID, " ", distance)] = true
			}
		}
	}
	if err := x.Finish(); err != nil || !maps.Equal(found, want) || len(want) < 50 || s.Words() != 3 {
		t.Fatalf("%d matches, want %d; %v", len(found), len(want), err)
	}
	other := engine.Doc{Text: "a b c d"}
	err := x.Add(&other, nil)
	if err == nil {
		err = x.Finish()
	}
	if err == nil || !strings.Contains(err.Error(), "of 192 and of 64 bits") {
		t.Error(err)
	}
}
