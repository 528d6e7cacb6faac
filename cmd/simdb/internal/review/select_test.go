package review

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/cmd/simdb/internal/app"
	"github.com/simdb/simdb/cmd/simdb/internal/loading"
	"github.com/simdb/simdb/cmd/simdb/internal/verbs"
	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
)

// pageOf returns the page that arguments make, without pairs if the selection passes none.
func pageOf(t *testing.T, args ...string) *Page {
	t.Helper()
	c := parsed[Command](t, append([]string{"-o", "unused.html"}, args...)...)
	p, err := c.build(app.NewQuiet(t.Context(), nil), c.Selection, nil)
	if err != nil && !errors.Is(err, app.Status(app.ExitNo)) {
		t.Fatalf("%v: %v", args, err)
	}
	return p
}

// pairsOf returns the pairs of a page in order.
func pairsOf(p *Page) (pairs []string) {
	for _, c := range p.Clusters {
		for _, m := range c.Members {
			pairs = append(pairs, c.Keeper.ID+" "+m.ID)
		}
	}
	return pairs
}

// madeRow is a row of a made audit.
type madeRow struct {
	id, keeper, rule string
	cluster          int
	value            float64
	decision         string // "" for undecided
}

// makeAudit writes an audit in random order, and a file of decisions.
func makeAudit(t *testing.T, r *rand.Rand, rows []madeRow, scored bool) (audit, decisions string) {
	t.Helper()
	var lines, said strings.Builder
	fmt.Fprintln(&lines, `{"simdb":"0.2.0","parameters":{"jaccard":0.5},"inputs":[]}`)
	fmt.Fprintln(&lines, `{"id":null,"file":"gone.jsonl","line":7,"keeper":null,"rule":"rejected","reason":"not JSON"}`)
	for _, i := range r.Perm(len(rows)) {
		m := rows[i]
		measure := fmt.Sprintf(`"distance":null,"score":%g`, m.value)
		if !scored {
			measure = fmt.Sprintf(`"distance":%g,"score":null`, m.value)
		}
		fmt.Fprintf(&lines, `{"id":%q,"file":"gone.jsonl","line":%d,"keeper":%q,"keeper_file":"gone.jsonl","keeper_line":1,%s,"exact":true,"rule":%q,"cluster":%d}`+"\n",
			m.id, i+2, m.keeper, measure, m.rule, m.cluster)
		if m.decision != "" {
			fmt.Fprintf(&said, `{"a":%q,"b":%q,"decision":%q,"by":"ann","at":"2026-01-01T00:00:00Z"}`+"\n", m.id, m.keeper, m.decision)
		}
	}
	dir := t.TempDir()
	audit, decisions = filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "said.jsonl")
	for path, content := range map[string]string{audit: lines.String(), decisions: said.String()} {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return audit, decisions
}

func makeRows(r *rand.Rand, scored bool) (rows []madeRow) {
	for cluster := range 1 + r.IntN(12) {
		for i := range 1 + r.IntN(6) {
			m := madeRow{id: fmt.Sprintf("c%dm%d", cluster, i), keeper: fmt.Sprint("k", cluster), rule: []string{"first", "longest", "decision"}[r.IntN(3)], cluster: cluster + 1}
			if m.value = float64(r.IntN(20)) / 20; !scored {
				m.value = float64(r.IntN(10))
			}
			if r.IntN(3) == 0 {
				m.decision = []string{"keep", "drop", "allow", "none"}[r.IntN(4)]
			}
			rows = append(rows, m)
		}
	}
	return rows
}

// TestSelection compares the pairs of pages with those of a model, for random audits and flags.
func TestSelection(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(41, seed))
		scored := r.IntN(2) == 0
		rows := makeRows(r, scored)
		audit, decisions := makeAudit(t, r, rows, scored)
		args := []string{audit, "--decisions", decisions}
		from, to, rule, undecided := -1.0, 100.0, "", r.IntN(3) == 0
		if r.IntN(2) == 0 {
			from = rows[r.IntN(len(rows))].value
			args = append(args, fmt.Sprint("--from=", from))
		}
		if r.IntN(2) == 0 {
			to = max(from, rows[r.IntN(len(rows))].value)
			args = append(args, fmt.Sprint("--to=", to))
		}
		if r.IntN(3) == 0 {
			rule = rows[0].rule
			args = append(args, "--of-rule", rule)
		}
		if undecided {
			args = append(args, "--undecided")
		}
		limit, members := 1+r.IntN(8), 1+r.IntN(4)
		args = append(args, fmt.Sprint("--limit=", limit), fmt.Sprint("--members=", members))
		clusters := map[int][]madeRow{}
		for _, m := range rows {
			if m.value >= from && m.value <= to && (rule == "" || m.rule == rule) && (!undecided || m.decision == "" || m.decision == "none") {
				clusters[m.cluster] = append(clusters[m.cluster], m)
			}
		}
		weak := func(a, b madeRow) int {
			if scored {
				return cmp.Compare(a.value, b.value)
			}
			return cmp.Compare(b.value, a.value)
		}
		var all [][]madeRow
		for _, c := range clusters {
			slices.SortFunc(c, func(a, b madeRow) int { return cmp.Or(weak(a, b), cmp.Compare(a.id, b.id)) })
			all = append(all, c)
		}
		slices.SortFunc(all, func(a, b []madeRow) int {
			return cmp.Or(weak(a[0], b[0]), cmp.Compare(len(b), len(a)), cmp.Compare(a[0].keeper, b[0].keeper))
		})
		var want []string
		for _, c := range all[:min(limit, len(all))] {
			for _, m := range c[:min(members, len(c))] {
				want = append(want, m.keeper+" "+m.id)
			}
		}
		p := pageOf(t, args...)
		if got := pairsOf(p); !slices.Equal(got, want) {
			t.Errorf("seed %d, %v:\n%v\nwant\n%v", seed, args, got, want)
		}
		for i, c := range p.Clusters {
			if c.Size != int64(len(all[i]))+1 {
				t.Errorf("seed %d: cluster %d has size %d, want %d", seed, i, c.Size, len(all[i])+1)
			}
			for _, m := range c.Members {
				at := slices.IndexFunc(rows, func(r madeRow) bool { return r.id == m.ID })
				if said := fmt.Sprint(m.Said); rows[at].decision == "" && m.Said != nil || rows[at].decision != "" && said != "[{ann 2026-01-01T00:00:00Z "+rows[at].decision+"}]" {
					t.Errorf("seed %d: about %s was said %s, want %s", seed, m.ID, said, rows[at].decision)
				}
			}
		}
	}
}

// TestSample draws pairs: as many as requested, the same whatever the order of the rows, others with
// another seed, each about equally often.
func TestSample(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 1))
	var rows []madeRow
	for i := range 60 {
		rows = append(rows, madeRow{id: fmt.Sprint("m", i), keeper: fmt.Sprint("k", i/20), rule: "first", cluster: i/20 + 1, value: float64(i%10) / 10})
	}
	audit, _ := makeAudit(t, r, rows, true)
	again, _ := makeAudit(t, r, rows, true)
	times := map[string]int{}
	const seeds, n = 150, 12
	for seed := range seeds {
		flags := []string{"--sample", fmt.Sprint(n), "--seed", fmt.Sprint(seed), "--limit=1", "--members=1"}
		got := pairsOf(pageOf(t, append([]string{audit}, flags...)...))
		if other := pairsOf(pageOf(t, append([]string{again}, flags...)...)); !slices.Equal(got, other) || len(got) != n {
			t.Fatalf("seed %d: %d pairs, %v\nin another order %v", seed, len(got), got, other)
		}
		for _, pair := range got {
			times[pair]++
		}
	}
	for _, m := range rows { // 30 times, with a deviation of 5
		if k := times[m.keeper+" "+m.id]; k < 10 || k > 50 {
			t.Errorf("%s was drawn %d times of %d, not about %d", m.id, k, seeds, seeds*n/len(rows))
		}
	}
	p := pageOf(t, audit, "--sample", "1000", "--from", "0.5")
	if got := pairsOf(p); len(got) != 30 || p.Clusters[0].Size != 11 || !strings.Contains(fmt.Sprint(p.Notices), "30 pairs drawn at random with --seed 1, of 30.") {
		t.Errorf("a sample larger than the audit has %d pairs; size %d; %v", len(got), p.Clusters[0].Size, p.Notices)
	}
}

// TestSampleWithoutRoom says how many pairs of a sample are on a page that has no space for all.
func TestSampleWithoutRoom(t *testing.T) {
	j := &job{sel: Selection{Sample: 6, Seed: 1}, drawn: sampler{n: 6, pairs: 40, all: make([]drawn, 6)}}
	clusters := []Cluster{{Members: make([]Doc, 2)}, {Members: make([]Doc, 3)}, {Members: make([]Doc, 1)}}
	j.tellLeftOut(clusters, 1)
	if got := fmt.Sprint(j.page.Notices); !strings.Contains(got, "shows 2 pairs drawn at random with --seed 1, of 40.") || !strings.Contains(got, "4 pairs are left out") {
		t.Error(got)
	}
}

// TestRowsWithoutRoom gives the texts that have space to the first clusters of the page.
func TestRowsWithoutRoom(t *testing.T) {
	documents, _ := corpus(t)
	db := filepath.Join(filepath.Dir(documents), "x.simdb")
	run(t, parsed[loading.Load](t, db, documents, "--id-field", "meta.key", "--text-field", "parts[].body"))
	j := &job{a: app.NewQuiet(t.Context(), nil), c: parsed[Command](t, "rows.jsonl", db, "-o", "x.html"), rows: &rowsHead{}, room: 1}
	var clusters []Cluster
	for i := 38; i > 4; i -= 2 {
		clusters = append(clusters, Cluster{Keeper: Doc{ID: fmt.Sprint("d", i)}, Members: []Doc{{ID: fmt.Sprint("d", i+1)}}})
	}
	if err := j.readDocuments(clusters); err != nil {
		t.Fatal(err)
	}
	for i := range clusters {
		for n, d := range clusters[i].docs() {
			if (d.Text != nil) != (i+n == 0) || d.Text == nil && !strings.Contains(d.Note, "too large") {
				t.Errorf("document %d of cluster %d: %v, %s", n, i, d.Text, d.Note)
			}
		}
	}
}

// TestForeignScores draws no more bars than there are scores from 0 to 1, whatever the scores of rows.
func TestForeignScores(t *testing.T) {
	of := newTally()
	for i := range 1000 {
		of.add(new(float64(-i)), nil)
		of.add(new(float64(i)), nil)
	}
	for _, score := range []float64{-1e308, 1e308, 0.5} {
		of.add(&score, nil)
	}
	if len(of.scores) != 3 || of.scores[0] != 1002 || of.scores[25] != 1 || of.scores[49] != 1000 {
		t.Error(of.scores)
	}
}

// run runs a command.
func run(t *testing.T, c interface{ Run(*app.App) error }) {
	t.Helper()
	if err := c.Run(app.NewQuiet(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
}

// TestRows reviews rows of clusters like the database that they are of, and rows of pairs and join
// with the texts of each side.
func TestRows(t *testing.T) {
	documents, _ := corpus(t)
	dir := filepath.Dir(documents)
	in := func(name string) string { return filepath.Join(dir, name) }
	read := []string{"--id-field", "meta.key", "--text-field", "parts[].body"}
	db := in("x.simdb")
	run(t, parsed[loading.Load](t, append([]string{db, documents}, read...)...))
	plain := func(p *Page) string { // without places
		for i := range p.Clusters {
			for _, d := range p.Clusters[i].docs() {
				d.Place, d.Rule = "", ""
			}
		}
		b, _ := json.Marshal(p.Clusters)
		return string(b)
	}
	want := plain(pageOf(t, db, "--jaccard", "0.4"))
	if strings.Count(want, `"text":`) != 40 {
		t.Fatalf("the page of the database has %d texts", strings.Count(want, `"text":`))
	}
	ruled := pageOf(t, db, "--rule", "JACCARD >= 0.4")
	if got := pairsOf(ruled); !slices.Equal(got, pairsOf(pageOf(t, db, "--jaccard", "0.4"))) || ruled.Criterion != "Near-duplicates: JACCARD >= 0.4" {
		t.Errorf("by a rule %s: %v", ruled.Criterion, got)
	}
	if got, half := pairsOf(pageOf(t, db, "--jaccard", "0.4", "--sample", "5")), pairsOf(pageOf(t, db, "--jaccard", "0.4", "--to", "0.5")); len(got) != 5 || len(half) == 0 || len(half) >= 28 {
		t.Errorf("a sample of a database: %v; up to 0.5: %v", got, half)
	}
	for _, c := range pageOf(t, db, "--jaccard", "0.4", "--sample", "5").Clusters {
		if n := strings.Count(strings.Join(pairsOf(ruled), "\n")+"\n", c.Keeper.ID+" "); c.Size != int64(n)+1 {
			t.Errorf("the cluster of %s has size %d, not %d", c.Keeper.ID, c.Size, n+1)
		}
	}
	for _, name := range []string{"rows.jsonl", "rows.csv"} {
		run(t, parsed[verbs.Clusters](t, append([]string{documents, "--jaccard", "0.4", "-o", in(name)}, read...)...))
		for _, args := range [][]string{append([]string{in(name), documents}, read...), {in(name), db}} {
			if got := plain(pageOf(t, args...)); got != want {
				t.Errorf("%v:\n%.600s\nwant\n%.600s", args, got, want)
			}
		}
	}
	run(t, parsed[verbs.Pairs](t, append([]string{documents, "--jaccard", "0.4", "-o", in("pairs.jsonl")}, read...)...))
	rows, err := os.ReadFile(in("pairs.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	p := pageOf(t, append([]string{in("pairs.jsonl"), documents}, read...)...)
	if got, n := pairsOf(p), bytes.Count(rows, []byte("\n")); len(got) != n || n < 28 {
		t.Errorf("%d of %d pairs", len(got), n)
	}
	// join of two files with the same ids and other texts, the second compressed
	var second bytes.Buffer
	w := gzip.NewWriter(&second)
	docs := docsOf(t, documents)
	for _, d := range append([]engine.Doc{docs[0], docs[0], {ID: "only here", Text: docs[0].Text}}, docs...) {
		name, _ := json.Marshal(d.ID)
		text, _ := json.Marshal(d.Text + " more")
		fmt.Fprintf(w, `{"key":%s,"also":{"body":%s}}`+"\n", name, text)
	}
	w.Close()
	if err := os.WriteFile(in("second.jsonl.gz"), second.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	both := append([]string{"--id-field-b", "key", "--text-field-b", "also.body"}, read...)
	run(t, parsed[verbs.Join](t, append([]string{documents, in("second.jsonl.gz"), "--rule", "JACCARD >= 0.4", "-o", in("join.jsonl")}, both...)...))
	p = pageOf(t, append([]string{in("join.jsonl"), documents, in("second.jsonl.gz")}, both...)...)
	texts := map[string]string{"only here": docs[0].Text}
	for _, d := range docsOf(t, documents) {
		texts[d.ID] = d.Text
	}
	if got := pairsOf(p); len(got) < 68 || !slices.Contains(got, "d0 only here") {
		t.Errorf("pairs of join: %v", got)
	}
	for _, c := range p.Clusters {
		for _, m := range c.Members {
			if m.Text == nil || c.Keeper.Text == nil || *m.Text != texts[m.ID]+" more" || *c.Keeper.Text != texts[c.Keeper.ID] || m.Adds == "" {
				t.Errorf("%s of the second and %s of the first file have wrong texts", m.ID, c.Keeper.ID)
			}
		}
	}
	// csv has the same rows
	run(t, parsed[verbs.Pairs](t, append([]string{documents, "--jaccard", "0.4", "-o", in("pairs.csv")}, read...)...))
	run(t, parsed[verbs.Join](t, append([]string{documents, in("second.jsonl.gz"), "--rule", "JACCARD >= 0.4", "-o", in("join.csv")}, both...)...))
	if got, want := plain(pageOf(t, append([]string{in("pairs.csv"), documents}, read...)...)), plain(pageOf(t, append([]string{in("pairs.jsonl"), documents}, read...)...)); got != want {
		t.Errorf("pairs in csv:\n%.600s\nwant\n%.600s", got, want)
	}
	if got, want := plain(pageOf(t, append([]string{in("join.csv"), documents, in("second.jsonl.gz")}, both...)...)), plain(p); got != want {
		t.Errorf("join in csv:\n%.600s\nwant\n%.600s", got, want)
	}
	if err := os.WriteFile(in("near.csv"), []byte("a,b,distance\nd\xff,d1,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if c := pageOf(t, in("near.csv")).Clusters[0]; c.Keeper.ID != "d\ufffd" || c.Members[0].Distance == nil || *c.Members[0].Distance != 3 {
		t.Errorf("a row of csv: %+v", c)
	}
	if p := pageOf(t, in("join.jsonl")); !strings.Contains(fmt.Sprint(p.Notices), "Texts are missing") {
		t.Errorf("rows alone: %v", p.Notices)
	}
}

// TestWrongRows reports rows and arguments that cannot be reviewed, with their places.
func TestWrongRows(t *testing.T) {
	dir := t.TempDir()
	in := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	docs := in("docs.jsonl", `{"id":"x","text":"some words"}`+"\n")
	head := `{"simdb":"0.2.0","parameters":{},"inputs":[]}` + "\n"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{docs}, "is neither a database"},
		{[]string{in("empty.jsonl", "")}, "is empty"},
		{[]string{in("a.jsonl", `{"a":"x","b":"y","score":1}`+"\n{")}, "a.jsonl:2: "},
		{[]string{in("b.jsonl", `{"a":"x","b":"y","score":1}`+"\n"+`{"a":"x"}`)}, "b.jsonl:2: the row does not name two documents"},
		{[]string{in("c.csv", "cluster,id,keep,score\n1,x,false,1\n")}, "c.csv:2: no row before it is the document to keep of cluster 1"},
		{[]string{in("d.csv", "a,b,score\nx,y\n")}, "d.csv: record on line 2: wrong number of fields"},
		{[]string{in("k.csv", "a,b,distance,score\nx,y,,0.9\nx,y,70000,0.9\n")}, `k.csv:3: distance: "70000" is not a valid value`},
		{[]string{in("l.csv", "\ufeffcluster,id,keep\n1,x,true\n\n1,y,no\n")}, `l.csv:4: keep: "no" is not a valid value`},
		{[]string{in("e.csv", "query,id,score\nx,y,0.9\n"), docs}, "rows of join need the two arguments of join"},
		{[]string{in("f.jsonl", head), docs}, "f.jsonl is an audit, which says where the documents are: leave out"},
		{[]string{in("g.jsonl", head), "--near", "3"}, "other criteria are for a database"},
		{[]string{in("h.jsonl", head), "--rule", "JACCARD >= 0.5"}, "other criteria are for a database"},
		{[]string{in("i.jsonl", head), "--decisions", filepath.Join(dir, "none.jsonl")}, "none.jsonl: no such file"},
		{[]string{in("j.jsonl", head), "--decisions", docs}, "docs.jsonl:1: a decision needs the ids of two documents"},
	} {
		cmd := parsed[Command](t, append([]string{"-o", "unused.html"}, c.args...)...)
		_, err := cmd.build(app.NewQuiet(t.Context(), nil), cmd.Selection, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.args, err, c.want)
		}
	}
}

// TestSaid shows the last decision of each reviewer, the one that holds last.
func TestSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "said.jsonl")
	lines := `{"a":"m","b":"k","decision":"drop","by":"ann","at":"2026-01-01T12:00:00Z"}
{"a":"k","b":"m","decision":"allow","by":"bob","at":"2026-01-01T11:00:00Z"}
{"a":"m","b":"k","decision":"keep","by":"ann","at":"2026-01-01T10:00:00+00:00"}
{"a":"m","b":"k","decision":"keep"}
`
	if err := os.WriteFile(path, []byte(lines), 0o666); err != nil {
		t.Fatal(err)
	}
	j := &job{a: app.NewQuiet(t.Context(), nil)}
	if err := (&Command{Decisions: path}).readHistory(j); err != nil {
		t.Fatal(err)
	}
	c := []Cluster{{Keeper: Doc{ID: "k"}, Members: []Doc{{ID: "m"}, {ID: "n"}}}}
	j.said.attach(c)
	if got := fmt.Sprint(c[0].Members[0].Said, c[0].Members[1].Said); got != "[{  keep} {bob 2026-01-01T11:00:00Z allow} {ann 2026-01-01T12:00:00Z drop}] []" {
		t.Error(got)
	}
	if j.said.decision("k", "m") != dedup.DecisionDrop || j.said.decision("k", "n") != dedup.DecisionNone {
		t.Error("another decision holds")
	}
	for data, want := range map[string]string{"kept.audit.jsonl": "kept.audit.decisions.jsonl", "x.simdb/": "x.simdb.decisions.jsonl", "d/rows.csv.gz": "d/rows.decisions.jsonl"} {
		if got := (&Command{Data: data}).decisionsPath(); got != want {
			t.Errorf("decisions of %s go to %s, want %s", data, got, want)
		}
	}
}
