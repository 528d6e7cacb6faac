package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/format"

	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/records"
)

// survives reads a damaged file, and copies the readable rows. It checks that there is no panic,
// that an error names the file, and that the records before the damage are correct.
func survives(t *testing.T, data []byte) (recs []records.Record, err error) {
	t.Helper()
	src, err := source(data, records.Options{MakeID: true, Workers: 2})
	if err == nil {
		recs, _, err = readAll(src)
	}
	if err != nil {
		if re, ok := errors.AsType[*records.ReadError](err); !ok || re.File != "x.parquet" {
			t.Fatalf("%v does not name the file", err)
		}
	}
	return recs, err
}

// A file that is truncated at any position is refused.
func TestCut(t *testing.T) {
	data := write(t, samples(40), 16, pq.Compression(&pq.Snappy))
	for n := 0; n < len(data); n += 1 + len(data)/300 {
		if recs, err := survives(t, data[:n]); err == nil || len(recs) > 0 {
			t.Errorf("%d of %d bytes: %d records, %v", n, len(data), len(recs), err)
		}
	}
}

// Flipped bits yield the same records, an error, or different records, but never a panic. Copying
// them does not panic either.
func TestFlipped(t *testing.T) {
	cases := exhaustive.Every(t, 16)
	for name, options := range writings {
		data := write(t, samples(40), 16, options...)
		footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		for i := range cases.Of(400) {
			rnd := rand.New(rand.NewPCG(1, uint64(i)))
			bad := slices.Clone(data)
			at := rnd.IntN(len(bad))
			if i%2 == 0 {
				at = footer + rnd.IntN(len(bad)-footer)
			}
			bad[at] ^= byte(1 << rnd.IntN(8))
			if i%3 == 0 {
				bad[rnd.IntN(len(bad))] = byte(rnd.Uint32())
			}
			if t.Failed() {
				t.Fatalf("%s: byte %d", name, at)
			}
			survives(t, bad)
			copyAll(bad)
		}
	}
}

// copyAll copies the rows that can be read.
func copyAll(data []byte) error {
	src, err := source(data, records.Options{MakeID: true})
	if err != nil {
		return err
	}
	defer src.Close()
	var out bytes.Buffer
	c := must(Parquet.NewCopier(&out, records.CopyOptions{}))
	for rec, err := range src.Records(context.Background()) {
		if rec == nil {
			continue
		}
		if err != nil {
			return err
		}
		if err := c.Copy(src, rec.Raw); err != nil {
			return err
		}
	}
	return c.Close()
}

// A damaged page is reported with its column and the row before it; the rows before it are
// delivered.
func TestDamageHasItsPlace(t *testing.T) {
	rows := samples(60)
	data := write(t, rows, 20, pq.Compression(&pq.Snappy))
	f := must(pq.OpenFile(bytes.NewReader(data), int64(len(data))))
	chunk := f.Metadata().RowGroups[1].Columns[1].MetaData
	clear(data[chunk.DataPageOffset : chunk.DataPageOffset+chunk.TotalCompressedSize])
	recs, err := survives(t, data)
	if len(recs) != 20 || err == nil || !strings.Contains(err.Error(), `x.parquet: could not be read past row 20: column "text": `) {
		t.Errorf("%d records, %v", len(recs), err)
	}
}

// Sizes that a file only declares do not cost memory.
func TestHostileSizes(t *testing.T) {
	list := func(n uint64) []byte { // a footer whose schema declares n elements
		b := append([]byte{0x15, 0x02, 0x19, 0xfc}, binary.AppendUvarint(nil, n)...)
		return append(b, make([]byte, 64)...)
	}
	text := func(n uint64) []byte {
		return append([]byte{0x15, 0x02, 0x19, 0x1c, 0x48}, binary.AppendUvarint(nil, n)...)
	}
	file := func(footer []byte) []byte {
		b := append([]byte(magic), footer...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
		return append(b, magic...)
	}
	nested := bytes.Repeat([]byte{0x1c}, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, footer := range [][]byte{list(1 << 31), list(1 << 62), list(60), text(1 << 40), nested, {}, {0}, bytes.Repeat([]byte{0x19, 0x1c}, 1<<16)} {
		if _, err := survives(t, file(footer)); err == nil {
			t.Errorf("a footer of %d bytes is no error", len(footer))
		}
	}
	long := file(nil)
	binary.LittleEndian.PutUint32(long[len(long)-8:], 1<<31)
	if _, err := survives(t, long); err == nil {
		t.Error("a footer larger than the file is no error")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// A page that is larger than its header says is refused before it is decompressed into memory.
func TestBombs(t *testing.T) {
	for _, codec := range []compress.Codec{&pq.Snappy, &pq.Gzip, &pq.Brotli, &pq.Zstd, &pq.Lz4Raw} {
		packed := must(codec.Encode(nil, make([]byte, 1<<20)))
		for size, fits := range map[int64]bool{1 << 20: true, 1<<20 + 5: true, 1<<20 - 1: false, 0: false} {
			if got, err := decompress(nil, packed, codec.CompressionCodec(), int(size)); (err == nil) != fits || len(got) > 2<<20 {
				t.Errorf("%v: 1 MiB as %d bytes: %v", codec, size, err)
			}
		}
		for _, version := range []int{1, 2} {
			data := write(t, samples(60), 20, pq.Compression(codec), pq.DataPageVersion(version))
			f := must(pq.OpenFile(bytes.NewReader(data), int64(len(data))))
			chunk := f.Metadata().RowGroups[1].Columns[1].MetaData
			h := data[chunk.DataPageOffset:]
			if h[2] != 0x15 || h[3]&0x7f < 2 { // the size follows the type
				t.Fatalf("%x", h[:8])
			}
			h[3] -= 2 // one byte less
			recs, err := survives(t, data)
			if len(recs) != 20 || err == nil || !strings.Contains(err.Error(), `past row 20: column "text": `) {
				t.Errorf("%v, version %d: %d records, %v", codec, version, len(recs), err)
			}
		}
	}
}

// lzo is a compression that cannot be read.
type lzo struct{ compress.Codec }

// CompressionCodec says that it is LZO.
func (lzo) CompressionCodec() format.CompressionCodec { return format.LZO }

// Files that are not Parquet, or are wrapped in another format, are refused by name.
func TestRefused(t *testing.T) {
	data := write(t, samples(5), 5)
	encrypted := slices.Clone(data)
	copy(encrypted[len(encrypted)-4:], "PARE")
	for want, data := range map[string][]byte{
		"it is not a Parquet file":    []byte(`{"id":"a"}`),
		"was it cut off?":             []byte("PAR1 and words"),
		"it is encrypted Parquet":     encrypted,
		"which would begin with PAR1": nil,
		"compressed once more":        must(pq.Gzip.Encode(nil, data)),
		"is compressed with LZO":      write(t, samples(5), 5, pq.Compression(lzo{&pq.Snappy})),
	} {
		if _, err := source(data, records.Options{Format: Parquet}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// FuzzRead reads arbitrary bytes.
func FuzzRead(f *testing.F) {
	for _, options := range writings {
		f.Add(write(f, samples(6), 3, options...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		survives(t, data)
		copyAll(data)
	})
}
