package tables

import (
	"bytes"
	"io"
	"slices"

	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/table"
)

// SortDocs sorts documents into the order of a table: by fingerprint, then those without one by ID.
// So the fields of documents without a text, which a Writer stores as they come, are in the order of
// IDs. The sort is stable.
func SortDocs(docs []*view.MemDoc) {
	var bare []*view.MemDoc
	byFP := ordered.Pairs{Keys: make([]uint64, 0, len(docs)), Vals: make([]uint32, 0, len(docs))}
	for i, d := range docs {
		if d.HasFingerprint {
			byFP.Keys, byFP.Vals = append(byFP.Keys, d.Fingerprint), append(byFP.Vals, uint32(i))
		} else {
			bare = append(bare, d)
		}
	}
	n := len(byFP.Keys)
	byFP = ordered.SortPairs(byFP, ordered.MakePairs(n))
	unsorted := slices.Clone(docs)
	for i, at := range byFP.Vals {
		docs[i] = unsorted[at]
	}
	order := ordered.SortStrings(ordered.Pairs{Keys: make([]uint64, len(bare)), Vals: ordered.Numbers(len(bare))}, ordered.MakePairs(len(bare)),
		func(i uint32) []byte { return bare[i].ID })
	for i, at := range order {
		docs[n+i] = bare[at]
	}
}

// WriteDocs writes documents, which must be in the order of a table, to a new table and opens it.
// Nothing refers to the table yet; after an error it is removed.
func (f *Folder) WriteDocs(docs []*view.MemDoc) (*view.Table, error) {
	return f.Create(func(out io.Writer, identity table.Identity) (table.Info, error) {
		return writeDocs(out, f.ParamsFor(len(docs)), table.WriterOptions{Identity: identity}, docs)
	})
}

func writeDocs(out io.Writer, p table.Params, o table.WriterOptions, docs []*view.MemDoc) (table.Info, error) {
	w, err := table.NewWriter(out, p, o)
	if err != nil {
		return table.Info{}, err
	}
	for _, d := range docs {
		if err := w.Add(&d.Document); err != nil {
			return table.Info{}, err
		}
	}
	return w.Close()
}

// InMemory returns a table in memory with these documents.
func InMemory(params table.Params, docs []*view.MemDoc) (*table.Reader, error) {
	var buf bytes.Buffer
	if _, err := writeDocs(&buf, params, table.WriterOptions{}, docs); err != nil {
		return nil, err
	}
	// Readers may read slightly past the end of a section.
	return table.OpenBytes(buf.Bytes(), "memtable")
}
