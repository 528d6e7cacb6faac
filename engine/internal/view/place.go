package view

import (
	"time"

	"github.com/simdb/simdb/internal/table"
)

// A Place is the location of a document: a memtable, or a part and a document number.
type Place struct {
	Mem  *MemDoc
	Part *Part
	Doc  uint32
}

// Latest is a sequence number that is greater than those of all writes.
const Latest = ^uint64(0)

// Kill marks the document dead since seq, unless it is dead already.
func (p Place) Kill(seq uint64) {
	if p.Mem != nil {
		p.Mem.Dead.CompareAndSwap(0, seq)
		return
	}
	p.Part.Dead.Kill(p.Doc, seq)
}

// Announce says that parts of the document will be read, see table.Reader.Announce.
func (p Place) Announce(parts table.Parts) error {
	if p.Mem != nil || !p.Part.IsServed() {
		return nil
	}
	return p.Part.Announce([]uint32{p.Doc}, parts)
}

// Document reads the document into d; its slices alias the table.
func (p Place) Document(d *table.Document) error {
	if p.Mem != nil {
		*d = p.Mem.Document
		return nil
	}
	return p.Part.Document(p.Doc, d)
}

// Unnamed reads the document, with its sequence number in the database, for a caller that knows its
// ID: ID and Sketch are empty. Text and Fields must not be changed; the other slices belong to d,
// so that the next call may overwrite them.
func (p Place) Unnamed(d *table.Document) error {
	if m := p.Mem; m != nil {
		id, rest, sketch := d.ID[:0], append(d.Rest[:0], m.Rest...), d.Sketch[:0]
		*d = m.Document
		d.ID, d.Rest, d.Sketch = id, rest, sketch
		return nil
	}
	err := p.Part.Unnamed(p.Doc, d)
	d.Seq = p.Part.ShiftSeq(d.Seq)
	return err
}

// Entry returns the document without its text and fields.
func (p Place) Entry() (Entry, error) {
	id, err := p.ID()
	if err != nil {
		return Entry{}, err
	}
	return p.EntryOf(string(id))
}

// EntryOf is Entry for a caller that knows the ID.
func (p Place) EntryOf(id string) (e Entry, err error) {
	if d := p.Mem; d != nil {
		return Entry{
			ID: id, Fingerprint: d.Fingerprint, Rest: d.Rest, HasFingerprint: d.HasFingerprint, Time: time.UnixMicro(d.Time), Expires: d.ExpiresAt(), Seq: d.Seq,
		}, nil
	}
	var d table.Document
	if err := p.Part.Entry(p.Doc, &d); err != nil {
		return Entry{}, err
	}
	return Entry{
		ID: id, Fingerprint: d.Fingerprint, Rest: d.Rest, HasFingerprint: d.HasFingerprint, Time: time.UnixMicro(d.Time), Expires: d.ExpiresAt(), Seq: p.Part.ShiftSeq(d.Seq),
	}, nil
}

// Seq returns the sequence number of the document's write.
func (p Place) Seq() (uint64, error) {
	if p.Mem != nil {
		return p.Mem.Seq, nil
	}
	return p.Part.SeqOf(p.Doc)
}

// ID returns the document's ID; it aliases the table.
func (p Place) ID() ([]byte, error) {
	if p.Mem != nil {
		return p.Mem.ID, nil
	}
	return p.Part.ID(p.Doc)
}

// Sketch appends the document's sketch to dst.
func (p Place) Sketch(dst []uint32) ([]uint32, error) {
	if p.Mem != nil {
		return append(dst, p.Mem.Sketch...), nil
	}
	return p.Part.Sketch(p.Doc, dst)
}

// Text returns the document's text: the memtable's own, or a copy in scratch, which grows as
// needed.
func (p Place) Text(scratch *[]byte) (text []byte, err error) {
	if p.Mem != nil {
		return p.Mem.Text, nil
	}
	*scratch, err = p.Part.AppendText((*scratch)[:0], p.Doc)
	return *scratch, err
}

// Locate finds the document with this ID that is alive at seq in the version's tables.
func (v *Version) Locate(id []byte, seq uint64) (Place, bool, error) {
	v.lookUp()
	hash := table.HashID(id)
	for i := range v.Parts {
		p := &v.Parts[i]
		if ids := p.ids.Load(); ids != nil && !ids.Has(hash) {
			continue
		}
		doc, ok, err := p.LookupHash(id, hash)
		if err != nil {
			return Place{}, false, err
		}
		if ok && !p.Dead.DeadAt(doc, seq) {
			return Place{Part: p, Doc: doc}, true, nil
		}
	}
	return Place{}, false, nil
}
