package merge

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/write"
)

// tableOf returns a table of documents with these fingerprints, except for the last ones, which
// have none.
func tableOf(t *testing.T, fps []uint64, bare int) *format.Table {
	t.Helper()
	b := &write.Batch{Fingerprints: fps, Bare: make([]uint64, len(fps)/64+1), Strings: &write.Arena{}}
	for i := range fps {
		b.IDs = append(b.IDs, b.Strings.Add(fmt.Append(nil, i)))
		if i >= len(fps)-bare {
			b.Bare[i/64] |= 1 << (i % 64)
		}
	}
	var out bytes.Buffer
	w, err := write.NewBatchWriter(t.Context(), write.NewAsyncWriter(&out), format.Params{}, write.BatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	r := &format.Table{File: "table", Data: out.Bytes()}
	if err := r.Open(); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSortedFingerprints sorts for a run of another layout, with many documents of one fingerprint
// and few of others: each fingerprint must occur once.
func TestSortedFingerprints(t *testing.T) {
	var fps []uint64
	for i := range 5000 {
		fps = append(fps, uint64(max(i, 4000))<<20)
	}
	in := mergeInput{Input: Input{Table: tableOf(t, fps, 0)}, dead: write.NewBitset(5000)}
	in.dead.Add(0)
	in.dead.Add(4999)
	in.runs, in.deadAt = in.Runs, in.dead
	m := &merger{ctx: t.Context(), File: write.File{Params: in.Params}}
	keys, err := m.permuted(nil, &in, 1, 0, ^uint64(0))
	if want := int(in.Info.Distinct) - 1; err != nil || len(keys) != want {
		t.Errorf("%d keys of %d fingerprints that are kept, %v", len(keys), want, err)
	}
}

// TestFindDead counts the remaining documents with and without fingerprints.
func TestFindDead(t *testing.T) {
	fps := make([]uint64, 9000)
	for i := range fps {
		fps[i] = uint64(i)
	}
	table := tableOf(t, fps, 9000-8131)
	for _, every := range []uint32{1, 2, 63, 8130, 8131, 9001} {
		in := mergeInput{Input: Input{Table: table, Keep: func(doc uint32) (bool, error) { return (doc+1)%every != 0, nil }}}
		if err := in.findDead(&merger{ctx: t.Context(), workers: 2}); err != nil {
			t.Fatal(err)
		}
		if kept, keptFP := 9000-9000/every, 8131-8131/every; in.kept != kept || in.keptFP != keptFP || (in.dead != nil) != (kept < 9000) {
			t.Errorf("without every %dth: %d documents, %d with a fingerprint, want %d and %d", every, in.kept, in.keptFP, kept, keptFP)
		}
	}
}

// TestChunkOf splits numbers of documents up to the limit into chunks.
func TestChunkOf(t *testing.T) {
	for _, n := range []uint32{1, docChunk, docChunk + 1, format.MaxDocs - docChunk, format.MaxDocs - 5, format.MaxDocs} {
		last := int((uint64(n)+docChunk-1)/docChunk) - 1
		from, to := chunkOf(last, n)
		if to != n || from >= to || to-from > docChunk || from%docChunk != 0 {
			t.Errorf("the last chunk of %d documents is [%d, %d)", n, from, to)
		}
	}
}
