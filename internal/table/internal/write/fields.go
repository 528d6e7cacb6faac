package write

import (
	"cmp"

	"github.com/simdb/simdb/internal/table/internal/blobs"
	"github.com/simdb/simdb/internal/table/internal/fieldidx"
	"github.com/simdb/simdb/internal/table/internal/format"
	"github.com/simdb/simdb/internal/table/internal/keyrun"
)

// WriteFieldList writes a list of an indexed field. each must call add with the keys of the list,
// in order, and their documents.
func (t *File) WriteFieldList(list int, each func(add func(key []byte, doc uint32) error) error) error {
	docs := keyrun.NewColumnWriter(nil) // some 20 bits per key, until keys are written
	keys := blobs.NewListWriter(blobs.Values)
	t.Out.Begin(format.KindValues, uint16(list))
	flush := func() { t.Out.write(keys.Flush(t.Out.offset())) }
	err := each(func(key []byte, doc uint32) error {
		if keys.Add(key) {
			flush()
		}
		return cmp.Or(docs.Add(uint64(doc)), t.Out.Err)
	})
	keys.EndBlock()
	flush()
	t.Out.EndWithDir(docs.Len(), keys.Directory(), err)
	t.Out.Begin(format.KindValueDocs, uint16(list))
	column := keyrun.NewColumnWriter(&t.Out)
	n := docs.Len()
	err = column.Append(docs)
	dir, e := column.Finish()
	t.Out.EndWithDir(n, dir, cmp.Or(err, e))
	return t.Out.Err
}

// fieldsOf returns the keys of the records [from, to) in indexed fields.
func (t *BatchWriter) fieldsOf(from, to int, record func(i int) (text, fields []byte)) (g fieldidx.Groups) {
	if len(t.indexed) == 0 {
		return g
	}
	for ; from < to; from++ {
		_, fields := record(from)
		g.Add(t.indexed, fields)
	}
	return g
}

// writeFields writes the lists of indexed fields.
func (t *BatchWriter) writeFields() error {
	if len(t.indexed) == 0 {
		return nil
	}
	docs := t.docsOfRecords()
	for list := range fieldidx.Lists * len(t.indexed) {
		err := t.WriteFieldList(list, func(add func(key []byte, doc uint32) error) error {
			return t.values.Sorted(list, docs, add)
		})
		if err := cmp.Or(err, t.ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}
