package salvage

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/engine/internal/catalog"
	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/tables"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/vfs"
	"github.com/simdb/simdb/sstable"
)

// A target is the new database while it is built.
type target struct {
	r        *recovery
	dir      *files.Site
	uuid     [16]byte
	number   uint64 // of the last table
	tables   []*output
	complete bool
}

// An output is a table of the new database.
type output struct {
	from *input // nil for documents of logs
	meta catalog.Table
	dead *roaring.Bitmap // nil for none
	docs int64           // that live
}

// kill marks a document dead.
func (t *output) kill(doc uint32) {
	if t.dead == nil {
		t.dead = roaring.New()
	}
	t.dead.Add(doc)
}

// newTarget makes the folder of the new database.
func newTarget(r *recovery, path string) (*target, error) {
	t := &target{r: r}
	var err error
	if t.dir, err = files.Claim(r.o.FS, path, 0); err != nil {
		return nil, err
	}
	if err = t.dir.Begin(); err != nil {
		return nil, errors.Join(err, t.end())
	}
	rand.Read(t.uuid[:])
	return t, nil
}

// end closes the folder. If the database did not get complete, it removes it.
func (t *target) end() (err error) {
	if !t.complete {
		err = t.dir.Abandon()
	}
	if err = errors.Join(err, t.dir.Leave()); t.complete {
		return nil
	}
	return err
}

// tableBytes is about how much memory the documents of a new table may take, in addition to their
// texts.
const tableBytes = 128 << 20

// docBytes is about what a document takes of that, in addition to its ID and its sketch.
const docBytes = 48

// A tableWriter writes the documents of one input to one table or more.
type tableWriter struct {
	t    *target
	from *input
	docs int64 // of the table that is written
	most int64 // documents of a table
	size int   // of these in memory

	file vfs.File
	buf  *bufio.Writer
	w    *sstable.Writer // nil if no table is begun
}

func (w *tableWriter) add(d *sstable.Document) error {
	if w.docs == w.most || w.size >= tableBytes {
		if err := w.close(); err != nil {
			return err
		}
	}
	if w.w == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	w.docs++
	w.size += docBytes + len(d.ID) + 4*len(d.Sketch)
	return w.w.Add(d)
}

func (w *tableWriter) begin() (err error) {
	t := w.t
	t.number++
	if w.file, err = t.dir.Create(files.TableName(t.number)); err != nil {
		return err
	}
	t.tables = append(t.tables, &output{from: w.from, meta: catalog.Table{Number: t.number}})
	w.buf = bufio.NewWriterSize(w.file, 1<<20)
	identity := sstable.Identity{Database: t.uuid, Number: t.number, Created: t.r.o.Now().UnixMicro()}
	w.w, err = sstable.NewWriter(w.buf, t.r.params, sstable.WriterOptions{Identity: identity})
	if err == nil && w.from != nil {
		w.w.Reserve(min(int(w.from.info.Docs), tableBytes/docBytes))
	}
	return err
}

// close completes the table that is written, if there is one.
func (w *tableWriter) close() error {
	if w.w == nil {
		return nil
	}
	info, err := w.w.Close()
	if err == nil {
		err = w.buf.Flush()
	}
	if err == nil {
		err = w.file.Sync()
	}
	if e := w.file.Close(); err == nil {
		err = e
	}
	w.w, w.file, w.docs, w.size = nil, nil, 0, 0
	if err != nil {
		return err
	}
	o := w.t.tables[len(w.t.tables)-1]
	o.meta = tables.Meta(o.meta.Number, info)
	return nil
}

// abort closes the file of a table that is not completed. The target removes it.
func (w *tableWriter) abort() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file, w.w = nil, nil
	return err
}

// reader opens a table that is complete.
func (t *target) reader(o *output) (*sstable.Reader, error) {
	name := files.TableName(o.meta.Number)
	f, err := t.dir.Open(name)
	if err != nil {
		return nil, err
	}
	return sstable.OpenFile(f, name)
}

// count counts the documents of each table that live: no codes.
func (t *target) count() error {
	for _, o := range t.tables {
		not := roaring.New()
		if t.r.texts.Several() {
			r, err := t.reader(o)
			if err == nil {
				not, err = (&view.Table{Reader: r}).Codes(t.r.ctx)
				err = errors.Join(err, r.Close())
			}
			if err != nil {
				return err
			}
		}
		if o.dead != nil {
			not = roaring.Or(not, o.dead)
		}
		o.docs = int64(o.meta.Docs) - int64(not.GetCardinality())
	}
	return nil
}

// resolve finds documents of different tables that have one ID, and leaves the one alive that was
// written last. A document that two tables have, with one number, was merged from the older table
// to the younger one: then all of the older table was.
func (t *target) resolve() error {
	readers := make([]*sstable.Reader, len(t.tables))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.Close()
			}
		}
	}()
	for i, o := range t.tables {
		var err error
		if readers[i], err = t.reader(o); err != nil {
			return err
		}
	}
	merged := map[*input]bool{} // to another one
	for i, b := range t.tables {
		for j, a := range t.tables[:i] {
			if a.from == b.from && a.from != nil {
				continue
			}
			if err := t.r.ctx.Err(); err != nil {
				return err
			}
			err := sstable.EachCommonID(readers[j], readers[i], func(docA, docB uint32) error {
				seqA, err := readers[j].Seq(docA)
				if err != nil {
					return err
				}
				seqB, err := readers[i].Seq(docB)
				if err != nil {
					return err
				}
				if a.from != nil && b.from != nil && !a.from.foreign && !b.from.foreign && seqA == seqB {
					merged[a.from] = true
				}
				if seqA > seqB || seqA == seqB && b.from == nil {
					b.kill(docB)
				} else {
					a.kill(docA)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("comparing tables: %w", err)
			}
		}
	}
	for _, o := range t.tables {
		if o.from != nil && merged[o.from] {
			o.dead = roaring.New()
			o.dead.AddRange(0, uint64(o.meta.Docs))
		}
	}
	return nil
}

// publish removes tables without a living document and writes the catalog.
func (t *target) publish() error {
	r, old := t.r, &t.r.cat.State
	s := catalog.State{
		UUID: t.uuid, Created: r.o.Now(), Options: old.Options, Allowed: old.Allowed, NextFile: t.number + 1, FirstWAL: 1,
		LastSeq: max(old.LastSeq, old.FlushedSeq), Tombstones: map[uint64]*roaring.Bitmap{}, Marks: map[string]int64{},
	}
	if r.cat.Current && r.report.Lost == 0 && !r.single {
		s.Marks = old.Marks
	}
	var err error
	if s.Params, err = r.params.AppendDatabase(nil); err != nil {
		return err
	}
	kept := t.tables[:0]
	for _, o := range t.tables {
		s.LastSeq = max(s.LastSeq, o.meta.MaxSeq)
		if o.dead != nil && o.dead.GetCardinality() == uint64(o.meta.Docs) {
			if err := t.dir.Remove(files.TableName(o.meta.Number)); err != nil {
				return err
			}
			continue
		}
		kept = append(kept, o)
		s.Tables = append(s.Tables, o.meta)
		s.FlushedSeq = max(s.FlushedSeq, o.meta.MaxSeq)
		if o.dead != nil {
			s.Tombstones[o.meta.Number] = o.dead
		}
	}
	t.tables = kept
	if err := t.dir.SyncDir("."); err != nil {
		return err
	}
	if err := catalog.Create(t.dir, files.Catalog, s); err != nil {
		return err
	}
	t.complete = true // nothing fails from here on
	return nil
}
