package blobs

import (
	"bytes"
	"io"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/simdb/simdb/internal/table/internal/pages"
)

// countedReader counts reads.
type countedReader struct {
	io.ReaderAt
	n atomic.Int64
}

func (r *countedReader) ReadAt(p []byte, off int64) (int, error) {
	r.n.Add(1)
	return r.ReaderAt.ReadAt(p, off)
}

// served opens records of a file on a server, of which the directory and the end have not been read.
func served(t *testing.T, n uint32, dir, area []byte) (*Records, *countedReader) {
	file := append(append(bytes.Clone(dir), area...), make([]byte, 70<<10)...)
	data := make([]byte, len(file))
	s := &countedReader{ReaderAt: bytes.NewReader(file)}
	p, err := pages.Remote(s, data, "test")
	if err != nil {
		t.Fatal(err)
	}
	at := len(dir)
	d, err := OpenRecords("test", n, Bytes{Data: data[:at], Pages: p}, Bytes{Data: data[at : at+len(area)], Offset: int64(at), Pages: p})
	if err != nil {
		t.Fatal(err)
	}
	s.n.Store(0)
	return d, s
}

// TestRecordsServed looks for blocks of records in a directory on a server, whose blocks have very different
// numbers of records, and in one that is damaged.
func TestRecordsServed(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	f := newRecordsFile(300)
	for i := range 200_000 {
		size := 10 + rng.IntN(100)
		if i < 150_000 {
			size = 0 // blocks with many records come first
		}
		f.add(record{text: make([]byte, size)})
	}
	local := f.open(t)
	dir, area := f.Directory(), f.area
	worst := int64(0)
	for range 100 {
		record := rng.Uint32N(local.n)
		d, s := served(t, local.n, dir, area)
		if b, want := d.BlockOf(record), local.BlockOf(record); b != want {
			t.Fatalf("record %d is in block %d, not %d of %d", record, b, want, d.NumBlocks())
		}
		worst = max(worst, s.n.Load())
	}
	if worst > 10 {
		t.Errorf("%d reads for the place of a record among %d blocks", worst, local.NumBlocks())
	}
	all := make([]uint32, 300)
	for i := range all {
		all[i] = rng.Uint32N(local.n)
	}
	all[0] = local.n - 1 // has a text
	d, s := served(t, local.n, dir, area)
	d.Fetch(append(all, local.n, 1<<31)) // those that do not exist are left to the one who reads them
	if d.Get(all[0]); s.n.Load() < 3 {
		t.Errorf("%d reads", s.n.Load())
	}
	before := s.n.Load()
	for _, record := range all {
		want, _, _ := local.Get(record)
		if text, _, err := d.Get(record); err != nil || !bytes.Equal(text, want) {
			t.Fatalf("record %d has %d bytes, not %d: %v", record, len(text), len(want), err)
		}
	}
	if s.n.Load() != before {
		t.Errorf("%d reads after all records have been announced", s.n.Load()-before)
	}
	for range 100 {
		damaged := bytes.Clone(dir)
		for at := range damaged {
			if rng.IntN(40) == 0 {
				damaged[at] = byte(rng.Uint32())
			}
		}
		d, s := served(t, local.n, damaged, area)
		d.Fetch(all[:5])
		if d.BlockOf(all[0]); s.n.Load() > 300 {
			t.Fatalf("%d reads in a damaged directory", s.n.Load())
		}
	}
}
