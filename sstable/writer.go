package sstable

import (
	"fmt"
	"io"

	"github.com/simdb/simdb/internal/table"
)

// WriterOptions are the options of a Writer. The zero value is a good default.
type WriterOptions struct {
	// BlockSize is how many bytes of texts and fields are compressed together; 0 means 24 KiB, or 128
	// documents if these have at least 8 KiB.
	// Larger blocks take less space, but each read of a text decodes one. At most 16 MiB.
	BlockSize int
	// Level is how hard texts are compressed: 0 is zstd's default; -1 needs half the time and makes
	// 5 % more bytes; 1 needs twice the time and makes 3 % fewer.
	Level int
}

// levels are the levels from -1.
var levels = []table.Level{table.LevelFastest, table.LevelDefault, table.LevelBetter}

// A Writer writes a table of documents that are added one by one, in any order. Everything except
// texts and fields stays in memory until Close, at most 2^26 documents. It must not be used
// concurrently.
type Writer struct {
	w     *table.Writer
	words int
	d     table.Document // buffer of Add
}

// NewWriter returns a writer of a table to w, which the caller must sync and close. The options may
// be nil.
func NewWriter(w io.Writer, p Params, o *WriterOptions) (*Writer, error) {
	params, err := p.internal()
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &WriterOptions{}
	}
	if o.Level < -1 || o.Level > 1 {
		return nil, fmt.Errorf("sstable: compression level %d is not in -1..1", o.Level)
	}
	t, err := table.NewWriter(w, params, table.WriterOptions{BlockSize: o.BlockSize, Level: levels[o.Level+1]})
	if err != nil {
		return nil, err
	}
	return &Writer{w: t, words: params.NumWords()}, nil
}

// Add adds a document, which may change afterwards. If several documents have the same ID, the last
// one wins. Documents with equal fingerprints are numbered in the order of Add. After an error about
// the document itself, others may be added.
func (w *Writer) Add(d Document) error {
	if n := len(d.Fingerprint); n > 0 && n != w.words {
		return fmt.Errorf("sstable: a fingerprint of %d bits in a table of %d bits", 64*n, 64*w.words)
	}
	t := &w.d
	*t = table.Document{
		ID: append(t.ID[:0], d.ID...), Text: append(t.Text[:0], d.Text...), Fields: d.Fields, Sketch: d.Sketch, Expires: table.Expiry(d.Expires), Seq: d.Seq,
	}
	if !d.Time.IsZero() {
		t.Time = d.Time.UnixMicro()
	}
	if t.HasFingerprint = len(d.Fingerprint) > 0; t.HasFingerprint {
		t.Fingerprint, t.Rest = d.Fingerprint[0], d.Fingerprint[1:]
	}
	return w.w.Add(t)
}

// Close writes the rest of the table, and returns its Info. It neither syncs nor closes the
// underlying writer. The Writer must not be used afterwards.
func (w *Writer) Close() (Info, error) {
	i, err := w.w.Close()
	return infoOf(i), err
}
