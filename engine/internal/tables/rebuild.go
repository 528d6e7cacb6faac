package tables

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/table"
)

// Salvage opens what is readable of a damaged table that the catalog lists. The error is a
// *base.CorruptionError if there is nothing, or the file is another table.
func (f *Folder) Salvage(meta catalog.Table) (*table.Salvaged, error) {
	name := files.TableName(meta.Number)
	file, err := f.Dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, base.Corruptf(name, "file", -1, "missing: %w", err)
	} else if err != nil {
		return nil, err
	}
	s, err := table.Salvage(file, name)
	if err != nil {
		return nil, err
	}
	// If only the copy of the directory is left, it has no digest of the table.
	if info, whole := s.Info(); info.Docs != meta.Docs || whole && (info.Checksum != meta.Digest || info.Size != meta.Size) {
		return nil, errors.Join(base.Corruptf(name, "footer", -1, "not the table that belongs here"), s.Close())
	}
	return s, nil
}

// A table that is rebuilt needs memory for the documents, in addition to their texts: about
// rebuiltDoc bytes for each, and its ID and its sketch. At rebuiltBytes the next table begins.
const (
	rebuiltBytes = 128 << 20
	rebuiltDoc   = 48
)

// Rebuilt has the tables with the readable documents of a damaged table.
type Rebuilt struct {
	Tables []*view.Table
	gone   *roaring.Bitmap // documents of the damaged table that are in none of Tables
}

// New returns where a document of the damaged table is now: in which of the Tables, and its number
// there. kept is false if it is in none. A table has the order of the one that it was made from.
func (r *Rebuilt) New(_ int, doc uint32) (at int, number uint32, kept bool) {
	if r.gone.Contains(doc) {
		return 0, 0, false
	}
	for number = doc - uint32(r.gone.Rank(doc)); number >= r.Tables[at].Meta.Docs; at++ {
		number -= r.Tables[at].Meta.Docs
	}
	return at, number, true
}

// Drop closes the tables, and removes their files if asked to.
func (r *Rebuilt) Drop(remove bool) (err error) {
	for _, t := range r.Tables {
		err = errors.Join(err, t.Drop(remove))
	}
	return err
}

// Rebuild writes the readable documents of a damaged table to new ones, with new indexes. It adds
// shift to their sequence numbers. Nothing refers to the tables yet; after an error they are
// removed. What could not be read is in from.Losses, and is no error.
func (f *Folder) Rebuild(ctx context.Context, from *table.Salvaged, shift uint64, o table.SalvageOptions) (r *Rebuilt, err error) {
	r = &Rebuilt{gone: roaring.New()}
	o.Sums = f.Texts.Fill
	all, _ := from.Info()
	for o.From < all.Docs && err == nil {
		var t *view.Table
		t, err = f.Create(func(out io.Writer, identity table.Identity) (table.Info, error) {
			w, err := table.NewWriter(out, f.MergeParams(int64(all.Docs)), table.WriterOptions{Identity: identity})
			if err != nil {
				return table.Info{}, err
			}
			docs, size := int64(0), 0
			err = from.Each(ctx, o, func(doc uint32, d *table.Document) error {
				r.gone.AddRange(uint64(o.From), uint64(doc))
				o.From = doc + 1
				d.Seq += shift
				docs++
				if size += rebuiltDoc + len(d.ID) + 4*len(d.Sketch); size >= rebuiltBytes || docs == f.MaxDocs() {
					return cmp.Or(w.Add(d), errFull)
				}
				return w.Add(d)
			})
			if err == nil {
				r.gone.AddRange(uint64(o.From), uint64(all.Docs))
				o.From = all.Docs
			}
			switch {
			case err != nil && !errors.Is(err, errFull):
				return table.Info{}, err
			case docs == 0:
				return table.Info{}, errNoDocuments
			}
			info, err := w.Close()
			if err == nil && int64(info.Docs) != docs {
				err = base.Corruptf(files.TableName(identity.Number), "ids", -1, "%d documents have %d ids", docs, info.Docs)
			}
			return info, err
		})
		if t != nil {
			r.Tables = append(r.Tables, t)
		}
	}
	if err != nil && !errors.Is(err, errNoDocuments) {
		return nil, errors.Join(err, r.Drop(true))
	}
	return r, nil
}

// errFull ends a table that needs too much memory.
var errFull = errors.New("the table is full")
