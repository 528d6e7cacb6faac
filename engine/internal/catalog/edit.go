package catalog

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"go.etcd.io/bbolt"
)

// live is the part of the state against which an edit is checked.
type live struct {
	fixed   fixed
	closed  LogEnd
	lastSeq uint64
	tables  map[uint64]uint32 // number of documents in each live table, by table number
}

func liveOf(s State) live {
	l := live{fixed: fixedOf(s), closed: s.Closed, lastSeq: s.LastSeq, tables: make(map[uint64]uint32, len(s.Tables))}
	for _, t := range s.Tables {
		l.tables[t.Number] = t.Docs
	}
	return l
}

// plan is an edit, prepared as far as possible without the file, so that an invalid edit is found
// before the transaction starts.
type plan struct {
	live                // state after the edit
	records    []record // records to write, or to remove if the value is empty
	tombstones []tombstones
}

// tombstones are the new tombstones of a table; they replace all old ones.
type tombstones struct {
	table  uint64
	chunks []record
}

func (p *plan) empty() bool { return len(p.records) == 0 && len(p.tombstones) == 0 }

// plan prepares an edit. It does not change l.
func (l live) plan(e Edit) (*plan, error) {
	p := &plan{live: l}
	p.tables = maps.Clone(l.tables)
	if err := p.editTables(e); err != nil {
		return nil, err
	}
	if err := p.editTombstones(e); err != nil {
		return nil, err
	}
	setIf(&p.fixed.nextFile, e.NextFile)
	setIf(&p.fixed.flushedSeq, e.FlushedSeq)
	setIf(&p.fixed.firstWAL, e.FirstWAL)
	if p.fixed != l.fixed {
		p.records = append(p.records, newRecord(keyState, p.fixed.encode()))
	}
	if e.LastSeq > l.lastSeq {
		p.lastSeq = e.LastSeq
		p.records = append(p.records, newRecord(keySeq, binary.LittleEndian.AppendUint64(nil, e.LastSeq)))
	}
	if end := e.SetClosed; end != nil && *end != l.closed && end.Number >= p.fixed.firstWAL {
		p.closed = *end
		p.records = append(p.records, newRecord(keyClosed, end.encode()))
	}
	if err := p.editAllowed(e); err != nil {
		return nil, err
	}
	records, err := markRecords(e.SetMarks)
	p.records = append(p.records, records...)
	return p, err
}

func setIf(field *uint64, value *uint64) {
	if value != nil {
		*field = *value
	}
}

func (p *plan) drop(key string) { p.records = append(p.records, record{key: []byte(key)}) }

func (p *plan) editTables(e Edit) error {
	for _, number := range e.DropTables {
		if _, ok := p.tables[number]; !ok {
			return fmt.Errorf("there is no table %d to drop", number)
		}
		delete(p.tables, number)
		p.drop(tableKey(number))
		p.tombstones = append(p.tombstones, tombstones{table: number})
	}
	for _, t := range e.AddTables {
		if _, ok := p.tables[t.Number]; ok || slices.Contains(e.DropTables, t.Number) {
			return fmt.Errorf("table %d already exists", t.Number)
		}
		if err := t.check(); err != nil {
			return err
		}
		p.tables[t.Number] = t.Docs
		p.records = append(p.records, newRecord(tableKey(t.Number), encodeTable(t)))
	}
	return nil
}

func (p *plan) editAllowed(e Edit) error {
	for _, pair := range e.Allow {
		if err := pair.check(); err != nil {
			return err
		}
		p.records = append(p.records, newRecord(allowedKey(pair), encodePair(pair)))
	}
	for _, pair := range e.Unallow {
		p.drop(allowedKey(pair))
	}
	return nil
}

func (p *plan) editTombstones(e Edit) error {
	for _, table := range slices.Sorted(maps.Keys(e.SetTombstones)) {
		docs, ok := p.tables[table]
		if !ok {
			return fmt.Errorf("there is no table %d for tombstones", table)
		}
		chunks, err := tombstoneRecords(table, docs, e.SetTombstones[table])
		if err != nil {
			return err
		}
		p.tombstones = append(p.tombstones, tombstones{table, chunks})
	}
	return nil
}

// write makes the changes in a transaction, and returns the new digest.
func (p *plan) write(tx *bbolt.Tx, d digest) (digest, error) {
	b := tx.Bucket([]byte(bucketName))
	if b == nil {
		return d, errors.New("the bucket is missing")
	}
	records := slices.Clone(p.records)
	for _, t := range p.tombstones {
		records = append(records, stale(b, t)...)
		records = append(records, t.chunks...)
	}
	for _, r := range records {
		if err := put(b, r, &d); err != nil {
			return d, err
		}
	}
	total := d.record(uint64(tx.ID()))
	return d, b.Put(total.key, total.value)
}

// stale returns the removal of all old tombstones of a table that t does not replace.
func stale(b *bbolt.Bucket, t tombstones) []record {
	var drops []record
	prefix := tombstonePrefix(t.table)
	c, chunks := b.Cursor(), t.chunks // both are in ascending order
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		for len(chunks) > 0 && bytes.Compare(chunks[0].key, key) < 0 {
			chunks = chunks[1:]
		}
		if len(chunks) == 0 || !bytes.Equal(chunks[0].key, key) {
			drops = append(drops, record{key: bytes.Clone(key)})
		}
	}
	return drops
}

// put writes or removes one record, and updates the digest.
func put(b *bbolt.Bucket, r record, d *digest) error {
	old := b.Get(r.key)
	if bytes.Equal(old, r.value) {
		return nil
	}
	if old != nil {
		d.remove(r.key, old)
	}
	if len(r.value) == 0 {
		return b.Delete(r.key)
	}
	d.add(r.key, r.value)
	return b.Put(r.key, r.value)
}

// encodeState returns all records of a state except the digest, and the digest.
func encodeState(s State) ([]record, digest, error) {
	s.FormatVersion = cmp.Or(s.FormatVersion, Version)
	if _, err := formatOf(s.FormatVersion); err != nil {
		return nil, digest{}, err
	}
	if len(s.Params) > maxValue {
		return nil, digest{}, fmt.Errorf("%w: %d bytes of parameters", ErrInvalid, len(s.Params))
	}
	empty := live{tables: map[uint64]uint32{}}
	p, err := empty.plan(Edit{AddTables: s.Tables, SetTombstones: s.Tombstones, SetMarks: s.Marks, Allow: s.Allowed, LastSeq: s.LastSeq})
	if err != nil {
		return nil, digest{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	options, err := optionRecords(s.Options)
	if err != nil {
		return nil, digest{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	records := append(p.records, options...)
	if s.Closed != (LogEnd{}) {
		records = append(records, newRecord(keyClosed, s.Closed.encode()))
	}
	records = append(records, newRecord(keyState, fixedOf(s).encode()), newRecord(keyParams, s.Params))
	for _, t := range p.tombstones {
		records = append(records, t.chunks...)
	}
	var d digest
	for _, r := range records {
		d.add(r.key, r.value)
	}
	return records, d, nil
}

func optionRecords(options map[string]string) ([]record, error) {
	var records []record
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if len(name) > maxName || len(options[name]) > maxValue {
			return nil, fmt.Errorf("option of %d + %d bytes", len(name), len(options[name]))
		}
		records = append(records, newRecord(prefixOption+name, []byte(options[name])))
	}
	return records, nil
}

func markRecords(marks map[string]int64) ([]record, error) {
	var records []record
	for _, name := range slices.Sorted(maps.Keys(marks)) {
		if len(name) > maxName {
			return nil, fmt.Errorf("mark of %d bytes", len(name))
		}
		records = append(records, newRecord(prefixMark+name, binary.LittleEndian.AppendUint64(nil, uint64(marks[name]))))
	}
	return records, nil
}

// tombstoneRecords divides a bitmap into records, one for every 65,536 documents with a deleted
// document among them.
func tombstoneRecords(table uint64, docs uint32, deleted *roaring.Bitmap) ([]record, error) {
	if deleted == nil || deleted.IsEmpty() {
		return nil, nil
	}
	if last := deleted.Maximum(); last >= docs {
		return nil, fmt.Errorf("tombstone of document %d in table %d of %d", last, table, docs)
	}
	var records []record
	for next := uint64(deleted.Minimum()); next < uint64(docs); {
		chunk := next >> 16
		window := roaring.New()
		window.AddRange(chunk<<16, (chunk+1)<<16)
		window.And(deleted)
		if !window.IsEmpty() {
			window.RunOptimize()
			buf, err := window.ToBytes()
			if err != nil {
				return nil, err
			}
			records = append(records, newRecord(tombstoneKey(table, uint16(chunk)), buf))
		}
		next = (chunk + 1) << 16
	}
	return records, nil
}
