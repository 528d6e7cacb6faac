package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// FuzzMerge merges tables of random documents in random ways, and compares the result with the
// documents that it should have. Then it damages one of the tables: a merge must fail or give the
// same result. With the checksums made right, it may give any result, but it must not panic, and an
// error must report damage. The bytes of shape choose properties that all documents of a merge
// share.
func FuzzMerge(f *testing.F) {
	for i := range uint64(24) {
		f.Add(i, []byte{byte(i), byte(i / 2), byte(i / 3), byte(3 * i), byte(5 * i), byte(7 * i), byte(i / 5), byte(i)}, uint32(i*977), i*0x0101010101010101)
	}
	f.Fuzz(func(t *testing.T, seed uint64, shape []byte, at uint32, word uint64) {
		m := newRandomMerge(t, seed, shape)
		m.addInputs()
		data := m.data
		merged := m.merge(m.params())
		m.checkOrder(merged)
		m.damaged(data, at, word)
		// Merge the result again, with other tables.
		again := newRandomMerge(t, seed+1, shape)
		again.addMerged(merged, m.want())
		again.first, again.sketch, again.sets, again.index = 100, m.sketch, m.sets, m.index
		again.addInputs()
		again.merge(again.params())
	})
}

type randomMerge struct {
	merging
	shape  func(n int) int // returns a number less than n, from the next byte of the shape
	sketch uint32
	sets   bool
	index  string
	first  int // number of the first input, which is part of IDs
	data   [][]byte
	kinds  [7]int
}

func newRandomMerge(t *testing.T, seed uint64, shape []byte) *randomMerge {
	r := rand.New(rand.NewPCG(seed, 77))
	m := &randomMerge{merging: merging{t: t, r: r}}
	at := 0
	m.shape = func(n int) int {
		if at++; at > len(shape) {
			return r.IntN(n)
		}
		return int(shape[at-1]) % n
	}
	for i := range m.kinds {
		m.kinds[i] = m.shape(6)
	}
	m.sketch = uint32(m.shape(3) * 8)
	m.sets = r.IntN(2) == 0
	m.index = []string{"", "n", "s,m.n,n"}[r.IntN(3)]
	m.drop = []func(*rand.Rand, *Document) bool{drops["none"], drops["few"], drops["most"], drops["odd"], drops["all"], drops["in runs"]}[m.shape(6)]
	m.o = MergeOptions{
		Workers: 1 + m.shape(4), Piece: []int{0, 1, 600, 3000}[m.shape(4)], Sorted: []int{0, 512, 2048, 1}[m.shape(4)],
		Chunk: []int{0, 1, 1000, 20000}[r.IntN(4)], Spare: []uint32{0, 1, 20}[r.IntN(3)],
		WriterOptions: WriterOptions{BlockSize: 1 + r.IntN(4000), SegmentDocs: 16 + r.IntN(400), OrderDocs: r.IntN(2)},
	}
	return m
}

// common returns the parameters that all tables share; the layout may differ.
func (m *randomMerge) common() Params {
	p := mergeParams
	if p.Sketch, p.Sets, p.Index = m.sketch, m.sets, m.index; p.Sketch == 0 {
		p.MinJaccard = 0
	}
	return p
}

// params returns the parameters of one table, with a layout of its own.
func (m *randomMerge) params() Params {
	p := m.common()
	p.Layout = []Layout{{Blocks: 4, Lead: 1}, {Blocks: 2, Lead: 1}, {Blocks: 3, Lead: 1}, {Blocks: 5, Lead: 2}, {Blocks: 4, Lead: 0}, {Blocks: 6, Lead: 1}, {Blocks: 5, Lead: 1}, {Blocks: 8, Lead: 1}}[m.r.IntN(8)]
	return p
}

func (m *randomMerge) addInputs() {
	common := m.r.IntN(2) == 0
	p := m.params()
	for i := range m.r.IntN(5) {
		docs := make([]Document, []int{0, 1, 2, 1200, 300, 511 + m.r.IntN(3), m.r.IntN(3000)}[m.r.IntN(7)])
		for j := range docs {
			m.fill(&docs[j], m.first+i, j)
		}
		if !common {
			p = m.params()
		}
		docs = sortedDocs(docs)
		data, _ := buildTable(m.t, p, WriterOptions{BlockSize: 1 + m.r.IntN(4000), SegmentDocs: 16 + m.r.IntN(500)}, docs)
		m.data = append(m.data, data)
		m.addTable(openTable(m.t, data), docs, m.shift(docs))
	}
}

// shift returns a number that can be added to the sequence numbers of docs, modulo 2^64, without
// changing their order.
func (m *randomMerge) shift(docs []Document) uint64 {
	if len(docs) == 0 || m.r.IntN(2) == 0 {
		return 0
	}
	least, most := uint64(math.MaxUint64), uint64(0)
	for _, d := range docs {
		least, most = min(least, d.Seq), max(most, d.Seq)
	}
	// The sums may start anywhere from 0 up to the value that would make the greatest wrap.
	start := []uint64{0, math.MaxUint64 - (most - least), m.r.Uint64()}[m.r.IntN(3)]
	return min(start, math.MaxUint64-(most-least)) - least
}

// fill makes document j of input i.
func (m *randomMerge) fill(d *Document, i, j int) {
	r := m.r
	switch m.kinds[0] {
	case 0: // short, all of one length
		d.ID = fmt.Appendf(nil, "%02d%06d", i, j)
	case 1:
		d.ID = binary.BigEndian.AppendUint32([]byte{byte(i)}, uint32(j))
	case 2: // sometimes long
		d.ID = append(fmt.Appendf(nil, "%d/%d", i, j), make([]byte, r.IntN(10)*r.IntN(10))...)
		if r.IntN(400) == 0 {
			d.ID = append(d.ID, make([]byte, math.MaxUint16-len(d.ID))...)
		}
	default:
		d.ID = fmt.Append(nil, i, j)
	}
	d.HasFingerprint = m.kinds[1] == 0 || m.kinds[1] > 1 && r.IntN(m.kinds[1]*m.kinds[1]) > 0
	if d.HasFingerprint {
		d.Fingerprint = []uint64{
			r.Uint64(), ^uint64(0) * r.Uint64N(2), r.Uint64N(3) << 62, 1<<63 | r.Uint64N(1<<12), ^uint64(0) - r.Uint64N(3), bitsOf(r),
		}[m.kinds[2]]
	}
	d.Seq = []uint64{uint64(j), uint64(10*j + i), 7, r.Uint64(), math.MaxUint64 - r.Uint64N(2000), uint64(1e6*i + j)}[m.kinds[3]]
	d.Time = []int64{int64(d.Seq >> 1), int64(r.Uint64()), math.MinInt64 + r.Int64N(2)*math.MaxInt64, 5, 1e15 + int64(3*j), -int64(j)}[m.kinds[4]]
	switch m.kinds[5] {
	case 0:
	case 1:
		d.Text, d.Fields = fmt.Appendf(nil, "text of %s", d.ID[:min(len(d.ID), 10)]), []byte(`{}`)
	case 2:
		d.Text = make([]byte, r.IntN(5)*r.IntN(2000))
	case 3:
		if i%2 == 1 {
			d.Fields = fmt.Append(nil, r.Uint64())
			if m.index != "" {
				d.Fields = fmt.Appendf(nil, `{"n":%d,"s":"%x","m":{"n":%v}}`, r.IntN(9), r.Uint64()>>r.IntN(64), r.Float64())
			}
		}
	case 4:
		for range r.IntN(30) {
			d.Text = fmt.Append(d.Text, "word ", r.IntN(20), " ")
		}
	default:
		if r.IntN(4) == 0 {
			d.Text = bytes.Repeat(fmt.Append(nil, r.Uint64()), r.IntN(40))
		}
	}
	if m.sketch > 0 && (m.kinds[6] == 0 || m.kinds[6] == 1 && j > 900 || m.kinds[6] > 2 && r.IntN(m.kinds[6]) == 0) {
		for range 1 + r.IntN(int(m.sketch)) {
			d.Sketch = append(d.Sketch, []uint32{r.Uint32(), r.Uint32N(40), ^uint32(0) - r.Uint32N(9)}[r.IntN(3)])
		}
		slices.Sort(d.Sketch)
		d.Sketch = slices.Compact(d.Sketch)
	}
}

// bitsOf returns a number with few ones.
func bitsOf(r *rand.Rand) uint64 {
	first, second := r.UintN(64), r.UintN(64)
	return 1<<first | 1<<second
}

// checkOrder makes sure that ranks ascend with sequence numbers.
func (m *randomMerge) checkOrder(r *Reader) {
	bySeq := make([]uint32, r.NumDocs())
	for doc := range r.NumDocs() {
		rank, err := r.t.Rank(doc)
		if err != nil {
			m.t.Fatal(err)
		}
		bySeq[rank] = doc
	}
	last := uint64(0)
	for rank, doc := range bySeq {
		seq, err := r.Seq(doc)
		if err != nil || seq < last {
			m.t.Fatalf("document %d of rank %d has %d after %d, %v", doc, rank, seq, last, err)
		}
		last = seq
	}
}

// damaged damages one of the tables and merges them.
func (m *randomMerge) damaged(tables [][]byte, at uint32, word uint64) {
	if len(tables) == 0 {
		return
	}
	victim := int(at) % len(tables)
	data := bytes.Clone(tables[victim])
	place := int(at) % (len(data) - 7)
	if word&1 != 0 {
		place &^= 7
	}
	before := openTable(m.t, tables[victim])
	binary.LittleEndian.PutUint64(data[place:], binary.LittleEndian.Uint64(data[place:])^word)
	want, err := m.merged(tables, victim, tables[victim])
	if err != nil {
		m.t.Fatal(err)
	}
	if got, err := m.merged(tables, victim, data); err == nil && !bytes.Equal(got, want) || err != nil && !typed(err) {
		m.t.Fatalf("8 bytes at %d of %d changed by %#x: another result, or %v", place, len(data), word, err)
	}
	reseal(before, data)
	if _, err := m.merged(tables, victim, data); err != nil && !typed(err) {
		m.t.Fatalf("8 bytes at %d of %d changed by %#x and sealed: %v", place, len(data), word, err)
	}
}

// merged merges tables, with data in place of table victim.
func (m *randomMerge) merged(tables [][]byte, victim int, data []byte) ([]byte, error) {
	p := m.common()
	p.Layout = Layout{Blocks: 3, Lead: 1}
	var inputs []MergeInput
	for i, table := range tables {
		if i == victim {
			table = data
		}
		r, err := OpenBytes(table, "test.sst")
		if err != nil {
			return nil, err
		}
		if !r.Params().Compatible(p) {
			return nil, ErrUnsupported
		}
		inputs = append(inputs, MergeInput{Reader: r, SeqShift: uint64(i) << 20, Keep: func(doc uint32) (bool, error) { return doc%9 > 0, nil }})
	}
	if m.kinds[3] > 2 { // for other kinds, sums do not wrap
		for i := range inputs {
			inputs[i].SeqShift = 0
		}
	}
	o := m.o
	o.Workers = 1 // a panic in another goroutine could not be traced to its input
	var out bytes.Buffer
	_, _, err := Merge(m.t.Context(), &out, p, inputs, o)
	return out.Bytes(), err
}
