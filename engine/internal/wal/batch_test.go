package wal

import (
	"encoding/hex"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/simdb/simdb/internal/must"
	"github.com/simdb/simdb/internal/table"
)

// exampleBatch is the batch in docs/format/wal.md.
func exampleBatch() []Record {
	return []Record{
		{Doc: table.Document{
			ID: []byte("a"), HasFingerprint: true, Fingerprint: 0x0123456789abcdef, Sketch: []uint32{7, 4096}, Time: 1000,
			Text: []byte("two words"), Fields: []byte(`{"n":1}`),
		}},
		{Delete: true, Doc: table.Document{ID: []byte("b")}, Replaces: Replaced{Where: InTable, Table: 3, Doc: 300}},
		{Doc: table.Document{ID: []byte("c"), Time: -1}, Replaces: Replaced{Where: NoTable}},
		{Doc: table.Document{ID: []byte("d")}, Replaces: Replaced{Where: Earlier, Seq: 41}},
	}
}

func decodeAll(p []byte) (recs []Record, before []uint64, err error) {
	err = Decode(p, func(n uint64) error { before = append(before, n); return nil },
		func(r Record) error { recs = append(recs, r); return nil })
	return recs, before, err
}

// TestBatchFormat compares the hex in docs/format/wal.md with the encoding, and decodes it.
func TestBatchFormat(t *testing.T) {
	doc := must.Get(os.ReadFile("../../../docs/format/wal.md"))(t)
	_, section, _ := strings.Cut(string(doc), "## Payloads")
	_, block, _ := strings.Cut(section, "```hex\n")
	block, _, ok := strings.Cut(block, "```")
	if !ok {
		t.Fatal("no hex block")
	}
	var digits strings.Builder
	for line := range strings.Lines(block) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line)[1:], ""))
	}
	shown := must.Get(hex.DecodeString(digits.String()))(t)
	got := Encode(nil, exampleBatch())
	got[0] = 42 // the first sequence number
	if string(got) != string(shown) {
		t.Errorf("the document shows\n%s\ninstead of\n%s", hex.Dump(shown), hex.Dump(got))
	}
	want := exampleBatch()
	for i := range want {
		want[i].Doc.Seq = 42 + uint64(i)
	}
	if recs, _, err := decodeAll(shown); err != nil || !reflect.DeepEqual(recs, want) {
		t.Errorf("read back: %+v, %v", recs, err)
	}
	if _, before, err := decodeAll(EncodeStart(300)); err != nil || len(before) != 1 || before[0] != 300 {
		t.Errorf("log start: %v, %v", before, err)
	}
	for n := range shown {
		if _, _, err := decodeAll(shown[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// FuzzBatch decodes arbitrary payloads: a payload that is accepted must be encoded to the same
// bytes again.
func FuzzBatch(f *testing.F) {
	f.Add(Encode(nil, exampleBatch()))
	f.Add(EncodeStart(7))
	f.Fuzz(func(t *testing.T, p []byte) {
		recs, _, err := decodeAll(p)
		if err != nil || len(recs) == 0 {
			return
		}
		again := Encode(nil, recs)
		copy(again, p[:firstSeqBytes])
		back, _, err := decodeAll(again)
		if err != nil || !reflect.DeepEqual(back, recs) {
			t.Fatalf("%+v became %+v, %v", recs, back, err)
		}
	})
}
