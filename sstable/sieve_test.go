package sstable

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable/internal/keyrun"
	"github.com/simdb/simdb/sstable/internal/pages"
	"github.com/simdb/simdb/sstable/internal/sieve"
)

// sievedParams and sievedOptions are those of small tables with a sieve.
var (
	sievedParams  = Params{Tokenizer: 1, Shingle: 3, Hash: 1, Seed: 42, MinJaccard: 0.65, Layout: sievedLayout}
	sievedOptions = WriterOptions{sieved: 1}
)

// flippedIn returns fp with a bit flipped in each block of the layout 3:1.
func flippedIn(r *rand.Rand, fp uint64) uint64 {
	return fp ^ 1<<(42+r.IntN(22)) ^ 1<<(21+r.IntN(21)) ^ 1<<r.IntN(21)
}

// sievedDocs returns documents of which a third are within a few bits of another one, most of them
// with a difference in each block.
func sievedDocs(r *rand.Rand, input, n int) []Document {
	docs := make([]Document, n)
	for i := range docs {
		fp := r.Uint64()
		if i > 0 && i%3 == 0 {
			fp = docs[r.IntN(i)].Fingerprint
			if r.IntN(4) == 0 {
				for range r.IntN(4) {
					fp ^= 1 << r.IntN(64)
				}
			} else {
				fp = flippedIn(r, fp)
			}
		}
		docs[i] = Document{ID: fmt.Appendf(nil, "%d-%d", input, i), HasFingerprint: true, Fingerprint: fp, Seq: uint64(input*n + i + 1)}
	}
	return sortedDocs(docs)
}

// checkSieved compares searches in tables with brute force, within the sieve's distance and others.
func checkSieved(t *testing.T, r *rand.Rand, s *NearSearcher, tables ...*Reader) {
	t.Helper()
	var fps []uint64
	var of []int // the table of each
	for i, table := range tables {
		for doc := range table.NumFingerprints() {
			fp, _, err := table.Fingerprint(doc)
			if err != nil {
				t.Fatal(err)
			}
			fps, of = append(fps, fp), append(of, i)
		}
	}
	queries := make([]uint64, 100)
	for i := range queries {
		switch queries[i] = fps[r.IntN(len(fps))]; i % 4 {
		case 0:
			queries[i] ^= 1 << r.IntN(64)
		case 1, 2:
			queries[i] = flippedIn(r, queries[i])
		}
	}
	for _, k := range []int{3, 2, 4, 3} { // at last all that it needs has been checked
		for _, q := range queries {
			var got, want []string
			for i, fp := range fps {
				if d := bits.OnesCount64(fp ^ q); d <= k {
					want = append(want, fmt.Sprintf("%d %016x %d", of[i], fp, d))
				}
			}
			err := s.NearGroup(tables, q, k, func(table int, hits []Hit, _ NearStats) error {
				for _, h := range hits {
					got = append(got, fmt.Sprintf("%d %016x %d", table, h.Fingerprint, h.Distance))
					if fp, _, err := tables[table].Fingerprint(h.Doc); err != nil || fp != h.Fingerprint {
						t.Errorf("document %d has %016x, not %016x: %v", h.Doc, fp, h.Fingerprint, err)
					}
				}
				return nil
			})
			slices.Sort(got)
			slices.Sort(want)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("NEAR(%016x, %d) finds %v, not %v; %v", q, k, got, want, err)
			}
			if found, err := s.NearFirst(tables, q, k, func(int, Hit) (bool, error) { return true, nil }); err != nil || found != (len(want) > 0) {
				t.Fatalf("NEAR(%016x, %d): the first is found %v, %v", q, k, found, err)
			}
		}
	}
}

// TestSieve writes tables with a sieve in each way, and searches them, alone and together.
func TestSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 3))
	const n = 50_000
	docs := sievedDocs(r, 1, n)
	data, _ := buildTable(t, sievedParams, sievedOptions, docs)
	written := openTable(t, data)

	var buf bytes.Buffer
	w, err := NewBatchWriter(t.Context(), &buf, sievedParams, BatchOptions{WriterOptions: sievedOptions, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	b := batchOf(1, docs)
	addRecordsOf(t, w, b, docs, n)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	batch := openTable(t, buf.Bytes())
	if a, b := sieveBytes(written), sieveBytes(batch); len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("of a batch the sieve is another: %d and %d bytes", len(a), len(b))
	}

	// A table that is merged from some in other layouts, without some documents.
	var inputs []MergeInput
	for i, l := range []Layout{sievedLayout, {Blocks: 4, Lead: 1}, {Blocks: 5, Lead: 2}} {
		p := sievedParams
		p.Layout = l
		data, _ := buildTable(t, p, sievedOptions, sievedDocs(r, 2+i, n/2))
		inputs = append(inputs, MergeInput{Reader: openTable(t, data)})
		if i > 0 {
			inputs[i].Keep = func(doc uint32) (bool, error) { return doc%5 != uint32(i), nil }
		}
	}
	var merged [2]bytes.Buffer
	for i := range merged {
		if _, _, err := Merge(t.Context(), &merged[i], sievedParams, inputs, MergeOptions{WriterOptions: sievedOptions, Workers: 1 + i}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(merged[0].Bytes(), merged[1].Bytes()) {
		t.Error("two workers write other bytes")
	}
	tables := []*Reader{written, batch, openTable(t, merged[0].Bytes())}
	s := new(NearSearcher)
	for i, table := range tables {
		if table.sieve == nil {
			t.Fatalf("table %d has no sieve", i)
		}
		if err := table.Verify(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		checkSieved(t, r, s, table)
		p, err := s.Plan(table, r.Uint64(), 3)
		if err != nil || p.Probes < 3 || p.Probes > 20 {
			t.Errorf("table %d: %v, %v", i, p, err)
		}
	}
	none, _ := buildTable(t, sievedParams, WriterOptions{}, docs)
	checkSieved(t, r, s, append(tables, openTable(t, none))...)
}

// sieveBytes returns the pages of a sieve.
func sieveBytes(r *Reader) []byte {
	s := r.section(KindSieve, 0)
	return bytes.TrimLeft(r.bytes(s), "\x00")
}

// TestSieveOfHotLeads searches tables in which some leads have most of the fingerprints.
func TestSieveOfHotLeads(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 4))
	docs := sievedDocs(r, 1, 40_000)
	for i := range docs {
		switch i % 4 {
		case 0:
			docs[i].Fingerprint = docs[i].Fingerprint&(1<<21-1) | 0x123456789<<21
		case 1:
			docs[i].Fingerprint = docs[i].Fingerprint&^(1<<42-1) | 0x1234567
		}
	}
	data, _ := buildTable(t, sievedParams, sievedOptions, sortedDocs(docs))
	checkSieved(t, r, new(NearSearcher), openTable(t, data))
}

// TestColdSieve searches a table of which nothing is in memory. Pages of the sieve are fetched, and
// with it a search fetches less than without.
func TestColdSieve(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no advice to be taken")
	}
	docs := sievedDocs(rand.New(rand.NewPCG(31, 9)), 1, 100_000)
	var touched [2]int
	for i, o := range []WriterOptions{{}, sievedOptions} {
		data, _ := buildTable(t, sievedParams, o, docs)
		path := filepath.Join(t.TempDir(), "a.sst")
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		table, f := openCounted(t, path, false, pages.Limits{Small: 1, Budget: 1})
		opened := f.advice[vfs.AdviseFetch]
		r, s := rand.New(rand.NewPCG(31, 10)), new(NearSearcher)
		for range 20 {
			if _, err := s.Near(table, r.Uint64(), 3, nil); err != nil {
				t.Fatal(err)
			}
		}
		touched[i] = f.advice[vfs.AdviseFetch] - opened
		checkSieved(t, r, s, table)
	}
	if touched[0] < 20*20 || touched[1] > touched[0]*2/3 {
		t.Errorf("20 searches fetch %d ranges with a sieve, and %d without", touched[1], touched[0])
	}
}

// TestSieveBatch searches for few queries, and for many, at once.
func TestSieveBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 5))
	data, _ := buildTable(t, sievedParams, sievedOptions, sievedDocs(r, 1, 50_000))
	table, s := openTable(t, data), new(NearSearcher)
	for _, n := range []int{3, 20_000} {
		queries := make([]uint64, n)
		for i := range queries {
			fp, _, err := table.Fingerprint(r.Uint32N(table.NumFingerprints()))
			if err != nil {
				t.Fatal(err)
			}
			queries[i] = flippedIn(r, fp)
		}
		found := make(map[int]int)
		err := s.NearBatch(t.Context(), table, queries, 3, func(query int, h Hit) error {
			found[query]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range queries {
			if hits, err := s.Near(table, q, 3, nil); err != nil || len(hits) != found[i] || len(hits) == 0 {
				t.Fatalf("query %d of %d finds %d alone and %d in a batch, %v", i, n, len(hits), found[i], err)
			}
		}
	}
}

// TestDamagedSieve flips bytes of a sieve: searches find what they did without it, Verify notices,
// and salvaging loses nothing.
func TestDamagedSieve(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 6))
	docs := sievedDocs(r, 1, 30_000)
	data, _ := buildTable(t, sievedParams, sievedOptions, docs)
	for _, s := range openTable(t, data).info.Sections {
		if s.Kind&^dirFlag != KindSieve {
			continue
		}
		for _, at := range []int64{0, s.Length / 2, s.Length - 1} {
			damaged := bytes.Clone(data)
			damaged[s.Offset+at] ^= 4
			if err := verifyError(t, damaged); !typed(err) {
				t.Errorf("%s, byte %d: %v", s.Name(), at, err)
			}
			if s.Kind == KindSieve {
				checkSieved(t, r, new(NearSearcher), openTable(t, damaged))
			}
			if got, _, _, err := salvage(t, damaged, SalvageOptions{}); len(got) != len(docs) {
				t.Errorf("%s, byte %d: %d documents of %d, %v", s.Name(), at, len(got), len(docs), err)
			}
		}
	}
}

// TestSieveRefused has tables whose sieve can't be theirs, with good checksums.
func TestSieveRefused(t *testing.T) {
	r := openTable(t, first(buildTable(t, sievedParams, sievedOptions, sievedDocs(rand.New(rand.NewPCG(31, 7)), 1, 2000))))
	made := func(n int, fps ...uint64) map[Kind][]byte {
		b := sieve.NewBuilder(n)
		for block := range r.runs[0].NumBlocks() {
			for i := range r.runs[0].Count(block) {
				fp, err := r.runs[0].Key(block<<keyrun.BlockShift + i)
				if err != nil {
					t.Fatal(err)
				}
				b.Add([]uint64{fp})
			}
		}
		b.Add(fps)
		var body bytes.Buffer
		dir, err := b.WriteTo(&body, r.section(KindSieve, 0).Offset)
		if err != nil {
			t.Fatal(err)
		}
		return map[Kind][]byte{KindSieve: body.Bytes(), KindSieve | dirFlag: dir}
	}
	counts := map[Kind]uint64{KindSieve: 1999, KindSieve | dirFlag: 1999}
	checkRefused(t, "as it was", rebuilt(r, 2, made(2000), nil), "")
	checkRefused(t, "a fingerprint more", rebuilt(r, 2, made(2000, 7, 77, 777), nil), "sieve")
	checkRefused(t, "of another size", rebuilt(r, 2, made(40_000_000), nil), "sieve")
	checkRefused(t, "of fewer", rebuilt(r, 2, nil, counts), "sieve")
	checkRefused(t, "no pages", rebuilt(r, 2, map[Kind][]byte{KindSieve: nil}, nil), "sieve")
	checkRefused(t, "no directory", rebuilt(r, 2, map[Kind][]byte{KindSieve | dirFlag: nil}, nil), "sieve")
	for name, kinds := range map[string][]Kind{"without": {KindSieve, KindSieve | dirFlag}, "without its directory": {KindSieve | dirFlag}} {
		without := withSections(t, r.data, func(all []Section, _ int64) []Section {
			for i := range all {
				if slices.Contains(kinds, all[i].Kind) {
					all[i].Kind = kindUnknown + Kind(i) // as programs see it that do not know the kind
				}
			}
			return all
		})
		want := "directory"
		if name == "without" {
			want = ""
		}
		checkRefused(t, name, without, want)
	}
}

func first(data []byte, _ Info) []byte { return data }

// TestSieveStops ends a merge while the sieve is made.
func TestSieveStops(t *testing.T) {
	data, _ := buildTable(t, sievedParams, sievedOptions, sievedDocs(rand.New(rand.NewPCG(31, 8)), 1, 5000))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := MergeOptions{WriterOptions: sievedOptions}
	defer func(steps []func(*merger) error) { mergeSteps = steps }(mergeSteps)
	mergeSteps = slices.Insert(slices.Clone(mergeSteps), len(mergeSteps)-2, func(*merger) error { // before the sieve
		cancel()
		return nil
	})
	if _, _, err := Merge(ctx, &bytes.Buffer{}, sievedParams, []MergeInput{{Reader: openTable(t, data)}}, o); err == nil {
		t.Error("the merge goes on")
	}
}
