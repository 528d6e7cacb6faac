package table

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/exhaustive"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

type memFile []byte

func (f memFile) Mmap() ([]byte, func() error, error) {
	return f, func() error { return nil }, nil
}

func (f memFile) Close() error { return nil }

// damages are kinds of damage to a part of a file.
var damages = []struct {
	name string
	do   func(rng *rand.Rand, data []byte) (lo, hi int)
}{
	{"flip", func(rng *rand.Rand, data []byte) (lo, hi int) {
		at := rng.IntN(len(data))
		data[at] ^= 1 << rng.UintN(8)
		return at, at + 1
	}},
	{"zero 512", func(rng *rand.Rand, data []byte) (lo, hi int) {
		at := rng.IntN((len(data)+511)/512) * 512
		end := min(at+512, len(data))
		clear(data[at:end])
		return at, end
	}},
	{"zero 4096", func(rng *rand.Rand, data []byte) (lo, hi int) {
		at := rng.IntN((len(data)+4095)/4096) * 4096
		end := min(at+4096, len(data))
		clear(data[at:end])
		return at, end
	}},
	{"misplaced write", func(rng *rand.Rand, data []byte) (lo, hi int) {
		to, from := rng.IntN(len(data)/512)*512, rng.IntN(len(data)/512)*512
		return to, to + copy(data[to:to+512], data[from:from+512])
	}},
	{"cut", func(rng *rand.Rand, data []byte) (lo, hi int) { return rng.IntN(len(data)), len(data) }},
	{"noise", func(rng *rand.Rand, data []byte) (lo, hi int) {
		at := rng.IntN(len(data))
		end := min(at+1+rng.IntN(700), len(data))
		for i := at; i < end; i++ {
			data[i] = byte(rng.Uint32())
		}
		return at, end
	}},
}

// costs returns how many documents at most are lost by damage of [lo, hi), and whether that is
// known. It is unknown if the damage hits directories that all documents need.
func costs(r *Reader, lo, hi int) (lost int, known bool) {
	hit := func(off, length uint64) bool { return int(off) < hi && int(off+length) > lo }
	for i := range r.t.Info.Sections {
		s := &r.t.Info.Sections[i]
		if !hit(uint64(s.Offset), uint64(s.Length)) {
			continue
		}
		switch s.Kind {
		case format.KindBlocks:
		case format.KindNames, KindRecords, format.KindSketches:
			entry := map[Kind]int{format.KindNames: blobs.ListEntry, KindRecords: blobs.RecordsEntry, format.KindSketches: blobs.ListEntry}[s.Kind]
			each := map[Kind]int{format.KindNames: 128, KindRecords: blobs.MaxBlockRecords, format.KindSketches: 16}[s.Kind]
			lost += ((min(hi, int(s.Offset+s.Length))-max(lo, int(s.Offset)))/entry + 2) * each
		case format.KindRanks, KindTimes, format.KindSeqs, format.KindPlaces:
			lost += int(r.t.Info.Docs)
		case KindRun:
			if s.Index == 0 {
				lost += 512 * (1 + int(s.Length)/512)
			}
		case format.KindRanks | format.DirFlag, KindTimes | format.DirFlag, format.KindSeqs | format.DirFlag:
			lost += int(r.t.Info.Docs)
		case format.KindWords: // a small block may have very many documents
			lost += int(r.t.Info.Docs)
		case format.KindPlaces | format.DirFlag, format.KindWords | format.DirFlag, KindRun | format.DirFlag:
			lost += int(r.t.Info.Docs)
		}
	}
	area := uint64(r.t.Section(format.KindBlocks, 0).Offset)
	for b := range r.t.Names.NumBlocks() {
		if off, n := r.t.Names.Extent(b); hit(area+off, n) {
			lost += 128
		}
	}
	for b := range r.t.Records.NumBlocks() {
		var blk blobs.Block
		if r.t.Records.Decode(b, &blk) == nil {
			if off, n := blk.Extent(); hit(area+off, n) {
				lost += int(blk.Count())
			}
		}
	}
	if l := r.t.Sketches.List(); l != nil {
		for b := range l.NumBlocks() {
			if off, n := l.Extent(b); hit(area+off, n) {
				lost += 16
			}
		}
	}
	end := r.t.Info.Sections[len(r.t.Info.Sections)-1]
	return lost, hi <= int(end.Offset+end.Length) && lo >= format.HeaderSize || hi-lo == 1
}

// needs returns, by ID, the positions of the blocks that a document needs: of IDs, texts and
// sketches, fingerprints, ranks, places, times and sequence numbers.
func needs(t *testing.T, r *Reader) map[string][][2]int {
	area := int(r.t.Section(format.KindBlocks, 0).Offset)
	inList := func(l *blobs.List, doc uint32) [2]int {
		b, _ := l.First(doc)
		off, n := l.Extent(b)
		return [2]int{area + int(off), area + int(off+n)}
	}
	inIndexed := func(kind Kind, index uint16, blockSize func(b int) int, i int) [2]int {
		at := int(r.t.Section(kind, index).Offset)
		for b := range i >> keyrun.BlockShift {
			at += blockSize(b)
		}
		return [2]int{at, at + blockSize(i>>keyrun.BlockShift)}
	}
	inRun := func(kind Kind, blockSize func(b int) int, i int) [2]int { return inIndexed(kind, 0, blockSize, i) }
	all := map[string][][2]int{}
	for doc := range r.NumDocs() {
		id, err := r.ID(doc)
		rank, e1 := r.t.Rank(doc)
		place, e2 := r.t.Place(doc)
		if err := errors.Join(err, e1, e2); err != nil {
			t.Fatal(err)
		}
		need := [][2]int{inList(r.t.Names, doc), inRun(format.KindSeqs, r.t.Seqs.BlockSize, rank), inRun(KindTimes, r.t.Times.BlockSize, rank)}
		if doc < r.t.Info.Fingerprints {
			need = append(need, inRun(KindRun, r.t.Runs[0].BlockSize, int(doc)))
		}
		for i, w := range r.t.Words {
			need = append(need, inIndexed(format.KindWords, uint16(i+1), w.Column.BlockSize, int(doc)))
		}
		if r.t.Ranks != nil {
			need = append(need, inRun(format.KindRanks, r.t.Ranks.BlockSize, int(doc)))
		}
		if r.t.Expiries != nil {
			need = append(need, inIndexed(KindTimes, format.Expiries, r.t.Expiries.BlockSize, rank))
		}
		if r.t.Places != nil {
			need = append(need, inRun(format.KindPlaces, r.t.Places.BlockSize, int(doc)))
		}
		if l := r.t.Sketches.List(); l != nil {
			need = append(need, inList(l, doc))
		}
		var blk blobs.Block
		if place < r.t.Records.Len() {
			if err := r.t.Records.Decode(r.t.Records.BlockOf(place), &blk); err != nil {
				t.Fatal(err)
			}
			off, n := blk.Extent()
			need = append(need, [2]int{area + int(off), area + int(off+n)})
		}
		all[string(id)] = need
	}
	return all
}

// lostOutside returns how many documents need nothing in [lo, hi), and how many of these are lost.
// A cut before the end of the early section leaves no directory, and all documents need one.
func lostOutside(needs map[string][][2]int, got map[string]Document, lo, hi int) (outside, lost int) {
	for id, blocks := range needs {
		if !slices.ContainsFunc(blocks, func(b [2]int) bool { return b[0] < hi && b[1] > lo }) {
			outside++
			if _, ok := got[id]; !ok {
				lost++
			}
		}
	}
	return outside, lost
}

// salvage returns the documents of a damaged table by ID, and how many are lost.
func salvage(t *testing.T, data []byte, o SalvageOptions) (docs map[string]Document, lost int64, err error) {
	s, err := Salvage(memFile(data), "test.sst")
	if err != nil {
		var c *base.CorruptionError
		if !errors.As(err, &c) {
			t.Fatalf("Salvage: %v", err)
		}
		return nil, 0, err
	}
	defer s.Close()
	docs = map[string]Document{}
	last := Document{}
	err = s.Each(context.Background(), o, func(_ uint32, d *Document) error {
		if len(docs) > 0 && d.Compare(&last) < 0 {
			return fmt.Errorf("%q is out of order", d.ID)
		}
		last = Document{HasFingerprint: d.HasFingerprint, Fingerprint: d.Fingerprint}
		if _, twice := docs[string(d.ID)]; twice {
			return fmt.Errorf("%q occurs twice", d.ID)
		}
		c := *d
		c.ID, c.Text, c.Fields, c.Sketch = bytes.Clone(d.ID), bytes.Clone(d.Text), bytes.Clone(d.Fields), append([]uint32{}, d.Sketch...)
		c.Rest = slices.Clone(d.Rest)
		docs[string(d.ID)] = c
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Losses() {
		lost += l.Lost
	}
	return docs, lost, nil
}

// salvageTables returns tables with their documents by ID: a written one, one merged from several,
// and a merged one with fingerprints of several words.
func salvageTables(t *testing.T, n int) (tables [][]byte, docs []map[string]Document) {
	rng := rand.New(rand.NewPCG(3, 5))
	add := func(data []byte) {
		r := openTable(t, data)
		byID := map[string]Document{}
		it := r.Iter()
		for it.Next() {
			d := *it.Document()
			d.ID, d.Text, d.Fields, d.Sketch = bytes.Clone(d.ID), bytes.Clone(d.Text), bytes.Clone(d.Fields), append([]uint32{}, d.Sketch...)
			d.Rest = slices.Clone(d.Rest)
			byID[string(d.ID)] = d
		}
		if it.Err() != nil {
			t.Fatal(it.Err())
		}
		tables, docs = append(tables, data), append(docs, byID)
	}
	written, _ := buildTable(t, testParams, WriterOptions{BlockSize: 2000}, testDocs(rng, n))
	add(written)
	other := testDocs(rng, n)
	for i := range other {
		other[i].ID = append(other[i].ID, "+"...)
	}
	second, _ := buildTable(t, testParams, WriterOptions{BlockSize: 2000}, other)
	var merged bytes.Buffer
	inputs := []MergeInput{{Reader: openTable(t, written)}, {Reader: openTable(t, second)}}
	if _, _, err := Merge(context.Background(), &merged, testParams, inputs, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	add(merged.Bytes())
	wide, _ := mergedTable(t, wideParams, wideDocs(testDocs(rng, n+9)), 9, WriterOptions{BlockSize: 2000})
	add(wide)
	return tables, docs
}

// TestSalvage damages tables in all ways: documents that are returned must be unchanged, and every
// document that does not need the damaged bytes must be returned.
func TestSalvage(t *testing.T) {
	exhaustive.Sequential(t)
	const n = 3000
	cases := exhaustive.Every(t, 30)
	tables, docs := salvageTables(t, n)
	for i, whole := range tables {
		r := openTable(t, whole)
		blocks := needs(t, r)
		for _, damage := range damages {
			unopened, back, all, spared, missed := 0, 0, 0, 0, 0
			for round := range cases.Of(120) {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(round)))
				data := bytes.Clone(whole)
				lo, hi := damage.do(rng, data)
				if damage.name == "cut" {
					data = data[:lo]
				}
				got, lost, err := salvage(t, data, SalvageOptions{})
				most, known := costs(r, lo, hi)
				place := fmt.Sprintf("table %d, %s at %d..%d of %d", i, damage.name, lo, hi, len(data))
				if early := r.t.Section(format.KindEarly, 0); hi < len(whole) || lo >= int(early.Offset+early.Length) {
					n, gone := lostOutside(blocks, got, lo, hi)
					spared, missed = spared+n, missed+gone
				}
				if err != nil {
					if known {
						t.Errorf("%s: %v", place, err)
					}
					unopened++
					continue
				}
				back, all = back+len(got), all+len(docs[i])
				if int(lost) != len(docs[i])-len(got) && known {
					t.Errorf("%s: %d of %d documents, and %d lost", place, len(got), len(docs[i]), lost)
				}
				if known && int(lost) > most {
					t.Errorf("%s: %d documents lost, at most %d need what is damaged", place, lost, most)
				}
				for id, d := range got {
					want, ok := docs[i][id]
					if !ok {
						t.Errorf("%s: a document %q that there never was", place, id)
					}
					if !sameDocument(&d, &want) {
						t.Errorf("%s: document %q is not as it was", place, id)
					}
				}
			}
			t.Logf("table %d, %s: %d not opened, %d of %d documents of the others; of %d outside the damaged blocks %d are lost",
				i, damage.name, unopened, back, all, spared, missed)
			if missed*1000 > spared {
				t.Errorf("table %d, %s: %d of %d documents outside the damaged blocks are lost", i, damage.name, missed, spared)
			}
		}
	}
}

// TestSalvageCut truncates tables anywhere: a document must be returned if its ID, fingerprint,
// order, text and sketch are before the cut, or if its sketch can be computed from its text.
func TestSalvageCut(t *testing.T) {
	tables, docs := salvageTables(t, 3000)
	for i, whole := range tables {
		r := openTable(t, whole)
		early := *r.t.Section(format.KindEarly, 0)
		start := int(early.Offset + early.Length)
		rng := rand.New(rand.NewPCG(uint64(i), 21))
		sizes := []int{len(whole) - 1, len(whole) - format.TailSize, len(whole) - format.TailSize - 3*format.EntrySize - 5, start, start - 1, start / 2}
		for range 12 {
			sizes = append(sizes, start+rng.IntN(len(whole)-start))
		}
		for _, size := range sizes {
			got, lost, err := salvage(t, bytes.Clone(whole[:size]), SalvageOptions{})
			if size < start {
				if err == nil {
					t.Errorf("table %d cut to %d was opened, and its directories are behind %d", i, size, start)
				}
				continue
			}
			want := beforeCut(t, r, size)
			if err != nil || len(got) < want || len(got)+int(lost) != len(docs[i]) {
				t.Errorf("table %d cut to %d of %d: %d of %d documents, %d lost, %v", i, size, len(whole), len(got), want, lost, err)
				continue
			}
			for id, d := range got {
				if want := docs[i][id]; !sameDocument(&d, &want) {
					t.Errorf("table %d cut to %d: document %q is not as it was", i, size, id)
				}
			}
		}
	}
}

// TestSalvageDirectories clears directories that have a copy, and the copies: nothing may be lost.
func TestSalvageDirectories(t *testing.T) {
	tables, docs := salvageTables(t, 1000)
	for i, whole := range tables {
		r := openTable(t, whole)
		for _, sec := range r.t.Info.Sections {
			if sec.Kind != format.KindEarly && !sec.IsCopied() {
				continue
			}
			data := bytes.Clone(whole)
			clear(data[sec.Offset:][:sec.Length])
			got, lost, err := salvage(t, data, SalvageOptions{})
			if err != nil || lost > 0 || len(got) != len(docs[i]) {
				t.Errorf("table %d without %s: %d of %d documents, %d lost, %v", i, sec.Name(), len(got), len(docs[i]), lost, err)
			}
		}
	}
}

// TestSalvageForgedEarly changes every word of an early directory and of spares, with checksums
// made right, in tables that are cut after them: nothing may panic or allocate much memory.
func TestSalvageForgedEarly(t *testing.T) {
	tables, _ := salvageTables(t, 300)
	rng := rand.New(rand.NewPCG(31, 32))
	for i, whole := range tables {
		r := openTable(t, whole)
		early := r.t.Section(format.KindEarly, 0)
		end := int(early.Offset + early.Length)
		dir := int(binary.LittleEndian.Uint64(whole[end-format.TailSize:]))
		le := binary.LittleEndian
		for at := dir; at < end-format.TailSize; at += 4 {
			data := bytes.Clone(whole[:end+rng.IntN(len(whole)-end)])
			le.PutUint32(data[at:], rng.Uint32()>>rng.UintN(32))
			le.PutUint32(data[end-format.TailSize+12:], kernel.CRC32C(0, data[dir:end-format.TailSize]))
			le.PutUint32(data[end-format.TailSize+20:], kernel.CRC32C(0, data[end-format.TailSize:][:20]))
			s, err := Salvage(memFile(data), "test.sst")
			if err != nil {
				continue
			}
			s.Each(t.Context(), SalvageOptions{}, func(uint32, *Document) error { return nil })
			s.Close()
		}
		for at := bytes.Index(whole, []byte(format.SpareMagic)); at > 0 && at < len(whole); {
			p, ok := format.ParseSpare(whole[at:], kernel.CRC32C(0, whole[dir:end-format.TailSize]))
			if !ok {
				t.Fatalf("table %d: no spare at %d", i, at)
			}
			for word := 8; word < p.Size-4; word += 4 {
				data := bytes.Clone(whole)
				le.PutUint32(data[at+word:], rng.Uint32()>>rng.UintN(32))
				le.PutUint32(data[at+p.Size-4:], kernel.CRC32C(kernel.CRC32C(0, whole[dir:end-format.TailSize]), data[at:at+p.Size-4]))
				if s, err := Salvage(memFile(data[:len(data)-100]), "test.sst"); err == nil {
					s.Each(t.Context(), SalvageOptions{}, func(uint32, *Document) error { return nil })
					s.Close()
				}
			}
			next := bytes.Index(whole[at+1:], []byte(format.SpareMagic))
			if next < 0 {
				break
			}
			at += 1 + next
		}
	}
}

// beforeCut returns how many documents have the blocks of their ID and their sketch before size.
func beforeCut(t *testing.T, r *Reader, size int) (n int) {
	area := uint64(r.t.Section(format.KindBlocks, 0).Offset)
	list := r.t.Sketches.List()
	for doc := range r.NumDocs() {
		b, _ := r.t.Names.First(doc)
		off, length := r.t.Names.Extent(b)
		end := area + off + length
		if list != nil {
			b, _ := list.First(doc)
			off, length := list.Extent(b)
			end = max(end, area+off+length)
		}
		if end <= uint64(size) {
			n++
		}
	}
	return n
}

// TestSalvageFeatures damages and cuts the directory of a table that describes its features: the
// early directory must give back all documents.
func TestSalvageFeatures(t *testing.T) {
	p := testParams
	p.Features = "unit chars\nmin-words 3\n"
	whole, info := buildTable(t, p, WriterOptions{}, testDocs(rand.New(rand.NewPCG(3, 6)), 200))
	if got := openTable(t, whole).Params(); got != p {
		t.Fatalf("parameters %v, not %v", got, p)
	}
	docs := int(info.Docs)
	last := info.Sections[len(info.Sections)-1]
	start := int(format.Align(last.Offset + last.Length))
	for at := start; at < len(whole); at += 3 {
		data := bytes.Clone(whole)
		data[at] ^= 0x41
		for name, data := range map[string][]byte{"damaged": data, "cut": whole[:at]} {
			if got, lost, err := salvage(t, data, SalvageOptions{}); err != nil || len(got) != docs || lost > 0 {
				t.Errorf("%s at byte %d of the directory: %d documents, %d lost, %v", name, at-start, len(got), lost, err)
			}
			if r, err := OpenBytes(data, "test.sst"); err == nil {
				t.Errorf("%s at byte %d of the directory: opened, %v", name, at-start, r.Params())
			}
		}
	}
}

// TestSalvageKeys damages a block of run 0: its documents are lost, and all others must be
// unchanged.
func TestSalvageKeys(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(3, 7)), 3000)
	for i := range docs {
		docs[i].HasFingerprint = true
	}
	data, _ := buildTable(t, testParams, WriterOptions{}, sortedDocs(docs))
	clear(data[openTable(t, data).t.Section(KindRun, 0).Offset:][:9])
	got, lost, err := salvage(t, data, SalvageOptions{})
	if err != nil || lost != 512 || len(got) != len(docs)-512 {
		t.Fatalf("%d documents, %d lost, %v", len(got), lost, err)
	}
}

// TestSalvageMuch damages tables in many places at once, mostly in directories: nothing may panic,
// and documents that are returned must be unchanged.
func TestSalvageMuch(t *testing.T) {
	cases := exhaustive.Every(t, 24)
	tables, docs := salvageTables(t, 700)
	opened, back := 0, 0
	for i, whole := range tables {
		r := openTable(t, whole)
		last := r.t.Info.Sections[len(r.t.Info.Sections)-1]
		start := int(format.Align(last.Offset + last.Length))
		for round := range cases.Of(1500) {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(round)))
			data := bytes.Clone(whole)
			for range 1 + rng.IntN(6) {
				switch rng.IntN(5) {
				case 4: // an entry of a directory, copied over another
					to, from := start-16*(2+rng.IntN(500)), start-16*(2+rng.IntN(500))
					copy(data[to:to+16*(1+rng.IntN(20))], data[from:start])
				case 0:
					damages[rng.IntN(len(damages))].do(rng, data)
				case 1: // an entry of the directory, or the trailer
					binary.LittleEndian.PutUint32(data[start+rng.IntN(len(data)-start-4):], rng.Uint32()>>rng.UintN(32))
				case 2:
					damages[0].do(rng, data[start:])
				default:
					at := rng.IntN(len(data) - 600)
					copy(data[at:at+rng.IntN(600)], data[rng.IntN(len(data)-600):])
				}
			}
			if rng.IntN(8) == 0 {
				data = data[:len(data)-rng.IntN(300)]
			}
			got, _, err := salvage(t, data, SalvageOptions{})
			if err != nil {
				continue
			}
			opened, back = opened+1, back+len(got)
			for id, d := range got {
				want, ok := docs[i][id]
				if !ok || !sameDocument(&d, &want) {
					t.Fatalf("table %d, round %d: document %q is not as it was:\n%v\n%v", i, round, id, d, want)
				}
			}
		}
	}
	t.Logf("%d tables opened, %d documents", opened, back)
}
