package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/kernel"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// writeOrders are distributions of sequence numbers over n documents.
var writeOrders = []struct {
	name string
	seq  func(rng *rand.Rand, i, n int) uint64
}{
	{"ascending", func(_ *rand.Rand, i, n int) uint64 { return uint64(i) }},
	{"ascending from afar", func(_ *rand.Rand, i, n int) uint64 { return math.MaxUint64 - uint64(n) + uint64(i) }},
	{"descending", func(_ *rand.Rand, i, n int) uint64 { return uint64(n - i) }},
	{"random", func(rng *rand.Rand, i, n int) uint64 { return rng.Uint64N(uint64(4 * n)) }},
	{"equal", func(*rand.Rand, int, int) uint64 { return 7 }},
	{"in pairs", func(_ *rand.Rand, i, n int) uint64 { return uint64((i*7919)%n) / 2 }},
	{"gaps", func(rng *rand.Rand, i, n int) uint64 { return rng.Uint64() >> rng.UintN(64) }},
	{"extremes", func(rng *rand.Rand, i, n int) uint64 { return -rng.Uint64N(2) }},
	{"a load among others", func(_ *rand.Rand, i, n int) uint64 { return uint64(i%2*n + i) }},
}

// writeTimes are distributions of times over n documents, by rank.
var writeTimes = []struct {
	name string
	time func(rng *rand.Rand, rank, n int) int64
}{
	{"ascending", func(_ *rand.Rand, rank, n int) int64 { return 1_700_000_000_000_000 + int64(rank)*1000 }},
	{"descending", func(_ *rand.Rand, rank, n int) int64 { return 1_700_000_000_000_000 - int64(rank)*1000 }},
	{"equal", func(*rand.Rand, int, int) int64 { return -5 }},
	{"random", func(rng *rand.Rand, _, _ int) int64 { return int64(rng.Uint64() >> rng.UintN(64)) }},
	{"far apart", func(rng *rand.Rand, rank, n int) int64 {
		if rank%700 == 3 {
			return rng.Int64N(1000) - 62_000_000_000_000_000 // from a clock that was set wrong
		}
		return 1_700_000_000_000_000 + int64(rank)
	}},
	{"extremes", func(rng *rand.Rand, _, _ int) int64 { return []int64{math.MinInt64, -1, 0, math.MaxInt64}[rng.IntN(4)] }},
	{"negative", func(_ *rand.Rand, rank, n int) int64 { return int64(rank) - int64(n) }},
}

// orderedDocs returns n documents in table order, with sequence numbers from seq and times from
// time, and the times in the order of writing.
func orderedDocs(rng *rand.Rand, n int, seq func(*rand.Rand, int, int) uint64, time func(*rand.Rand, int, int) int64) ([]Document, []int64) {
	docs, order := make([]Document, n), make([]int, n)
	for i := range docs {
		docs[i] = Document{
			ID: fmt.Append(nil, i), HasFingerprint: i < n-n/10, Fingerprint: uint64(i/2) << 40, Seq: seq(rng, i, n),
		}
		if !docs[i].HasFingerprint {
			docs[i].Fingerprint = 0
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(docs[a].Seq, docs[b].Seq) })
	var times []int64
	for rank, i := range order {
		docs[i].Time = time(rng, rank, n)
		times = append(times, docs[i].Time)
	}
	return docs, times
}

// TestWriteOrders writes times and sequence numbers with all distributions, and reads them.
func TestWriteOrders(t *testing.T) {
	p := testParams
	p.Layout, p.StoreText, p.Sketch, p.MinJaccard = Layout{Blocks: 2, Lead: 1}, false, 0, 0
	for _, seqs := range writeOrders {
		for _, times := range writeTimes {
			for _, n := range []int{0, 1, 2, 3, 511, 512, 513, 2000} {
				t.Run(fmt.Sprintf("%s/%s/%d", seqs.name, times.name, n), func(t *testing.T) {
					docs, ordered := orderedDocs(rand.New(rand.NewPCG(101, uint64(n))), n, seqs.seq, times.time)
					data, info := buildTable(t, p, WriterOptions{}, docs)
					r := openTable(t, data)
					checkReader(t, r, p, docs)
					if err := r.Verify(t.Context(), nil); err != nil {
						t.Fatal(err)
					}
					checkExtremes(t, info, docs)
					ascending := slices.IsSortedFunc(docs, func(a, b Document) int { return cmp.Compare(a.Seq, b.Seq) })
					if has := r.t.Section(format.KindRanks, 0) != nil; has == ascending {
						t.Errorf("there are ranks: %v; documents are in the order of writing: %v", has, ascending)
					}
					checkSketchOfTimes(t, r, ordered)
				})
			}
		}
	}
}

// checkExtremes compares the extremes of times and sequence numbers in the info with the documents.
func checkExtremes(t *testing.T, info Info, docs []Document) {
	t.Helper()
	var want Info
	for i, d := range docs {
		if i == 0 {
			want = Info{MinTime: d.Time, MaxTime: d.Time, MinSeq: d.Seq, MaxSeq: d.Seq}
		}
		want.MinTime, want.MaxTime = min(want.MinTime, d.Time), max(want.MaxTime, d.Time)
		want.MinSeq, want.MaxSeq = min(want.MinSeq, d.Seq), max(want.MaxSeq, d.Seq)
	}
	if info.MinTime != want.MinTime || info.MaxTime != want.MaxTime || info.MinSeq != want.MinSeq || info.MaxSeq != want.MaxSeq {
		t.Errorf("the info is %+v, want %+v", info, want)
	}
}

// checkSketchOfTimes compares the time sketch of a table with its times, in the order of writing.
// Up to 2^15 documents, the sample has all of their times.
func checkSketchOfTimes(t *testing.T, r *Reader, times []int64) {
	t.Helper()
	got, err := r.TimeSketch()
	if err != nil || (len(got) > 0) != (len(times) > 0) {
		t.Fatalf("%d quantiles of %d times, %v", len(got), len(times), err)
	}
	if len(times) == 0 {
		return
	}
	sorted := slices.Sorted(slices.Values(times))
	var want []int64
	for n, i := min(len(sorted), format.TimeQuantiles), 0; i < n; i++ {
		want = append(want, sorted[i*(len(sorted)-1)/max(n-1, 1)])
	}
	if !slices.Equal(got, want) {
		t.Errorf("quantiles %d, want %d", got, want)
	}
}

// TestTimeSketchOfSample has more documents than are sampled: the sketch must have the extremes,
// which a sample may miss, and its quantiles must be near those of all times.
func TestTimeSketchOfSample(t *testing.T) {
	const n = 100_000
	p := testParams
	p.Layout, p.StoreText, p.Sketch, p.MinJaccard = Layout{Blocks: 2, Lead: 1}, false, 0, 0
	for name, time := range map[string]func(rng *rand.Rand, rank, n int) int64{
		"ascending": writeTimes[0].time,
		"uniform":   func(rng *rand.Rand, _, _ int) int64 { return rng.Int64N(1 << 50) },
		"one early": func(rng *rand.Rand, rank, n int) int64 {
			if rank == 77777 {
				return -1 << 60
			}
			return rng.Int64N(1 << 20)
		},
	} {
		docs, times := orderedDocs(rand.New(rand.NewPCG(103, 104)), n, writeOrders[3].seq, time)
		data, info := buildTable(t, p, WriterOptions{}, docs)
		r := openTable(t, data)
		got, err := r.TimeSketch()
		if err != nil || len(got) != format.TimeQuantiles || got[0] != info.MinTime || got[format.TimeQuantiles-1] != info.MaxTime {
			t.Fatalf("%s: %d, %v; the info says %d to %d", name, got, err, info.MinTime, info.MaxTime)
		}
		slices.Sort(times)
		for i, q := range got {
			before, _ := slices.BinarySearch(times, q)
			part, want := float64(before)/n, float64(i)/(format.TimeQuantiles-1)
			if math.Abs(part-want) > 0.02 {
				t.Errorf("%s: %.3f of the documents are before quantile %d, want %.3f", name, part, i, want)
			}
		}
		if err := r.Verify(t.Context(), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestOrderSizes bounds the space for the order of writing after a load: about 2 bits a document
// for sequence numbers, hardly more than 1 for times, and the 13 bits of a permutation for ranks.
func TestOrderSizes(t *testing.T) {
	const n = 8192
	p := testParams
	p.Layout, p.StoreText, p.Sketch, p.MinJaccard = Layout{Blocks: 2, Lead: 1}, false, 0, 0
	docs, _ := orderedDocs(rand.New(rand.NewPCG(105, 106)), n, func(_ *rand.Rand, i, n int) uint64 { return 1000 + uint64(i*5)%8192 },
		func(_ *rand.Rand, rank, n int) int64 { return 1_700_000_000_000_000 + int64(rank/100) })
	data, _ := buildTable(t, p, WriterOptions{}, docs)
	r := openTable(t, data)
	for kind, most := range map[Kind]float64{format.KindSeqs: 2.2, KindTimes: 1.2, format.KindRanks: 13.1} {
		s := r.t.Section(kind, 0)
		if bits := float64(8*s.Length) / n; bits > most {
			t.Errorf("%s takes %.2f bits a document, more than %.1f", s.Name(), bits, most)
		}
	}
}

// TestIdentity writes a table with an identity, and one without.
func TestIdentity(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(107, 108)), 30)
	for _, id := range []Identity{
		{},
		{Database: [16]byte{0x12, 0x34, 15: 0xff}, Number: 1<<64 - 2, Created: 1_700_000_000_000_000},
		{Created: -1},
	} {
		data, info := buildTable(t, testParams, WriterOptions{Identity: id}, docs)
		r := openTable(t, data)
		if r.Info().Identity != id || info.Identity != id {
			t.Errorf("identity %+v, the writer says %+v, want %+v", r.Info().Identity, info.Identity, id)
		}
		var out strings.Builder
		if err := r.Describe(&out); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("database      %x, table %d, written ", id.Database, id.Number)
		if strings.Contains(out.String(), line) != (id != Identity{}) {
			t.Errorf("identity %+v is described as %s", id, out.String())
		}
	}
}

func firstColumnBlock(t *testing.T, c *keyrun.Column) []uint64 {
	t.Helper()
	var block [keyrun.BlockLen]uint64
	n, err := c.Block(0, block[:])
	if err != nil {
		t.Fatal(err)
	}
	return block[:n]
}

// withColumn returns table r with other values in a column, or in the key run of sequence numbers.
func withColumn(r *Reader, kind Kind, values []uint64) []byte {
	body, dir := keyrun.EncodeColumn(values)
	if kind == format.KindSeqs {
		slices.Sort(values)
		var out bytes.Buffer
		w := keyrun.NewWriter(&out)
		err := w.AddKeys(values)
		var e error
		if dir, e = w.Finish(); err != nil || e != nil {
			panic(errors.Join(err, e)) // a mistake of the test
		}
		body = out.Bytes()
	}
	n := uint64(len(values))
	return rebuilt(r, 2, map[Kind][]byte{kind: body, kind | format.DirFlag: dir}, map[Kind]uint64{kind: n, kind | format.DirFlag: n})
}

// withQuantiles returns table r with another time sketch.
func withQuantiles(r *Reader, times []int64) []byte {
	var b []byte
	for _, v := range times {
		b = binary.LittleEndian.AppendUint64(b, format.OrderedTime(v))
	}
	b = binary.LittleEndian.AppendUint32(b, kernel.CRC32C(0, b))
	return rebuilt(r, 2, map[Kind][]byte{format.KindTimeSketch: b}, map[Kind]uint64{format.KindTimeSketch: uint64(len(times))})
}

// edited returns a copy of values with another first value.
func edited(values []uint64, first uint64) []uint64 {
	values = slices.Clone(values)
	values[0] = first
	return values
}

// verifyError opens and verifies a table.
func verifyError(t *testing.T, data []byte) error {
	t.Helper()
	r, err := OpenBytes(data, "test.sst")
	if err != nil {
		return err
	}
	return r.Verify(t.Context(), nil)
}

// checkRefused checks that opening or verifying a table reports damage of a section; "" stands for
// no damage.
func checkRefused(t *testing.T, name string, data []byte, section string) {
	t.Helper()
	err := verifyError(t, data)
	var corrupt *base.CorruptionError
	if section == "" && err != nil || section != "" && (!errors.As(err, &corrupt) || !strings.HasPrefix(corrupt.Section, section)) {
		t.Errorf("%s: %v, want %q", name, err, section)
	}
}

// TestOrderRefused has tables whose ranks, times, sequence numbers or quantiles cannot be right,
// with good checksums.
func TestOrderRefused(t *testing.T) {
	docs := testDocs(rand.New(rand.NewPCG(109, 110)), 61)
	data, _ := buildTable(t, testParams, WriterOptions{BlockSize: 300}, docs)
	r := openTable(t, data)
	n := uint64(len(docs))
	ranks, times := firstColumnBlock(t, r.t.Ranks), firstColumnBlock(t, r.t.Times)
	sketch, err := r.TimeSketch()
	if err != nil || len(sketch) != len(docs) {
		t.Fatalf("%d quantiles of %d documents, %v", len(sketch), len(docs), err)
	}
	var seqs []uint64
	for _, d := range docs {
		seqs = append(seqs, d.Seq)
	}
	for _, c := range []struct {
		name    string
		data    []byte
		section string // "" if it is good
	}{
		{"quantiles as they were", withQuantiles(r, sketch), ""},
		{"numbers as they were", withColumn(r, format.KindSeqs, seqs), ""},
		{"ranks as they were", withColumn(r, format.KindRanks, ranks), ""},
		{"rank of no document", withColumn(r, format.KindRanks, edited(ranks, n)), "ranks"},
		{"rank of two", withColumn(r, format.KindRanks, edited(ranks, ranks[1])), "ranks"},
		{"a rank less", withColumn(r, format.KindRanks, ranks[1:]), "ranks"},
		{"a time less", withColumn(r, KindTimes, times[1:]), "times"},
		{"a time later than all", withColumn(r, KindTimes, edited(times, format.OrderedTime(1<<60))), "times"},
		{"a time earlier than all", withColumn(r, KindTimes, edited(times, format.OrderedTime(-1<<60))), "times"},
		{"another time", withColumn(r, KindTimes, edited(times, times[0]+1)), "time-sketch"},
		{"a number less", withColumn(r, format.KindSeqs, slices.Clone(seqs[1:])), "seqs"},
		{"a number greater than all", withColumn(r, format.KindSeqs, edited(seqs, 1<<40)), "seqs"},
		{"a quantile too many", withQuantiles(r, append(slices.Clone(sketch), sketch[len(sketch)-1])), "time-sketch"},
		{"a quantile less", withQuantiles(r, sketch[1:]), "time-sketch"},
		{"no quantile", withQuantiles(r, nil), "time-sketch"},
		{"more than 65 quantiles", withQuantiles(r, slices.Repeat(sketch, 2)), "time-sketch"},
		{"half of the quantiles", rebuilt(r, 2, nil, map[Kind]uint64{format.KindTimeSketch: n / 2}), "time-sketch"},
		{"quantiles cut", rebuilt(r, 2, map[Kind][]byte{format.KindTimeSketch: {1, 2, 3}}, nil), "time-sketch"},
		{"no bytes of quantiles", rebuilt(r, 2, map[Kind][]byte{format.KindTimeSketch: nil}, nil), "time-sketch"},
		{"a record more", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: n + 1}), "records"},
		{"a record less", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: n - 1}), "records"},
	} {
		checkRefused(t, c.name, c.data, c.section)
	}
}

// TestPlacesRefused has tables whose places of records cannot be right, with good checksums.
func TestPlacesRefused(t *testing.T) {
	data, _ := mergedTable(t, testParams, testDocs(rand.New(rand.NewPCG(109, 110)), 60), 10, WriterOptions{BlockSize: 300})
	r := openTable(t, data)
	places, records := firstColumnBlock(t, r.t.Places), uint64(r.t.Records.Len())
	for _, c := range []struct {
		name    string
		data    []byte
		section string // "" if it is good
	}{
		{"as they were", withColumn(r, format.KindPlaces, places), ""},
		{"place of no record", withColumn(r, format.KindPlaces, edited(places, records+1)), "places"},
		{"place of two", withColumn(r, format.KindPlaces, edited(places, places[1])), "places"},
		{"a place less", withColumn(r, format.KindPlaces, places[1:]), "places"},
		{"a record more", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: records + 1}), "records"},
		{"a record less", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: records - 1}), "places"},
		{"no record", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: 0}), "records"},
		{"2^32 records", rebuilt(r, 2, nil, map[Kind]uint64{KindRecords: records + 1<<32}), "records"},
	} {
		checkRefused(t, c.name, c.data, c.section)
	}
}

// TestTimeSampleStride adds more times than a sample stores: it must store the first of every few.
func TestTimeSampleStride(t *testing.T) {
	const n = 3*format.TimeSampled + 5
	s := format.NewTimeSample(n)
	for i := range uint64(n) {
		s.Add(10 + i)
	}
	if len(s.Times) != format.TimeSampled+2 || s.Times[0] != 10 || s.Times[1] != 13 || s.Least != 10 || s.Greatest != 9+n {
		t.Errorf("%d times of %d from %d, %d on; extremes %d, %d", len(s.Times), n, s.Times[0], s.Times[1], s.Least, s.Greatest)
	}
	if q := s.Quantiles(); len(q) != format.TimeQuantiles || q[0] != 10 || q[1] != s.Times[(format.TimeSampled+1)/64] || q[64] != 9+n {
		t.Errorf("quantiles %d", q)
	}
}
