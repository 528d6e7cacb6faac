package fuzz

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
	_ "github.com/simdb/simdb/records/lines"
)

// A batch is documents in files, with the model that compares them.
type batch struct {
	t    *testing.T
	c    *choices
	m    *model
	docs []doc // in the order of the files
	n    []int // the field n of each, -1 for none
	dir  string
}

// FuzzJob compares collections, jobs, joins and matches with loops over all pairs.
func FuzzJob(f *testing.F) {
	seed(f, 250, 60, 60, 100, 100, 150, 150, 200, 200, 300, 300)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newChoices(data[:min(len(data), 1<<10)])
		b := &batch{t: t, c: c, dir: scratch(t), m: newModel(&engine.Options{Bits: 64, Shingle: pick(c, 3, 2, 1), Sketch: 128})}
		run := pick(c, b.collection, b.fingerprints, b.sets, b.sets, b.job, b.job, b.listing, b.join, b.match, b.lines)
		var crowd []string
		if c.once(6) {
			crowd = c.sentences(60 + c.n(60))
		}
		for i := range max(len(crowd), 2+c.n(20)) {
			d := doc{id: fmt.Sprintf("d%03d", i)}
			if d.text = "one"; i < len(crowd) {
				d.text = crowd[i]
			} else if text := c.text(b.texts()); text != "" && utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
				d.text = text
			}
			b.docs, b.n = append(b.docs, d), append(b.n, c.n(6)-1)
			b.m.put(d)
		}
		run()
	})
}

func (b *batch) texts() (all []string) {
	for _, d := range b.docs {
		all = append(all, d.text)
	}
	return all
}

// collected converts the pairs of a collection to a relation.
func (b *batch) collected(pairs iter.Seq2[dedup.Pair, error], near bool) (all []pair) {
	b.t.Helper()
	for _, p := range collect(b.t, pairs) {
		all = append(all, pair{b.docs[p.A].id, b.docs[p.B].id, p.Score})
		if near {
			all[len(all)-1].score = float64(-p.Distance)
		}
	}
	return all
}

// compare compares a collection of the documents with a relation. The items of the relation are in
// the order of prefer.
func (b *batch) compare(of func(o *dedup.Options) *dedup.Collection, by engine.Criterion, r *relation, near bool, prefer func(x, y int) int) {
	b.t.Helper()
	ctx, o := context.Background(), &dedup.Options{Shingle: b.m.o.Shingle, Bits: b.m.o.Bits, TempDir: b.dir, Prefer: prefer}
	little := pick[int64](b.c, 0, 1<<15) // sets and texts go to a file
	want := r.pairs()
	if len(want) < 100 && len(b.docs) < 60 {
		o.Memory = little // the pairs fit
	}
	same(b.t, b.collected(of(o).Pairs(ctx, by), near), want, "pairs by %v", by)
	if n, err := of(o).CountPairs(ctx, by); err != nil || n != int64(len(want)) {
		b.t.Fatalf("%d pairs counted by %v, %v; want %d", n, by, err, len(want))
	}
	o.Memory = little
	for mode, keepers := range map[bool][]int{false: r.stars(), true: r.components()} {
		var got []member
		number := 0
		for _, cluster := range collect(b.t, of(o).Clusters(ctx, by, mode)) {
			number++
			for i, x := range cluster {
				got = append(got, member{number, b.docs[x.Item].id, i == 0, x.Score})
				if near {
					got[len(got)-1].score = float64(-x.Distance)
				}
			}
		}
		same(b.t, got, r.clusters(keepers), "clusters by %v, mode %v", by, mode)
	}
	o.Unordered = true
	got := b.collected(of(o).Pairs(ctx, by), near)
	slices.SortFunc(got, comparePairs)
	same(b.t, got, want, "unordered pairs by %v", by)
}

// preferred chooses an order of preference, and returns the ordinals of the documents in it.
func (b *batch) preferred() (order []int, prefer func(x, y int) int) {
	if order = b.ordinals(); b.c.once(2) {
		prefer = func(x, y int) int { return cmp.Or(cmp.Compare(b.n[x], b.n[y]), cmp.Compare(y, x)) }
		slices.SortStableFunc(order, prefer)
	}
	return order, prefer
}

// relation returns the documents as items, in an order of preference.
func (b *batch) relation(by criterion, order []int) *relation {
	for i, n := range order {
		d := b.m.docs[b.docs[n].id]
		d.seq = uint64(i)
		b.m.docs[d.id] = d
	}
	return b.m.relation(by)
}

// criterion chooses a criterion, which jobs compute exactly.
func (b *batch) criterion() criterion {
	by := b.m.criterion(b.c)
	if by.by.Kind() == "jaccard" {
		by = b.m.jaccard(by.by.T(), true)
	}
	return by
}

// collection compares texts.
func (b *batch) collection() {
	order, prefer := b.preferred()
	by := b.criterion()
	of := func(o *dedup.Options) *dedup.Collection { return dedup.Texts(slices.Values(b.texts()), o) }
	if kind := by.by.Kind(); kind == "contains" || kind == "within" { // the same in a collection
		by = b.m.within(engine.Contains(by.by.T()))
	}
	b.compare(of, by.by, b.relation(by, order), by.near(), prefer)
}

// write writes documents to a file of some format, and returns its path.
func (b *batch) write(name string, docs []doc, n []int) string {
	format := pick(b.c, ".jsonl", ".csv", ".tsv")
	if slices.Contains(n, -1) {
		format = ".jsonl" // in a table, what is missing is an empty string
	}
	return b.writeAs(name, format, docs, n)
}

func (b *batch) writeAs(name, format string, docs []doc, n []int) string {
	var out bytes.Buffer
	if slices.ContainsFunc(docs, func(d doc) bool { return strings.ContainsAny(d.text, "\n\"") }) && format == ".tsv" {
		format = ".csv" // TSV has no quotes
	}
	if table := csv.NewWriter(&out); format == ".jsonl" {
		for i, d := range docs {
			members := map[string]any{"id": d.id, "text": d.text, "n": n[i]}
			maps.DeleteFunc(members, func(name string, _ any) bool { return name == "n" && n[i] < 0 })
			line := must(json.Marshal(members))(b.t)
			out.Write(append(line, '\n'))
		}
	} else {
		table.Comma = map[string]rune{".csv": ',', ".tsv": '\t'}[format]
		check(b.t, table.Write([]string{"id", "text", "n"}))
		for i, d := range docs {
			check(b.t, table.Write([]string{d.id, d.text, map[bool]string{false: fmt.Sprint(n[i])}[n[i] < 0]}))
		}
		table.Flush()
	}
	path := b.dir + "/" + name + format
	check(b.t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

// compared returns what to compare, for a criterion for which that can be chosen.
func (b *batch) compared(by criterion) (x inputs.Compared) {
	if kind := by.by.Kind(); kind != "cosine" && kind != "levenshtein" {
		x.Shingle = b.m.o.Shingle
	}
	return x
}

// keep chooses rules, and returns the ordinals of the documents in their order.
func (b *batch) keep() (rules dedup.Keep, order []int) {
	of := map[dedup.Rule]func(x, y int) int{
		dedup.First: func(x, y int) int { return cmp.Compare(x, y) }, dedup.Last: func(x, y int) int { return cmp.Compare(y, x) },
		dedup.Longest: func(x, y int) int {
			return cmp.Compare(utf8.RuneCountInString(b.docs[y].text), utf8.RuneCountInString(b.docs[x].text))
		},
		dedup.Shortest: func(x, y int) int {
			return cmp.Compare(utf8.RuneCountInString(b.docs[x].text), utf8.RuneCountInString(b.docs[y].text))
		},
		dedup.Max("n"): func(x, y int) int { return cmp.Compare(b.n[y], b.n[x]) },
		dedup.Min("n"): func(x, y int) int { return cmp.Compare(uint(b.n[x]), uint(b.n[y])) }, // -1, none, comes last
	}
	for range b.c.n(3) {
		rules = append(rules, pick(b.c, dedup.Longest, dedup.Shortest, dedup.Max("n"), dedup.Min("n"), dedup.First, dedup.Last))
	}
	order = b.ordinals()
	slices.SortStableFunc(order, func(x, y int) int {
		for _, rule := range rules {
			if c := of[rule](x, y); c != 0 {
				return c
			}
		}
		return cmp.Compare(x, y)
	})
	return rules, order
}

// fieldless reports whether no document has the field n, so that it is an error to name it.
func (b *batch) fieldless() bool {
	return !slices.ContainsFunc(b.n, func(n int) bool { return n >= 0 })
}

// groups may let only documents match that differ, or agree, in the field n. What is missing counts
// as a value.
func (b *batch) groups(r *relation, order []int) (across, within string) {
	match, agree := r.match, b.c.once(2)
	if b.c.n(3) > 0 || b.fieldless() {
		return "", ""
	}
	r.equal = nil
	r.match = func(x, y int) (float64, bool) {
		score, ok := match(x, y)
		return score, ok && (b.n[order[x]] == b.n[order[y]]) == agree
	}
	if agree {
		return "", "n"
	}
	return "n", ""
}

// job removes near-duplicates from files. Those that resemble documents of Against go, too.
func (b *batch) job() {
	by := b.criterion()
	if by.by.Kind() == "contains" {
		by = b.m.within(engine.Within(by.by.T()))
	}
	rules, order := b.keep()
	j := dedup.Job{By: by.by, Compared: b.compared(by), Keep: rules, Memory: pick[int64](b.c, 0, 1<<20), TempDir: b.dir}
	known := 0 // documents of Against: the first ones
	if by.size == nil && b.c.once(4) {
		known = b.c.n(len(b.docs) - 1)
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(min(x, known), min(y, known)) })
		slices.Sort(order[:known])
	}
	r := b.relation(by, order)
	if match := r.match; by.near() && b.c.once(3) {
		verify := b.m.jaccard(pick(b.c, 0.3, 0.5, 2.0/3, 1), true)
		j.Verify, r.equal = verify.by.T(), nil
		r.match = func(x, y int) (float64, bool) {
			score, similar := verify.score(&b.docs[order[x]], &b.docs[order[y]])
			_, ok := match(x, y)
			return score, ok && similar
		}
	}
	if by.size == nil && known == 0 { // not by Within
		j.Across, j.WithinField = b.groups(r, order)
	}
	if slices.ContainsFunc(rules, func(r dedup.Rule) bool { return r.Arg == "n" }) && (known > 0 || b.fieldless()) {
		return
	}
	if known > 0 {
		j.Against, j.OnlyAgainst = []string{b.write("known", b.docs[:known], b.n[:known])}, j.Keep == nil && b.c.once(2)
	}
	path := b.write("in", b.docs[known:], b.n[known:])
	result, err := j.Run(context.Background(), dedup.Files(path))
	if err != nil {
		b.t.Fatalf("%+v: %v", j, err)
	}
	defer result.Close()
	stars, outcome, at := r.starsAfter(known, j.OnlyAgainst), map[bool][]string{}, map[string]int{}
	for i, name := range r.names {
		at[name] = i
	}
	for _, d := range b.docs[known:] {
		stays := stars[at[d.id]] == at[d.id]
		outcome[stays] = append(outcome[stays], d.id)
	}
	var got, kept []string
	for _, row := range collect(b.t, result.Dropped(context.Background())) {
		got = append(got, *row.ID)
		k, i := at[*row.Keeper], at[*row.ID]
		score, ok := r.match(k, i)
		if stars[i] != k || !ok && r.equal == nil || row.Score != nil && (!by.near() || j.Verify > 0) && *row.Score != score || by.near() && j.Verify == 0 && int(*row.Distance) != int(-score) {
			b.t.Fatalf("%+v: %s is dropped for %s; it should be for %s with %g", j, *row.ID, *row.Keeper, r.names[stars[i]], score)
		}
	}
	same(b.t, got, outcome[false], "dropped by %+v", j)
	for i := range result.Kept() {
		kept = append(kept, b.docs[known+i].id)
	}
	same(b.t, kept, outcome[true], "kept by %+v", j)
	b.written(j, path, outcome[true])
}

// written runs a job that writes a file, whose records must be these documents.
func (b *batch) written(j dedup.Job, path string, want []string) {
	j.Output, j.NoAudit = b.dir+"/kept"+path[strings.LastIndexByte(path, '.'):], true
	must(j.Write(context.Background(), &inputs.Env{}, []string{path}))(b.t)
	src := must(records.Open(j.Output, records.Options{}))(b.t)
	defer src.Close()
	var got []string
	for rec, err := range src.Records(context.Background()) {
		check(b.t, err)
		got = append(got, rec.Doc.ID)
		i := slices.IndexFunc(b.docs, func(d doc) bool { return d.id == rec.Doc.ID })
		if i < 0 || b.docs[i].text != rec.Doc.Text {
			b.t.Fatalf("%q is written as %q", b.docs[max(i, 0)].text, rec.Doc.Text)
		}
	}
	same(b.t, got, want, "written by %+v", j)
}
