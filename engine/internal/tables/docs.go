package tables

import (
	"bytes"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/radix"
	"github.com/simdb/simdb/sstable"
)

// SortDocs brings documents into the order of a table: those of equal fingerprint stay in order,
// and those without one come last.
func SortDocs(docs []*view.MemDoc) {
	var bare []*view.MemDoc
	byFP := radix.Pairs{Keys: make([]uint64, 0, len(docs)), Vals: make([]uint32, 0, len(docs))}
	for i, d := range docs {
		if d.HasFingerprint {
			byFP.Keys, byFP.Vals = append(byFP.Keys, d.Fingerprint), append(byFP.Vals, uint32(i))
		} else {
			bare = append(bare, d)
		}
	}
	n := len(byFP.Keys)
	byFP = radix.SortPairs(byFP, radix.Pairs{Keys: make([]uint64, n), Vals: make([]uint32, n)})
	unsorted := slices.Clone(docs)
	for i, at := range byFP.Vals {
		docs[i] = unsorted[at]
	}
	copy(docs[n:], bare)
}

// memOptions are the options for writing a table of a memtable's documents.
func memOptions(docs []*view.MemDoc) sstable.WriterOptions {
	return sstable.WriterOptions{
		Docs: len(docs),
		Hot:  sstable.HotHashes(len(docs), func(i int) []uint32 { return docs[i].Sketch }),
	}
}

// WriteDocs writes a new table of documents in the order of a table, as WriteTable does.
func (f *Folder) WriteDocs(docs []*view.MemDoc) (*view.Table, error) {
	return f.Write(memOptions(docs), func(w *sstable.Writer) error { return addDocs(w, docs) })
}

func addDocs(w *sstable.Writer, docs []*view.MemDoc) error {
	for _, d := range docs {
		if err := w.Add(&d.Document); err != nil {
			return err
		}
	}
	return nil
}

// InMemory returns documents as a table in memory. It changes their order to that of a table.
func InMemory(params sstable.Params, docs []*view.MemDoc) (*sstable.Reader, error) {
	SortDocs(docs)
	var buf bytes.Buffer
	w, err := sstable.NewWriter(&buf, params.ForTable(int64(len(docs))), memOptions(docs))
	if err != nil {
		return nil, err
	}
	if err := addDocs(w, docs); err != nil {
		return nil, err
	}
	if _, err := w.Close(); err != nil {
		return nil, err
	}
	// Readers may look a little past a section's end.
	return sstable.OpenBytes(buf.Bytes(), "memtable")
}
