package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/simdb/simdb/internal/corpora"
	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/internal/vfs/vfstest"
)

// A corpus is documents in shards that are added one by one, with deletes after some shards.
type corpus struct {
	shards  [][]Doc
	deletes map[int][]string // IDs to delete after each shard
}

// licences returns the example texts in shards, not in the order of IDs. Some are in two shards.
func licences(t *testing.T) corpus {
	t.Helper()
	var docs []Doc
	for i, d := range corpora.Docs(t, "../examples/licenses.jsonl.gz") {
		docs = append(docs, Doc{ID: d.ID, Text: d.Text, Fields: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))})
	}
	if len(docs) < 700 {
		t.Fatal(len(docs))
	}
	return shuffled(docs, 4, 1)
}

// families returns short texts that were derived from each other, some duplicated, and some without
// words.
func families(n int) corpus {
	r := rand.New(rand.NewPCG(6, 6))
	var docs []Doc
	var words []string
	for i := range n {
		if i%8 == 0 {
			words = nil
			for range 12 + r.IntN(20) {
				words = append(words, fmt.Sprintf("w%d", r.IntN(300)))
			}
		}
		text := slices.Clone(words)
		if r.IntN(4) > 0 {
			text[r.IntN(len(text))] = "other"
		}
		d := Doc{ID: fmt.Sprintf("f-%x", r.Uint32()), Text: strings.Join(text, " ")}
		if r.IntN(20) == 0 {
			d.Text = " "
		}
		docs = append(docs, d)
	}
	return shuffled(docs, 5, 2)
}

// shuffled distributes documents over shards. A tenth of each shard is repeated in the next, and
// some documents are deleted in between.
func shuffled(docs []Doc, shards int, seed uint64) corpus {
	r := rand.New(rand.NewPCG(seed, 8))
	r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	c := corpus{deletes: map[int][]string{}}
	for s := range shards {
		shard := slices.Clone(docs[s*len(docs)/shards : (s+1)*len(docs)/shards])
		if s > 0 {
			for i := range c.shards[s-1] {
				if d := c.shards[s-1][i]; r.IntN(10) == 0 {
					d.Text = "again, changed: " + d.Text
					shard = slices.Insert(shard, r.IntN(len(shard)), d)
				}
			}
		}
		for i := range shard {
			shard[i].Time = time.Unix(int64(1_700_000_000+1000*s+i), 0)
			if r.IntN(30) == 0 && s%2 == 1 {
				c.deletes[s] = append(c.deletes[s], shard[i].ID)
			}
		}
		c.shards = append(c.shards, shard)
	}
	return c
}

// loadDocs loads into tables of a few dozen documents each.
func loadDocs(t testing.TB, db *DB, docs []Doc, replace bool) LoadStats {
	t.Helper()
	l, err := db.NewLoader(context.Background(), &LoadOptions{Replace: replace, MemoryBytes: 200_000, Workers: 2})
	must.Do(t, err)
	for _, d := range docs {
		if err := l.Add(d); err != nil && (replace || !errors.Is(err, ErrExists)) {
			t.Fatal(err)
		}
	}
	stats, err := l.Close()
	must.Do(t, err)
	return stats
}

func deleteAll(t testing.TB, db *DB, ids []string) {
	t.Helper()
	var b Batch
	for _, id := range ids {
		b.Delete(id)
	}
	must.Do(t, db.Apply(context.Background(), &b))
}

// inOrder sorts documents by sequence number, which must be unique.
func inOrder(t testing.TB, es []entry) []entry {
	t.Helper()
	slices.SortFunc(es, func(a, b entry) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := 1; i < len(es); i++ {
		if es[i-1].Seq == es[i].Seq {
			t.Fatalf("%s and %s have the same sequence number %d", es[i-1].ID, es[i].ID, es[i].Seq)
		}
	}
	return es
}

// everything returns the answers of a database as text: its documents in the order of writing, and
// the results of all searches and joins.
func everything(t testing.TB, db *DB) []string {
	t.Helper()
	ctx := context.Background()
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	es := collect(t, entriesOf(ctx, db, Range{}))
	for i, e := range inOrder(t, es) {
		d := must.Get(db.Get(ctx, e.ID))(t)
		say("document %d: %s %s %q %v %v %x", i, d.ID, d.Text, d.Fields, d.Time.UnixMicro(), e.HasFingerprint, e.Fingerprint)
		if i%7 == 0 {
			say("near %s: %v", e.ID, collect(t, db.Near(ctx, e.Fingerprint, 8)))
			say("jaccard %s: %v", e.ID, collect(t, db.Jaccard(ctx, Doc{Text: d.Text}, 0.7)))
		}
	}
	for _, by := range []Criterion{Near(3), Near(8), Jaccard(0.8).Estimated()} {
		for _, p := range collect(t, db.Pairs(ctx, by, nil)) {
			say("pair %v: %v", by, p)
		}
		for _, mode := range []bool{false, true} {
			for _, m := range collect(t, db.Clusters(ctx, by, &ClusterOptions{Components: mode})) {
				say("cluster %v, %t: %v", by, mode, m)
			}
		}
	}
	return out
}

// TestIngestEqualsLoad makes a database by loading shards, and others by loading them elsewhere,
// packing and ingesting: all answers must be equal, also after a second pack, merging, reopening,
// and a power cut.
func TestIngestEqualsLoad(t *testing.T) {
	corpora := map[string]corpus{"licences": licences(t), "families": families(600)}
	for name, c := range corpora {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			mem := vfstest.NewMem(hostDir(t))
			opts := &Options{fs: mem}
			open := func(fs vfs.FS, path string) *DB {
				o := *opts
				o.fs = fs
				db := open4test(t, path, &o)
				return db
			}
			loaded := open(mem, "/loaded")
			ingested := open(mem, "/ingested")
			put(t, ingested, "gone", 1) // makes the sequence numbers differ
			deleteAll(t, ingested, []string{"gone"})
			for i, shard := range c.shards {
				path := fmt.Sprintf("/shard%d", i)
				db := open(mem, path)
				loadDocs(t, db, shard, true)
				loadDocs(t, loaded, shard, true)
				must.Do(t, db.Pack(ctx, path+".sst", nil))
				must.Do(t, ingested.Ingest(ctx, path+".sst"))
				deleteAll(t, loaded, c.deletes[i])
				deleteAll(t, ingested, c.deletes[i])
			}
			want := everything(t, loaded)
			equal(t, "ingested", everything(t, ingested), want)
			equal(t, "after a power cut", everything(t, open(mem.CrashClone(0, 1), "/ingested")), want)
			must.Do(t, ingested.Pack(ctx, "/second.sst", nil))
			equal(t, "second pack", everything(t, open(mem, "/second.sst")), want)
			second := open(mem, "/second")
			must.Do(t, second.Ingest(ctx, "/second.sst"))
			equal(t, "second pack, ingested", everything(t, second), want)
			must.Do(t, ingested.Compact(ctx, nil))
			equal(t, "merged", everything(t, ingested), want)
			must.Do(t, ingested.Close())
			equal(t, "reopened", everything(t, open(mem, "/ingested")), want)
		})
	}
}

// tableOf writes a table of documents with these sequence numbers.
func tableOf(t *testing.T, path string, params table.Params, seqs ...uint64) {
	t.Helper()
	f, err := os.Create(path)
	must.Do(t, err)
	w, err := table.NewWriter(f, params, table.WriterOptions{})
	for i, seq := range seqs {
		if err == nil {
			err = w.Add(&table.Document{ID: fmt.Append(nil, filepath.Base(path), i), Fingerprint: uint64(i), HasFingerprint: true, Seq: seq})
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	must.Do(t, errors.Join(err, f.Close()))
}

// TestIngestNumbers ingests tables with arbitrary sequence numbers: the order within each is
// preserved, all are numbered after earlier writes, and a table that would exhaust the numbers is
// refused.
func TestIngestNumbers(t *testing.T) {
	ctx := context.Background()
	db, path := create4test(t, &Options{NoSketch: true, DisableAutoCompaction: true})
	put(t, db, "before", 1)
	dir := t.TempDir()
	seqs := map[string][]uint64{
		"zero": {3, 0, 1}, "top": {math.MaxUint64, math.MaxUint64 - 2, math.MaxUint64 - 1}, "wide": {5, 5 + 1<<60}, "empty": {},
	}
	want := []string{"before"}
	for _, name := range []string{"zero", "top", "empty", "wide"} {
		tableOf(t, filepath.Join(dir, name), db.s.Params.ForTable(int64(len(seqs[name]))<<30), seqs[name]...)
		must.Do(t, db.Ingest(ctx, filepath.Join(dir, name)))
		order := slices.Sorted(slices.Values(seqs[name]))
		for _, seq := range order {
			want = append(want, fmt.Sprint(name, slices.Index(seqs[name], seq)))
		}
	}
	for name, numbers := range map[string][]uint64{"all": {0, math.MaxUint64}, "too many": {1, 1 << 62}} {
		files := listed(t, path)
		tableOf(t, filepath.Join(dir, name), db.s.Params.ForTable(1), numbers...)
		if err := db.Ingest(ctx, filepath.Join(dir, name)); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprint(numbers[1])) {
			t.Errorf("%s: %v", name, err)
		}
		equal(t, "files after a refusal", listed(t, path), files)
	}
	put(t, db, "after", 2)
	want = append(want, "after")
	byNumber := func() (ids []string) {
		for _, e := range inOrder(t, collect(t, entriesOf(ctx, db, Range{}))) {
			ids = append(ids, e.ID)
		}
		return ids
	}
	equal(t, "order", byNumber(), want)
	must.Do(t, db.Close())
	db, err := Open(path, nil)
	must.Do(t, err)
	defer db.Close()
	equal(t, "order, reopened", byNumber(), want)
	must.Do(t, db.Compact(ctx, nil))
	equal(t, "order, merged", byNumber(), want)
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	files := must.Get(os.ReadDir(dir))(t)
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

// TestIngestDamaged flips a bit in every kilobyte of a table: Ingest must refuse the whole table
// and leave no data behind.
func TestIngestDamaged(t *testing.T) {
	ctx := context.Background()
	from, _ := create4test(t, nil)
	for i := range 50 {
		must.Do(t, from.Put(ctx, Doc{ID: fmt.Sprint(i), Text: strings.Repeat(fmt.Sprintf("some text of %d ", i*i), 20)}))
	}
	packed := filepath.Join(t.TempDir(), "packed.sst")
	must.Do(t, from.Pack(ctx, packed, nil))
	whole := must.Get(os.ReadFile(packed))(t)
	db, path := create4test(t, nil)
	put(t, db, "7", 7)
	files := listed(t, path)
	for at := 16; at < len(whole); at += 1000 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x10
		file := filepath.Join(t.TempDir(), "damaged.sst")
		must.Do(t, os.WriteFile(file, damaged, 0o600))
		if err := db.Ingest(ctx, file); !errors.Is(err, ErrCorruption) {
			t.Errorf("byte %d flipped: %v", at, err)
		}
		equal(t, "documents", ids(t, db), []string{"7"})
		equal(t, "files", listed(t, path), files)
	}
	if err := db.Ingest(ctx, packed); err != nil || len(ids(t, db)) != 50 {
		t.Fatal(len(ids(t, db)), err)
	}
}
