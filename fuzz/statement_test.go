package fuzz

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/query"
)

// A world is a database, its model, and a session of statements.
type world struct {
	t       testing.TB
	c       *choices
	m       *model
	db      *engine.DB
	session query.Session
}

// FuzzStatement compares statements with brute force over the documents. The input is also read as
// the text of a statement.
func FuzzStatement(f *testing.F) {
	seed(f, 180, 150, 300, 300, 500, 500, 700)
	for _, text := range []string{
		"NEAR('a', 6) AND NOT (NEAREST('a', 9) OR ID LIKE 'x/%' ESCAPE '!') SINCE 2d ORDER BY distance DESC, id LIMIT 20 OFFSET 40 SHOW id, lang",
		"ID IN ('a', ?) OR COSINE(TEXT 'x', 80%) AND meta.'k' NOT BETWEEN 1 AND $n", "COUNT BY lang", "WHY 'a' 'b'", "EXPLAIN ANALYZE NEAR(0, 64)", "SHOW * LIMIT 3", "PAIRS NEAR 3 LIMIT 2", "CLUSTERS NEAR 30", "NEAR(TEXT 'one', 70)", "('",
		"WITHIN(TEXT '', 0.5) OR NEAREST(0xff, 9)", `PUT {"id":"a"} UNLESS NEAR 3;`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 1<<11)]
		parse(t, string(data))
		c := newChoices(data)
		w := &world{t: t, c: c, m: newModel(c.options())}
		w.m.o.TTL = 0
		w.db = must(create(scratch(t)+"/x.simdb", *w.m.o))(t)
		defer func() { check(t, w.db.Close()) }()
		defer w.session.Close()
		for range 4 + c.n(18) {
			w.put(w.doc())
			if c.once(6) {
				check(t, w.db.Flush(context.Background()))
			}
		}
		w.raw(string(data))
		for steps := 0; steps < 4 || !c.done() && steps < 25; steps++ {
			w.step()
		}
	})
}

// parse parses a text. A query that has been parsed fingerprints a text that is parsed to the same.
func parse(t testing.TB, text string) {
	q, err := query.Parse(text)
	if err != nil {
		return
	}
	again, err := query.Parse(q.String(), q.Args()...)
	if err != nil || again.String() != q.String() {
		t.Fatalf("%q is printed as %q, which is parsed as %q, %v", text, q, again, err)
	}
}

// raw runs any text that does not write. Its rows have all columns.
func (w *world) raw(text string) {
	if strings.Contains(strings.ToUpper(text), "PUT") || strings.Contains(strings.ToUpper(text), "DELETE") {
		return
	}
	rows, err := w.run(text)
	if err != nil {
		return
	}
	for r, err := range rows.All() {
		if err != nil || len(r) != len(rows.Columns()) {
			w.t.Fatalf("%q: %v, %v", text, r, err)
		}
	}
}

func (w *world) doc() doc {
	h := history{t: w.t, c: w.c, m: w.m}
	d := h.doc()
	if w.m.o.NoText {
		d.fields = ""
	}
	return d
}

func (w *world) put(d doc) {
	check(w.t, w.db.Put(context.Background(), d.given()))
	w.m.put(d)
}

// run runs a statement.
func (w *world) run(text string, args ...any) (*query.Rows, error) {
	return w.session.Run(context.Background(), w.db, text, args...)
}

// read runs a statement and returns its rows.
func (w *world) read(text string, args ...any) []query.Row {
	w.t.Helper()
	rows, err := w.run(text, args...)
	if err != nil {
		w.t.Fatalf("%s %q\n%s", text, args, err)
	}
	return w.all(rows, text, args...)
}

// all reads the rows of a statement.
func (w *world) all(rows *query.Rows, text string, args ...any) (all []query.Row) {
	w.t.Helper()
	for r, err := range rows.All() {
		if err != nil {
			w.t.Fatalf("%s %q\n%s", text, args, err)
		}
		all = append(all, r)
	}
	return all
}

// expect runs a statement that returns a message.
func (w *world) expect(message, text string, args ...any) {
	w.t.Helper()
	rows, err := w.run(text, args...)
	if err != nil || rows.Message() != message {
		w.t.Fatalf("%s %q: %v, %v; want %q", text, args, rows, err, message)
	}
}

func (w *world) step() {
	switch w.c.n(16) {
	case 0:
		w.transaction()
	case 1:
		w.write()
	case 2, 3:
		w.joins()
	case 4, 5:
		if !w.m.o.NoText {
			w.countBy()
			w.get()
		}
	default:
		w.compare()
	}
}

// compare compares a query with brute force, and its count.
func (w *world) compare() {
	w.t.Helper()
	s := &statement{choices: w.c, m: w.m}
	s.exact = !w.m.o.NoText && !w.m.o.NoSketch && w.m.o.Sketch > 4 && w.c.once(3)
	var positive []predicate
	p := s.expression(w.c.n(4), false, &positive)
	var names []string // of the columns
	for name, has := range map[string]func(p predicate) bool{
		"distance": func(p predicate) bool { return p.distance != nil }, "score": func(p predicate) bool { return p.score != nil },
		"words": func(p predicate) bool { return p.runs != nil },
	} {
		if slices.ContainsFunc(positive, has) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	tail, keys, limit, offset := w.clauses(names)
	if jaccard := strings.Contains(p.text, "JACCARD"); jaccard && !s.exact {
		tail += " ESTIMATE"
	}
	text := p.text + tail
	parse(w.t, text)
	rows, err := w.run(text, s.args...)
	if !p.drives {
		if err == nil {
			w.t.Fatalf("%s %q\nfound %d rows where no predicate finds documents", text, s.args, len(w.all(rows, text, s.args...)))
		}
		return
	}
	if err != nil {
		w.t.Fatalf("%s %q\n%s", text, s.args, err)
	}
	want := window(w.answer(p, positive, keys), limit, offset)
	var got, wanted []string
	for _, r := range w.all(rows, text, s.args...) {
		got = append(got, shown(rows.Columns(), r))
	}
	for _, r := range want {
		wanted = append(wanted, r.shown(names))
	}
	same(w.t, got, wanted, "%s %q", text, s.args)
	if n := w.read("COUNT "+text, s.args...); n[0][0] != int64(len(want)) {
		w.t.Fatalf("COUNT %s %q\n%v, want %d", text, s.args, n[0][0], len(want))
	}
}

func window[T any](all []T, limit, offset int) []T {
	all = all[min(offset, len(all)):]
	if limit >= 0 {
		all = all[:min(limit, len(all))]
	}
	return all
}

// shown shows the cells of a row, scores without the last bits and their errors.
func shown(columns []string, r query.Row) (text string) {
	for i, name := range columns {
		if f, ok := r[i].(float64); ok && name == "score" {
			text += fmt.Sprintf("%s=%.9f ", name, f)
		} else if name != "error" && name != "exact" {
			text += fmt.Sprintf("%s=%v ", name, r[i])
		}
	}
	if len(r) != len(columns) {
		text += fmt.Sprint(len(r), " cells")
	}
	return text
}

// A row is a row of the answer by brute force.
type row struct {
	d        *doc
	distance int     // -1 for none
	score    float64 // -1 for none
	jaccard  bool    // the score belongs to JACCARD
	run      [3]int  // words, at and query_at
}

func (r *row) shown(names []string) string {
	text := fmt.Sprintf("id=%v ", r.d.id)
	for _, name := range names {
		switch {
		case name == "distance" && r.distance >= 0:
			text += fmt.Sprintf("distance=%d ", r.distance)
		case name == "score" && r.score >= 0:
			text += fmt.Sprintf("score=%.9f ", r.score)
		case name == "words" && r.run[0] > 0:
			text += fmt.Sprintf("words=%d at=%d query_at=%d ", r.run[0], r.run[1], r.run[2])
		case name == "words":
			text += "words=<nil> at=<nil> query_at=<nil> "
		default:
			text += name + "=<nil> "
		}
	}
	return text
}

// answer evaluates a query by brute force.
func (w *world) answer(p predicate, positive []predicate, keys []orderKey) (rows []row) {
	for _, d := range w.m.docs {
		if !p.holds(&d) {
			continue
		}
		r := row{d: &d, distance: -1, score: -1}
		runs := map[[3]int]bool{}
		for _, p := range positive {
			if !p.holds(&d) {
				continue
			}
			if p.distance != nil {
				if n, _ := p.distance(&d); r.distance < 0 || n < r.distance {
					r.distance = n
				}
			}
			if p.score != nil && (p.jaccard || !r.jaccard) {
				score, _ := p.score(&d)
				if p.jaccard && !r.jaccard || score > r.score {
					r.score, r.jaccard = score, p.jaccard
				}
			}
			if p.runs != nil {
				for _, run := range p.runs(&d) {
					runs[run] = true
				}
			}
		}
		for run := range runs {
			r.run = run
			rows = append(rows, r)
		}
		if len(runs) == 0 {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		for _, k := range keys {
			if c := k.compare(&a, &b); c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.d.id, b.d.id), a.run[1]-b.run[1], b.run[0]-a.run[0], a.run[2]-b.run[2])
	})
	return rows
}

// An orderKey is a key of ORDER BY.
type orderKey struct {
	by   string
	desc bool
}

func (k orderKey) compare(a, b *row) (c int) {
	missing := false
	switch k.by {
	case "id":
		c = strings.Compare(a.d.id, b.d.id)
	case "time":
		c = a.d.time.Compare(b.d.time)
	case "distance":
		c, missing = a.distance-b.distance, a.distance < 0 || b.distance < 0
	case "score":
		c, missing = cmp.Compare(a.score, b.score), a.score < 0 || b.score < 0
	case "words":
		c, missing = a.run[0]-b.run[0], a.run[0] == 0 || b.run[0] == 0
	default:
		return compareFields(fieldOf(a.d, k.by), fieldOf(b.d, k.by), k.desc)
	}
	if k.desc || missing { // what is missing comes last, in either order
		return -c
	}
	return c
}

// clauses chooses the clauses of a query, for rows with some columns.
func (w *world) clauses(names []string) (text string, keys []orderKey, limit, offset int) {
	for _, name := range names {
		keys = append(keys, orderKey{name, name != "distance"})
	}
	if w.c.once(3) {
		if names = append(names, "id", "time"); !w.m.o.NoText {
			names = append(names, fieldNames...)
		}
		keys = nil
		for i := range 1 + w.c.n(2) {
			k := orderKey{pick(w.c, names...), w.c.once(2)}
			keys = append(keys, k)
			text += []string{" ORDER BY ", ", "}[i] + k.by + map[bool]string{true: " desc"}[k.desc]
		}
	}
	window, limit, offset := w.window()
	return text + window, keys, limit, offset
}

// window chooses LIMIT and OFFSET.
func (w *world) window() (text string, limit, offset int) {
	limit = -1
	if w.c.once(2) {
		limit = pick(w.c, 0, 1, 2, 5, 20, math.MaxInt)
		text += fmt.Sprintf(" LIMIT %d", limit)
	}
	if w.c.once(3) {
		offset = pick(w.c, 0, 1, 3, 20, math.MaxInt)
		text += fmt.Sprintf(" OFFSET %d", offset)
	}
	return text, limit, offset
}
