package sstable

import "github.com/simdb/simdb/sstable/internal/blobs"

// Texts reads texts and fields of many documents, in ascending order of their numbers or nearly so:
// then it decodes each block of records once, also of a table that was merged from many. It keeps
// up to 32 MiB of decoded blocks, and one block more.
//
// It must not be used concurrently; a Reader can have any number of them.
type Texts struct {
	r      *Reader
	cursor *blobs.RecordCursor // nil if the table has no records
}

// Texts returns a reader of texts.
func (r *Reader) Texts() *Texts {
	t := &Texts{r: r}
	if r.records != nil {
		t.cursor = r.records.Cursor()
	}
	return t
}

// Get returns text and fields of a document, empty if it has none. They are valid until the next
// call and must not be changed.
func (t *Texts) Get(doc uint32) (text, fields []byte, err error) {
	r := t.r
	defer r.unguard(guard(), &err)
	if err := r.checkDoc(doc); err != nil || t.cursor == nil {
		return nil, nil, err
	}
	place, err := r.place(doc)
	if err != nil || place == r.records.Len() {
		return nil, nil, err
	}
	return t.cursor.Get(place)
}
