package fuzz

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// listing lists pairs and clusters of a file.
func (b *batch) listing() {
	ctx, env, by := context.Background(), &inputs.Env{}, b.criterion()
	order := b.ordinals()
	r := b.relation(by, order)
	src := must(env.New(ctx, []string{b.write("in", b.docs, b.n)}, inputs.Options{}))(b.t)
	mode := pick(b.c, false, true)
	list := dedup.Listing{By: by.by, Components: mode, Compared: b.compared(by), Memory: 1 << 24, TempDir: b.dir}
	if by.size == nil {
		list.Across, list.WithinField = b.groups(r, order)
	}
	l := must(list.Open(ctx, env, src))(b.t)
	var pairs []pair
	for _, p := range collect(b.t, l.Pairs(ctx)) {
		pairs = append(pairs, pair{p.A, p.B, scoreOf(p.Match, by.near())})
	}
	same(b.t, pairs, r.pairs(), "listed pairs by %v", by.by)
	if n, err := l.CountPairs(ctx); err != nil || n != int64(len(pairs)) {
		b.t.Fatalf("%d pairs counted, %v; want %d", n, err, len(pairs))
	}
	keepers := r.stars()
	if mode {
		keepers = r.components()
	}
	members, err := membersOf(l.Clusters(ctx), by)
	check(b.t, err)
	same(b.t, members, r.clusters(keepers), "listed clusters by %v, mode %v", by.by, mode)
	check(b.t, l.Close(nil))
}

func (b *batch) ordinals() (order []int) {
	for i := range b.docs {
		order = append(order, i)
	}
	return order
}

// stored puts the first half of the documents into a database, and the others into a file.
func (b *batch) stored(env *inputs.Env) (*inputs.Stored, *inputs.Sources) {
	path, half := b.dir+"/x.simdb", len(b.docs)/2
	if b.c.once(3) && half > 0 { // a document of the file has the ID of a stored one
		b.docs[half].id = b.docs[0].id
	}
	file, format := b.write("new", b.docs[half:], b.n[half:]), `{"n":%d}`
	if !strings.HasSuffix(file, ".jsonl") {
		format = `{"n":"%d"}` // as in a table
	}
	db := must(create(path, *b.m.o))(b.t)
	for i := range b.docs[:half] {
		d := b.docs[i]
		if b.n[i] >= 0 {
			d.fields = fmt.Sprintf(format, b.n[i])
		}
		check(b.t, db.Put(context.Background(), d.given()))
	}
	check(b.t, db.Close())
	maps.DeleteFunc(b.m.docs, func(_ string, d doc) bool { return d.seq > uint64(half) })
	s := must(env.OpenStored(path, inputs.Access{Write: true}))(b.t)
	b.t.Cleanup(func() {
		var err error
		s.Close(&err)
		check(b.t, err)
	})
	return s, must(env.New(context.Background(), []string{file}, inputs.Options{}))(b.t)
}

// join finds the stored documents that resemble the documents of a file.
func (b *batch) join() {
	ctx, env, by := context.Background(), &inputs.Env{}, b.criterion()
	db, src := b.stored(env)
	read := records.Options{Need: records.NeedDoc}
	o := dedup.JoinOptions{By: by.by, Memory: 1 << 20, Stored: db, Read: read, Across: pick(b.c, "", "", "n")}
	if half := len(b.n) / 2; slices.Max(b.n[:half]) < 0 || slices.Max(b.n[half:]) < 0 {
		o.Across = ""
	}
	j := must(dedup.NewJoin(ctx, env, src, o))(b.t)
	defer j.Close()
	type row struct {
		query string
		found found
	}
	var got, want []row
	for _, rows := range collect(b.t, j.Rows(ctx)) {
		for _, r := range rows {
			got = append(got, row{r.Query, found{r.ID, scoreOf(r.Match, by.near())}})
		}
	}
	for i, d := range b.docs[len(b.docs)/2:] {
		query := doc{text: d.text} // with an ID that does not count
		for _, f := range b.m.matches(&query, by) {
			at := slices.IndexFunc(b.docs, func(d doc) bool { return d.id == f.id })
			if o.Across == "" || b.n[at] != b.n[len(b.docs)/2+i] {
				want = append(want, row{d.id, f})
			}
		}
	}
	same(b.t, got, want, "join by %v", by.by)
}

// match finds the documents of a file that resemble no stored one, and may store them.
func (b *batch) match() {
	ctx, env, by := context.Background(), &inputs.Env{}, b.criterion()
	db, src := b.stored(env)
	var got, want []string
	fresh := 0
	o := dedup.MatchOptions{By: by.by, Add: b.c.once(2), Named: true, Memory: 1 << 20, Read: records.Options{Need: records.NeedDoc},
		Known: func(rec *records.Record, n engine.Novelty) error {
			got = append(got, rec.Doc.ID+" "+n.Match.ID)
			return nil
		}}
	m, err := dedup.NewMatch(ctx, env, src, db.DB, o)
	if err == nil {
		err = m.Run(ctx)
	}
	m.Close(err)
	check(b.t, err)
	h := history{t: b.t, c: b.c, m: b.m}
	for _, d := range b.docs[len(b.docs)/2:] {
		old, was := b.m.docs[d.id]
		query := doc{text: d.text}
		if o.Add { // it would replace the document with its ID
			query.id = d.id
		}
		others := h.others(query, by)
		switch {
		case o.Add && was && h.sent(old, d):
			want = append(want, d.id+" "+d.id)
		case len(others) > 0:
			best := others[0].id
			for _, f := range others {
				if len(others) > 32 && len(want) < len(got) && got[len(want)] == d.id+" "+f.id {
					best = f.id // it names the best of the first ones found
				}
			}
			want = append(want, d.id+" "+best)
		default:
			if fresh++; o.Add {
				b.m.put(d)
			}
		}
	}
	same(b.t, got, want, "known by %v, add %t", by.by, o.Add)
	if m.Fresh != int64(fresh) {
		b.t.Fatalf("%d new documents by %v, want %d", m.Fresh, by.by, fresh)
	}
}

// lines removes lines or paragraphs that have occurred before.
func (b *batch) lines() {
	level, end := dedup.Line, "\n"
	if b.c.once(2) {
		level, end = dedup.Paragraph, "\n\n"
	}
	for i := range b.docs {
		var units []string
		for range 1 + b.c.n(4) {
			units = append(units, strings.ReplaceAll(b.c.text(b.texts()), "\n", " "))
		}
		b.docs[i].text = strings.Join(units, end)
		if strings.TrimSpace(b.docs[i].text) == "" || strings.ContainsAny(b.docs[i].text, "\x00\r") {
			b.docs[i].text = "one"
		}
	}
	least := 1 + b.c.n(3)
	j := dedup.Job{Level: level, DryRun: true, NoAudit: true, Memory: 1 << 20, TempDir: b.dir, MinCount: pick(b.c, 0, 3)}
	j.Compared.Features.MinWords = least
	known := 0
	if b.c.once(3) { // what is in the documents of Against has occurred before, however rare it is
		known = b.c.n(len(b.docs))
		j.Against = []string{b.write("known", b.docs[:known], b.n[:known])}
	}
	left := map[string]string{}
	j.Cut = func(rec *records.Record, text string) { left[rec.Doc.ID] = plain(text) }
	_, err := j.Write(context.Background(), &inputs.Env{}, []string{b.write("in", b.docs[known:], b.n[known:])})
	check(b.t, err)
	times, seen, old := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, d := range b.docs {
		for unit := range strings.SplitSeq(d.text, end) {
			times[plain(unit)]++
			old[plain(unit)] = old[plain(unit)] || i < known
		}
	}
	for _, d := range b.docs[known:] {
		var stay []string
		for unit := range strings.SplitSeq(d.text, end) {
			k := plain(unit)
			if len(wordsOf(unit)) < least || !old[k] && (!seen[k] || times[k] < max(2, j.MinCount)) {
				seen[k] = true
				stay = append(stay, unit)
			}
		}
		got, changed := left[d.id]
		if want := plain(strings.Join(stay, end)); changed && got != want || !changed && len(stay) < strings.Count(d.text, end)+1 {
			b.t.Fatalf("%+v: of %q there is %q, %t; want %q", j, d.text, got, changed, want)
		}
	}
}

// plain returns the compared part of a line: its folded characters, and where blanks are.
func plain(text string) string { return strings.Join(strings.Fields(foldOf(text)), " ") }
