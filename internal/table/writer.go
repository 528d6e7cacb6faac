package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/features"
	"github.com/simdb/simdb/internal/oddsketch"
	"github.com/simdb/simdb/internal/table/internal/sketchidx"
	"github.com/simdb/simdb/internal/table/internal/write"
	"github.com/simdb/simdb/minhash"
)

// Writer writes a table of documents that are added one by one. It uses a BatchWriter: everything
// except texts and fields stays in memory until Close. It must not be used concurrently.
type Writer struct {
	w      *write.BatchWriter
	batch  Batch
	code   []byte              // buffer for an encoded sketch
	odd    bool                // Params.Odd
	sets   *features.SetHasher // computes odd sketches; nil until needed
	info   Info                // set by Close
	closed bool

	next    uint32 // number of the next record
	records []byte // texts and fields that have not been written yet
	ends    []int  // ends in records of each text and of its fields
}

// writerRecords is how many bytes of texts and fields a Writer collects before it compresses them.
const writerRecords = 1 << 20

// unclosed is the file of a BatchWriter that has no goroutine for writing.
type unclosed struct{ io.Writer }

// Close does nothing.
func (unclosed) Close() error { return nil }

// NewWriter returns a writer of a table to w, which the caller must sync and close. The layout
// of p may be LayoutBySize.
func NewWriter(w io.Writer, p Params, o WriterOptions) (*Writer, error) {
	b, err := write.NewBatchWriter(context.Background(), unclosed{w}, p, BatchOptions{WriterOptions: o})
	if err != nil {
		return nil, err
	}
	return &Writer{w: b, batch: Batch{Rest: make([][]Fingerprint, p.NumWords()-1), Strings: &Arena{}, Codes: &Arena{}}, odd: p.Odd()}, nil
}

// oddOf returns the odd sketch of the text of d, the zero sketch if its features are unknown.
func (t *Writer) oddOf(d *Document) *oddsketch.Sketch {
	if d.Odd != nil || len(d.Text) == 0 || t.w.Params.NeedCompute() != nil {
		return cmp.Or(d.Odd, new(oddsketch.Sketch))
	}
	if t.sets == nil {
		t.sets = t.w.Params.NewSetHasher()
	}
	odd := oddsketch.Of(t.sets.LastSet(d.Text))
	return &odd
}

// Add adds a document; at most MaxBatch documents can be added, in any order. Documents with equal
// fingerprints stay in the order of Add. If several documents have the same ID, the last one wins.
// Text and Fields are ignored unless Params.StoreText. d and its slices may be reused.
func (t *Writer) Add(d *Document) error {
	p, b := &t.w.Params, &t.batch
	if t.w.Err != nil {
		return t.w.Err
	}
	if t.closed {
		return errors.New("sstable: Add after Close")
	}
	err := d.check(p.NumWords())
	if err == nil && p.Sketch > 0 {
		err = sketchidx.CheckSketch(d.Sketch, p.Sketch)
	}
	if err != nil {
		return fmt.Errorf("sstable: %w", err)
	}
	if b.Len() == MaxBatch || b.Strings.Full() || b.Codes.Full() {
		return fmt.Errorf("sstable: more than %d documents, or what fits into memory: %w", b.Len(), ErrTooLarge)
	}
	if i := b.Len(); !d.HasFingerprint {
		b.Bare = append(b.Bare, make([]uint64, i/64+1-len(b.Bare))...)
		b.Bare[i/64] |= 1 << (i % 64)
	}
	b.Fingerprints = append(b.Fingerprints, d.Fingerprint)
	b.AddRest(d.Rest)
	b.IDs = append(b.IDs, b.Strings.Add(d.ID))
	b.Seqs, b.Times = append(b.Seqs, d.Seq), append(b.Times, d.Time)
	b.Expiries = append(b.Expiries, d.Expires)
	if p.Sketch > 0 {
		if t.code = t.code[:0]; len(d.Sketch) > 0 {
			if t.odd {
				t.code = AppendOdd(t.code, t.oddOf(d))
			}
			t.code = minhash.Sketch(d.Sketch).AppendEncoded(t.code)
		}
		b.Sketches = append(b.Sketches, b.Codes.Add(t.code))
	}
	if !p.StoreText {
		return nil
	}
	if len(d.Text)+len(d.Fields) == 0 {
		b.Records = append(b.Records, NoRecord)
		return nil
	}
	b.Records = append(b.Records, t.next)
	t.next++
	t.records = append(t.records, d.Text...)
	t.ends = append(t.ends, len(t.records))
	t.records = append(t.records, d.Fields...)
	t.ends = append(t.ends, len(t.records))
	if len(t.records) < writerRecords {
		return nil
	}
	return t.writeRecords()
}

// writeRecords writes the collected texts and fields.
func (t *Writer) writeRecords() error {
	_, err := t.w.AddRecords(len(t.ends)/2, 0, func(i int) (text, fields []byte) {
		from := 0
		if i > 0 {
			from = t.ends[2*i-1]
		}
		return t.records[from:t.ends[2*i]], t.records[t.ends[2*i]:t.ends[2*i+1]]
	})
	t.records, t.ends = t.records[:0], t.ends[:0]
	return err
}

// Close writes the rest of the table, and returns its Info. It neither syncs nor closes the
// underlying writer. The Writer must not be used afterwards.
func (t *Writer) Close() (Info, error) {
	if t.closed {
		return t.info, t.w.Err
	}
	t.closed = true
	if err := t.writeRecords(); err != nil {
		return Info{}, err
	}
	var err error
	t.info, err = t.w.Write(&t.batch)
	return t.info, err
}
