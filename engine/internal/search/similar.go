package search

import (
	"context"
	"errors"
	"fmt"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/textsim"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/minhash"
)

// A Similar is a complete search for the documents whose texts are similar to one, by a text
// criterion. It compares the texts that signatures do not rule out. In a table without signatures,
// because they do not fit into memory, it compares all texts of about the same length. By
// containment it compares all texts, or, with an index of sets, those that the index does not rule
// out. It serves one goroutine, while its view is open.
type Similar struct {
	v       *view.View
	compare textsim.Compare
	fold    bool                // texts are folded before they are compared
	edit    *textsim.EditFilter // nil for other measures
	cosine  *textsim.CosineFilter
	index   IndexFunc       // nil for other measures
	set     *table.SetQuery // for containment; nil otherwise
	docs    []uint32
	scratch []byte
	work    Counts
}

// NewSimilar prepares a search of v for a text by a text criterion, which must have been checked.
func NewSimilar(v *view.View, text []byte, by view.Criterion) *Similar {
	of := v.Texts.Spec()
	q := &Similar{v: v, fold: of.NewTextFolder() != nil}
	if by.Text.Contained() {
		set := table.SetQuery{Set: v.Texts.Sets().Set(text), T: by.T, Within: by.Text == view.Within, Most: v.Most(table.SetDocBytes)}
		q.set = &set
		q.compare = textsim.Contained(v.Texts.Sets(), set.Set, set.T, set.Within)
		q.index = func(p *view.Part, dst []uint32) ([]uint32, int, bool, error) { return p.SetCandidates(dst, set) }
	} else if by.Text == view.Levenshtein {
		q.compare, q.edit = textsim.Levenshtein(of, string(text), by.T), textsim.NewEditFilter(of, string(text), by.T)
	} else {
		q.compare, q.cosine = textsim.Cosine(of, string(text), by.T), textsim.NewCosineFilter(of, string(text), by.T)
	}
	return q
}

// An IndexFunc appends the documents of a table that may be similar according to its index. ok is
// false if all documents must be compared.
type IndexFunc func(p *view.Part, dst []uint32) (docs []uint32, read int, ok bool, err error)

// NewScan prepares a search of v that compares all texts, or those that an index does not rule out.
func NewScan(v *view.View, compare textsim.Compare, index IndexFunc) *Similar {
	return &Similar{v: v, compare: compare, index: index}
}

// signed reports whether signatures can rule out texts.
func (q *Similar) signed() bool { return q.edit != nil || q.cosine != nil }

// A SimilarFunc is called for a visible document that is similar. id is reused afterwards. It
// reports whether the search continues.
type SimilarFunc func(id []byte, p view.Place, similarity float64) (more bool, err error)

// Each calls fn for every visible document of the view that is similar, except the one with the ID
// except, in no particular order: table by table, memtables last.
func (q *Similar) Each(ctx context.Context, except string, fn SimilarFunc) error {
	defer func() {
		q.work.report(ctx)
		q.work = Counts{}
	}()
	parts := q.v.Version.Parts
	for i := range parts {
		more, err := q.part(ctx, &parts[i], except, fn)
		if err != nil || !more {
			return err
		}
	}
	for _, m := range q.v.Mems {
		if more, err := q.memtable(ctx, m, except, fn); err != nil || !more {
			return err
		}
	}
	return nil
}

// Matched counts a match of the running search.
func (q *Similar) Matched() { q.work.Matches++ }

// indexOf returns the signatures of a table's texts, or nil if they do not fit into memory.
func indexOf(ctx context.Context, v *view.View, p *view.Part) (*memindex.TextIndex, error) {
	if x := p.Short.Have(); x != nil {
		return x, nil
	}
	return p.Short.Get(ctx, v.Short, v.Texts.Spec(), p.NumDocs(), func(ctx context.Context, fn func(doc uint32, text []byte) error) error {
		texts := p.Texts()
		return p.EachInTextOrder(ctx, func(doc uint32) error {
			text, _, err := texts.Get(doc)
			if err != nil {
				return err
			}
			return fn(doc, text)
		})
	})
}

// Prepare makes the signatures that searches of v will need.
func Prepare(ctx context.Context, v *view.View) error {
	return v.Safely(ctx, func() error {
		for i := range v.Version.Parts {
			if _, err := indexOf(ctx, v, &v.Version.Parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// fewTexts is how many texts of a table are read one by one. More texts are read by a cursor, which
// caches their blocks.
const fewTexts = 64

// part searches a table.
func (q *Similar) part(ctx context.Context, p *view.Part, except string, fn SimilarFunc) (more bool, err error) {
	q.work.Tables++
	var x *memindex.TextIndex
	if q.signed() {
		if x, err = indexOf(ctx, q.v, p); err != nil {
			return false, err
		}
	}
	_, compared, err := q.candidates(p, x)
	if err != nil {
		return false, err
	}
	if compared < 0 {
		return q.scan(ctx, p, except, fn)
	}
	q.work.Probes += int64(compared)
	if err := p.SortInTextOrder(q.docs); err != nil {
		return false, err
	}
	var texts *table.Texts
	if len(q.docs) > fewTexts {
		texts = p.Texts()
	}
	for i, doc := range q.docs {
		if i%table.Together == 0 {
			if err := p.Announce(q.docs[i:min(i+table.Together, len(q.docs))], table.PartText|table.PartID); err != nil {
				return false, err
			}
		}
		if more, err := q.document(ctx, p, doc, texts, except, fn); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// candidates sets q.docs to the documents of a table that its signatures or its index do not rule
// out; x is nil if it has no signatures. It returns the method and the number of entries compared;
// a negative number means that all texts must be read.
func (q *Similar) candidates(p *view.Part, x *memindex.TextIndex) (method string, compared int, err error) {
	switch {
	case x != nil && q.edit != nil:
		q.docs, compared = x.Edit(q.docs[:0], q.edit)
	case x != nil && q.cosine != nil:
		q.docs, compared = x.Cosine(q.docs[:0], q.cosine)
	case q.index != nil:
		var ok bool
		if q.docs, compared, ok, err = q.index(p, q.docs[:0]); ok {
			return methodIndex, compared, err
		}
		fallthrough
	default:
		return methodScan, -1, err
	}
	return methodSignatures, compared, nil
}

// scan searches a table without signatures, in storage order.
func (q *Similar) scan(ctx context.Context, p *view.Part, except string, fn SimilarFunc) (more bool, err error) {
	texts := p.Texts()
	err = p.EachInTextOrder(ctx, func(doc uint32) error {
		more, err := q.document(ctx, p, doc, texts, except, fn)
		if err == nil && !more {
			err = view.ErrStopped
		}
		return err
	})
	if errors.Is(err, view.ErrStopped) {
		return false, nil
	}
	return err == nil, err
}

// document compares a document of a table, if it is visible.
func (q *Similar) document(ctx context.Context, p *view.Part, doc uint32, texts *table.Texts, except string, fn SimilarFunc) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if alive, err := q.v.Alive(p, doc); err != nil || !alive {
		return err == nil, err
	}
	var text []byte
	if texts != nil {
		text, _, err = texts.Get(doc)
	} else {
		q.scratch, err = p.AppendText(q.scratch[:0], doc)
		text = q.scratch
	}
	if err != nil || q.tooLong(text) {
		return err == nil, err
	}
	q.work.Candidates++
	score, ok := q.compare(ctx, text)
	if !ok {
		return true, ctx.Err()
	}
	id, err := p.ID(doc)
	if err != nil || string(id) == except {
		return err == nil, err
	}
	return fn(id, view.Place{Part: p, Doc: doc}, score)
}

// tooLong reports whether the number of bytes alone shows that a text has too many or too few runes
// to be similar.
func (q *Similar) tooLong(text []byte) bool {
	const runeBytes = 4 // of the longest rune
	return q.edit != nil && !q.fold && (len(text) < q.edit.Least || len(text)/runeBytes > q.edit.Most)
}

func (q *Similar) memtable(ctx context.Context, m view.MemView, except string, fn SimilarFunc) (more bool, err error) {
	q.work.Tables++
	q.docs = q.docs[:0]
	for i := range m.Docs {
		q.docs = append(q.docs, uint32(i))
	}
	switch {
	case q.signed():
		q.sign(m)
	case q.set != nil:
		sets := q.v.Texts.Sets()
		setOf := func(i int) []uint64 { return sets.LastSet(m.Docs[i].Text) }
		if found, visited, ok := m.Sets.Candidates(q.v.Short, nil, len(m.Docs), setOf, q.set.Set, q.set.T, q.set.Within); ok {
			q.docs = found
			q.work.Probes += int64(visited)
		}
	}
	for _, i := range q.docs {
		d := m.Docs[i]
		if !q.v.MemAlive(d) || string(d.ID) == except {
			continue
		}
		q.work.Candidates++
		score, ok := q.compare(ctx, d.Text)
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if ok {
			if more, err := fn(d.ID, view.Place{Mem: d}, score); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// sign sets q.docs to the documents of a memtable that their signatures do not rule out.
func (q *Similar) sign(m view.MemView) {
	signatures := m.Short.First(q.v.Texts.Spec(), len(m.Docs), func(i int) []byte { return m.Docs[i].Text })
	if q.edit != nil {
		q.docs = memindex.SimilarByEdit(q.docs[:0], signatures, q.edit)
	} else {
		q.docs = memindex.SimilarByCosine(q.docs[:0], signatures, q.cosine)
	}
	q.work.Probes += int64(len(signatures))
}

// FindSimilar sets q.Hits to all visible documents of v whose texts are similar to the sample's,
// except the one stored under its ID. It compares texts only; it is a method of Jaccard to share
// its buffers.
func (q *Jaccard) FindSimilar(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (err error) {
	if err := v.Usable(ctx); err != nil {
		return err
	}
	defer v.Unguard(vfs.Guard(), &err)
	q.v, q.Hits = v, q.Hits[:0]
	if err := needTextMeasure(v, by); err != nil {
		return err
	}
	text, err := sample.ReadText(v)
	if err != nil {
		return err
	}
	most := v.Most(jaccardHitBytes)
	s := NewSimilar(v, text, by)
	return s.Each(ctx, sample.ID, func(id []byte, p view.Place, similarity float64) (bool, error) {
		if len(q.Hits) >= most {
			return false, v.OverBudget("documents")
		}
		s.Matched()
		q.Hits = append(q.Hits, JaccardHit{id, minhash.Score{Score: similarity, Exact: true}, p})
		return true, nil
	})
}

// CountSimilar returns how many documents FindSimilar finds.
func CountSimilar(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (n int64, err error) {
	err = v.Safely(ctx, func() error {
		if err := needTextMeasure(v, by); err != nil {
			return err
		}
		text, err := sample.ReadText(v)
		if err != nil {
			return err
		}
		s := NewSimilar(v, text, by)
		return s.Each(ctx, sample.ID, func([]byte, view.Place, float64) (bool, error) {
			n++
			s.Matched()
			return true, nil
		})
	})
	return n, err
}

// needTextMeasure returns ErrInvalid if the criterion is not a text criterion, and otherwise the
// error of v.CheckCriterion.
func needTextMeasure(v *view.View, by view.Criterion) error {
	if by.Text == view.NoTextMeasure {
		return fmt.Errorf("the criterion does not compare texts: %w", files.ErrInvalid)
	}
	return v.CheckCriterion(by)
}

// The methods of a plan of a search by text.
const (
	methodScan       = "scan"
	methodSignatures = "signatures" // texts that the signatures do not rule out are compared
	methodSign       = "sign"       // all texts are read, to make their signatures
	methodIndex      = "index"      // texts that the table's index does not rule out are compared
)

// Costs of a search by text, in nanoseconds.
const (
	signatureCost = 2     // to compare a signature
	signCost      = 1000  // to read a text in storage order and make its signature
	textCost      = 10000 // to read and compare a text
)

// PlanSimilar returns the plan of FindSimilar. It makes no signatures.
func PlanSimilar(ctx context.Context, v *view.View, sample Sample, by view.Criterion) (parts []PartPlan, err error) {
	if err := needTextMeasure(v, by); err != nil {
		return nil, err
	}
	err = v.Safely(ctx, func() error {
		text, err := sample.ReadText(v)
		if err == nil {
			parts, err = NewSimilar(v, text, by).Plan()
		}
		return err
	})
	return parts, err
}

// Plan returns the plan of Each.
func (q *Similar) Plan() (parts []PartPlan, err error) {
	for i := range q.v.Version.Parts {
		plan, err := q.plan(&q.v.Version.Parts[i])
		if err != nil {
			return nil, err
		}
		parts = append(parts, plan)
	}
	return append(parts, planMemtables(q.v, func(m view.MemView) PartPlan {
		n := len(m.Docs)
		if !q.signed() {
			return PartPlan{Method: methodScan, Candidates: n, Cost: signCost * float64(n)}
		}
		return PartPlan{Method: methodSignatures, Probes: n, Candidates: n, Cost: signatureCost * float64(n)}
	})...), nil
}

// plan returns the plan for a table.
func (q *Similar) plan(p *view.Part) (PartPlan, error) {
	n := int(p.NumDocs())
	plan := PartPlan{Part: "table " + p.Name, Documents: n, Method: methodScan, Candidates: n, Cost: signCost * float64(n)}
	x := p.Short.Have()
	method, compared, err := q.candidates(p, x)
	if err != nil || compared < 0 {
		if q.signed() && x == nil && memindex.TextsFit(q.v.Short, p.NumDocs()) {
			plan.Method = methodSign
		}
		return plan, err
	}
	plan.Method, plan.Probes, plan.Candidates = method, compared, len(q.docs)
	plan.Cost = signatureCost*float64(compared) + textCost*float64(plan.Candidates)
	return plan, nil
}
