package fuzz

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/simdb/simdb/engine"
)

// joins compares PAIRS, CLUSTERS and CLUSTER OF with brute force, and counts.
func (w *world) joins() {
	w.t.Helper()
	by := w.m.criterion(w.c)
	how, estimated := strings.CutSuffix(by.by.String(), " ESTIMATE")
	estimate := map[bool]string{true: " ESTIMATE"}[estimated]
	measure := "score"
	if by.near() {
		measure = "distance"
	}
	window1, limit, offset := w.window()
	r := w.m.relation(by)
	var text string
	var want []string
	count := 0
	switch w.c.n(3) {
	case 0:
		pairs := r.pairs()
		if text = "PAIRS " + how; w.c.once(2) && !w.m.o.NoText && !estimated { // a rule compares texts
			name, op := pick(w.c, fieldNames...), pick(w.c, "=", "!=")
			text += " AND a." + name + " " + op + " b." + name
			pairs = slices.DeleteFunc(pairs, func(p pair) bool {
				a, b := w.m.docs[p.a], w.m.docs[p.b]
				x, y := fieldOf(&a, name), fieldOf(&b, name)
				return !x.there || !y.there || (x.equalTo(y)) != (op == "=")
			})
		}
		pairs = window(pairs, limit, offset)
		for _, p := range pairs {
			want = append(want, fmt.Sprintf("a=%s b=%s %s", p.a, p.b, cell(measure, p.score)))
		}
		count = len(pairs)
	case 1:
		members := window(r.clusters(r.stars()), limit, offset)
		text = "CLUSTERS " + how
		want = shownMembers(members, measure)
		clusters := map[int]bool{}
		for _, x := range members {
			clusters[x.cluster] = true
		}
		count = len(clusters)
	default:
		if len(w.m.docs) == 0 {
			return
		}
		id := pick(w.c, r.names...)
		rows := w.read("CLUSTER OF ? "+how+estimate, id)
		var got []string
		for _, r := range rows {
			got = append(got, shown([]string{"cluster", "id", "keep", measure}, r[:4]))
		}
		same(w.t, got, shownMembers(clusterWith(r.clusters(r.stars()), id), measure), "CLUSTER OF %q %s", id, how)
		return
	}
	text += estimate + window1
	rows, err := w.run(text)
	check(w.t, err)
	var got []string
	for _, r := range w.all(rows, text) {
		got = append(got, shown(rows.Columns(), r))
	}
	same(w.t, got, want, "%s", text)
	if n := w.read("COUNT " + text); n[0][0] != int64(count) {
		w.t.Fatalf("COUNT %s: %v, want %d", text, n[0][0], count)
	}
}

// equalTo reports whether two values of fields are equal for PAIRS.
func (v fieldValue) equalTo(u fieldValue) bool {
	if v.number != nil && u.number != nil && v.raw[0] != '"' && u.raw[0] != '"' {
		return v.number.Cmp(u.number) == 0
	}
	return v.raw == u.raw
}

func cell(measure string, score float64) string {
	if measure == "distance" {
		return fmt.Sprintf("distance=%d ", int(-score))
	}
	return fmt.Sprintf("score=%.9f ", score)
}

func shownMembers(members []member, measure string) (all []string) {
	for _, x := range members {
		all = append(all, fmt.Sprintf("cluster=%d id=%s keep=%t %s", x.cluster, x.id, x.keep, cell(measure, x.score)))
	}
	return all
}

// countBy compares COUNT BY with counts of all documents.
func (w *world) countBy() {
	w.t.Helper()
	name := pick(w.c, fieldNames...)
	counts, of := map[string]int64{}, map[string]fieldValue{}
	for _, d := range w.m.docs {
		v := fieldOf(&d, name)
		k := fmt.Sprint(v.there, v.raw)
		for other, u := range of { // equal numbers count together, by the least text
			if v.there && u.there && v.equalTo(u) && other != k {
				if k > other {
					k = other
					continue
				}
				counts[k] = counts[other]
				delete(counts, other)
				delete(of, other)
			}
		}
		if counts[k]++; of[k].raw == "" {
			of[k] = v
		}
	}
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), compareFields(of[a], of[b], false), strings.Compare(a, b))
	})
	var got, want []string
	for _, k := range keys {
		want = append(want, fmt.Sprintf("%q %t %d", of[k].text, of[k].there, counts[k]))
	}
	for _, r := range w.read("COUNT BY " + name) {
		text, ok := r[0].(string)
		if raw, err := json.Marshal(r[0]); !ok && r[0] != nil && err == nil {
			text = string(raw)
		}
		got = append(got, fmt.Sprintf("%q %t %d", text, r[0] != nil, r[1]))
	}
	same(w.t, got, want, "COUNT BY %s", name)
}

// get compares GET, SHOW and WHY with the documents.
func (w *world) get() {
	w.t.Helper()
	id := w.c.id()
	d, there := w.m.docs[id]
	rows, err := w.run("GET ? SHOW id, text, lang, time", id)
	if there != (err == nil) || !there && !errors.Is(err, engine.ErrNotFound) {
		w.t.Fatalf("GET %q: %v, stored %t", id, err, there)
	}
	if !there {
		return
	}
	r := w.all(rows, "GET")[0]
	text, _ := r[1].(string)
	if v := fieldOf(&d, "lang"); r[0] != id || text != d.text || (r[2] != nil) != v.there || v.raw == `"en"` && r[2] != "en" || fmt.Sprint(r[3]) != fmt.Sprint(d.time.UTC()) {
		w.t.Fatalf("GET %q: %v; want %v", id, r, d)
	}
	other := pick(w.c, w.m.sorted()...)
	if d.text == "" || other.text == "" || id == other.id {
		return
	}
	for _, r := range w.read("WHY ? ?", id, other.id) {
		want, a, b := 0.0, w.m.shingles(&d), w.m.shingles(&other)
		switch r[0] {
		case "jaccard":
			want = jaccard(a, b)
		case "levenshtein":
			want = levenshtein(d.text, other.text)
		case "cosine":
			want = cosine(d.text, other.text)
		default:
			continue
		}
		if got, ok := r[1].(float64); ok && len(a) > 0 && len(b) > 0 && fmt.Sprintf("%.9f", got) != fmt.Sprintf("%.9f", want) {
			w.t.Fatalf("WHY %q %q: %v; want %g", id, other.id, r, want)
		}
	}
}

// write carries out one writing statement.
func (w *world) write() {
	w.t.Helper()
	d := w.doc()
	switch w.c.n(4) {
	case 0:
		w.expect("stored", "PUT ?", d.given())
		w.m.put(d)
	case 1:
		if _, there := w.m.docs[d.id]; there {
			w.expect("deleted", "DELETE ?", d.id)
			delete(w.m.docs, d.id)
		}
	case 2:
		s := &statement{choices: w.c, m: w.m}
		p := s.expression(w.c.n(3), false, new([]predicate))
		if !p.drives {
			return
		}
		was := len(w.m.docs)
		matched := map[string]bool{} // NEAREST depends on all documents
		for id, d := range w.m.docs {
			matched[id] = p.holds(&d)
		}
		maps.DeleteFunc(w.m.docs, func(id string, _ doc) bool { return matched[id] })
		w.expect("deleted "+documents(was-len(w.m.docs)), "DELETE WHERE "+p.text, s.args...)
	default:
		h := history{t: w.t, c: w.c, m: w.m, db: w.db}
		by := w.m.criterion(w.c)
		old, was := w.m.docs[d.id]
		how := by.by.String()
		others := h.others(d, by)
		rows, err := w.run("PUT ? UNLESS "+how, d.given())
		check(w.t, err)
		if was && h.sent(old, d) || len(others) > 0 {
			if r := w.all(rows, "PUT"); len(r) != 1 || len(others) > 0 && !h.sent(old, d) && r[0][0] != others[0].id {
				w.t.Fatalf("PUT %v UNLESS %s: %v; it resembles %v", d, how, r, others)
			}
			return
		}
		if rows.Message() != "stored" {
			w.t.Fatalf("PUT %v UNLESS %s: %q, %v", d, how, rows.Message(), w.all(rows, "PUT"))
		}
		w.m.put(d)
	}
}

func documents(n int) string {
	if n == 1 {
		return "1 document"
	}
	return fmt.Sprint(n, " documents")
}

// transaction runs a transaction, whose statements find its own writes. It conflicts with a write
// outside, unless it has none itself.
func (w *world) transaction() {
	w.t.Helper()
	w.expect("begun", "BEGIN")
	outside := w.m
	w.m = outside.clone()
	for range w.c.n(8) {
		switch w.c.n(6) {
		case 0:
			w.joins()
		case 1:
			w.compare()
		case 2:
			if !w.m.o.NoText {
				w.countBy()
				w.get()
			}
		default:
			w.write()
		}
	}
	if n := w.read("COUNT")[0][0]; n != int64(len(w.m.docs)) {
		w.t.Fatalf("COUNT in a transaction: %v; want %d", n, len(w.m.docs))
	}
	writes, _ := w.session.Pending()
	if w.c.once(3) {
		w.expect(fmt.Sprintf("rolled back %d write", writes)+map[bool]string{false: "s"}[writes == 1], "ROLLBACK")
		w.m = outside
		return
	}
	conflict := w.c.once(3)
	if d := w.doc(); conflict {
		check(w.t, w.db.Put(context.Background(), d.given()))
		outside.put(d)
	}
	rows, err := w.run("COMMIT")
	if conflict = conflict && writes > 0; conflict != errors.Is(err, engine.ErrConflict) || !conflict && (err != nil || !strings.HasPrefix(rows.Message(), "committed: stored ")) {
		w.t.Fatal(rows, err, writes)
	}
	if conflict || writes == 0 {
		w.m = outside
	}
}
