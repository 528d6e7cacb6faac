package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/token"
)

// A Seen is a search for the shingles of one or more texts in all visible documents together. The
// index of containment says which documents may have a shingle, and their texts decide. Tables
// without an index are read completely. It serves one goroutine, while its view is open.
type Seen struct {
	v    *view.View
	walk *features.Walker
	left map[uint64]bool // the shingles that no document read so far has
	all  view.Ordered    // of the text
	read Counts
}

// NewSeen returns a Seen without texts.
func NewSeen(v *view.View) *Seen { return &Seen{v: v, walk: v.Texts.Walker(), left: map[uint64]bool{}} }

// shingles returns the shingles of a text at each of their positions, valid until the next call.
func (x *Seen) shingles(text []byte) []uint64 {
	x.all = x.all[:0]
	if _, enough := x.walk.Walk(text, &x.all); !enough {
		return nil
	}
	return x.all
}

// Add adds the shingles of a text, and returns the number of different ones so far.
func (x *Seen) Add(text []byte) int {
	for _, h := range x.shingles(text) {
		x.left[h] = true
	}
	return len(x.left)
}

// Share returns the share of the positions in a text, which was added, whose shingles have been
// found; 0 for a text without shingles.
func (x *Seen) Share(text []byte) float64 {
	all, found := x.shingles(text), 0
	for _, h := range all {
		if !x.left[h] {
			found++
		}
	}
	return float64(found) / float64(max(len(all), 1))
}

// Find looks for the shingles in all visible documents except the one with the ID except.
func (x *Seen) Find(ctx context.Context, except string) error {
	defer func() { x.read.report(ctx) }()
	for i := range x.v.Version.Parts {
		if err := x.part(ctx, &x.v.Version.Parts[i], except); err != nil {
			return err
		}
	}
	for _, m := range x.v.Mems {
		if err := x.memtable(ctx, m, except); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// found removes the shingles of a document from those left.
func (x *Seen) found(text []byte) {
	x.read.Candidates++
	for _, h := range x.shingles(text) {
		delete(x.left, h)
	}
}

// A seenEntry says that a document may have a shingle.
type seenEntry struct {
	doc  uint32
	hash uint64
}

// firstDocs is how many documents are tried for each shingle before all that may have it are.
const firstDocs = 64

// indexed looks for the shingles left in n documents, of which find returns those that may have a
// shingle, and take reads one. ok is false if not all are known thereafter and reading all documents
// is faster. If very many documents may have a shingle, some are tried at once: pages of a template
// share many shingles, and one text shows all of them, whose long lists then need not be read.
func (x *Seen) indexed(ctx context.Context, n int, find func(dst []uint32, hash uint64) (docs []uint32, ok bool, err error), take func(doc uint32) error) (ok bool, err error) {
	read := n*signCost/textCost + fewTexts // documents
	try := func(doc uint32) (bool, error) {
		read--
		return read >= 0, cmp.Or(ctx.Err(), take(doc))
	}
	for most := firstDocs; len(x.left) > 0 && most > 0; {
		all, next := []seenEntry(nil), 0
		var docs []uint32
		for _, hash := range slices.Sorted(maps.Keys(x.left)) {
			if !x.left[hash] {
				continue
			}
			if docs, ok, err = find(docs[:0], hash); err != nil || !ok || len(all)+len(docs) > x.v.Most(table.SetDocBytes) {
				return false, err
			}
			many := len(docs) > most
			for _, doc := range docs[:min(most, len(docs))] {
				if !many {
					all = append(all, seenEntry{doc, hash})
				} else if !x.left[hash] {
					break
				} else if ok, err := try(doc); !ok || err != nil {
					return false, err
				}
			}
			if many && x.left[hash] {
				next = n
			}
		}
		for _, mine := range byDocument(all) {
			if !slices.ContainsFunc(mine, func(e seenEntry) bool { return x.left[e.hash] }) {
				continue
			}
			if ok, err := try(mine[0].doc); !ok || err != nil {
				return false, err
			}
		}
		most = next
	}
	return true, nil
}

// byDocument groups entries by document, those of the documents with the most entries first.
func byDocument(all []seenEntry) (by [][]seenEntry) {
	slices.SortStableFunc(all, func(a, b seenEntry) int { return cmp.Compare(a.doc, b.doc) })
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].doc == all[from].doc {
			to++
		}
		by = append(by, all[from:to])
		from = to
	}
	slices.SortStableFunc(by, func(a, b []seenEntry) int { return len(b) - len(a) })
	return by
}

// part searches a table.
func (x *Seen) part(ctx context.Context, p *view.Part, except string) error {
	x.read.Tables++
	take := func(doc uint32, text func() ([]byte, error)) error {
		id, alive, err := x.v.AliveID(p, doc)
		if err != nil || !alive || string(id) == except {
			return err
		}
		b, err := text()
		if err == nil {
			x.found(b)
		}
		return err
	}
	var scratch []byte
	ok, err := x.indexed(ctx, int(p.NumDocs()), func(dst []uint32, hash uint64) ([]uint32, bool, error) {
		docs, read, ok, err := p.SetCandidates(dst, table.SetQuery{Set: []uint64{hash}, T: 1, Most: x.v.Most(table.SetDocBytes)})
		x.read.Probes += int64(read)
		return docs, ok, err
	}, func(doc uint32) error {
		return take(doc, func() (_ []byte, err error) {
			scratch, err = p.AppendText(scratch[:0], doc)
			return scratch, err
		})
	})
	if ok || err != nil {
		return err
	}
	texts := p.Texts()
	err = p.EachInTextOrder(ctx, func(doc uint32) error {
		if len(x.left) == 0 {
			return view.ErrStopped
		}
		return take(doc, func() ([]byte, error) {
			text, _, err := texts.Get(doc)
			return text, err
		})
	})
	if errors.Is(err, view.ErrStopped) {
		return nil
	}
	return err
}

// memtable searches a memtable.
func (x *Seen) memtable(ctx context.Context, m view.MemView, except string) error {
	x.read.Tables++
	take := func(doc uint32) error {
		if d := m.Docs[doc]; x.v.MemAlive(d) && string(d.ID) != except {
			x.found(d.Text)
		}
		return ctx.Err()
	}
	sets := x.v.Texts.Sets()
	ok, err := x.indexed(ctx, len(m.Docs), func(dst []uint32, hash uint64) ([]uint32, bool, error) {
		docs, visited, ok := m.Sets.Candidates(x.v.Short, dst, len(m.Docs), func(i int) []uint64 { return sets.LastSet(m.Docs[i].Text) }, []uint64{hash}, 1, false)
		x.read.Probes += int64(visited)
		return docs, ok, nil
	}, take)
	if ok || err != nil {
		return err
	}
	for doc := range m.Docs {
		if err := take(uint32(doc)); err != nil || len(x.left) == 0 {
			return err
		}
	}
	return nil
}

// An Unseen is a run of the words of a text that no document has: none of its shingles has been
// found, and it is not part of a longer such run.
type Unseen struct {
	Word, Words int // number of the first word, from 0, and the number of words
	At, End     int // offsets in the text
}

// Unseen returns the runs of a text, which was added, that have not been found, in order; none if
// shingles are not those of consecutive words.
func (x *Seen) Unseen(text []byte) (runs []Unseen) {
	spec, k := x.v.Texts.Spec(), int(x.v.Params.Shingle)
	if spec.Unit != "" || spec.RequireWords != nil || len(x.shingles(text)) == 0 {
		return nil
	}
	cut := features.NewCutter(spec)
	var words []Unseen // of all fields, each as a run
	fields := []int{0} // index of the first word of each field
	cut.Words(text, func(word []byte, start, end int) {
		if word == nil {
			fields = append(fields, len(words))
		} else {
			words = append(words, Unseen{len(words), 1, start, end})
		}
	})
	shingler := token.New(spec.Config(k, x.v.Params.Seed))
	for i, part := range cut.Parts(text) {
		own := words[fields[i]:]
		if i+1 < len(fields) {
			own = words[fields[i]:fields[i+1]]
		}
		var hashes sink
		shingler.Bytes(cut.Normal(part), &hashes)
		for at := 0; at < len(hashes); at++ {
			from := at
			for at < len(hashes) && x.left[hashes[at]] {
				at++
			}
			if from < at {
				last := own[min(at-1+k, len(own))-1]
				runs = append(runs, Unseen{own[from].Word, last.Word - own[from].Word + 1, own[from].At, last.End})
			}
		}
	}
	return runs
}

// sink collects shingles.
type sink []uint64

// Shingles appends shingles.
func (s *sink) Shingles(hashes []uint64) { *s = append(*s, hashes...) }
