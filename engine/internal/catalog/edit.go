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
	history *History             // not nil
	tables  map[uint64]liveTable // by table number
}

// liveTable describes a live table.
type liveTable struct {
	docs uint32 // number of documents
	stored
}

// stored describes the tombstones of a table in the file: bytes of chunks and of deltas, and the
// number of deltas, which are numbered from 0.
type stored struct {
	chunks, deltas int
	count          uint32
}

// full reports whether deltas with more bytes are to be folded into the chunks of the table. With
// three quarters, a flush of 60,000 random deletions in a table of 100 million documents, a tenth
// of them deleted, writes 0.42 MB (BenchmarkTombstones), and a reader reads at most 1.75 times the
// chunks. So are deltas that alone have half as many bytes as the chunks: folding each writes less.
func (s stored) full(more int) bool {
	return s.deltas+more > max(s.chunks/4*3, pageSize) || more > max(s.chunks/2, pageSize)
}

func (s stored) plusDelta(r record) stored {
	return stored{s.chunks, s.deltas + len(r.key) + len(r.value), s.count + 1}
}

func liveOf(s State) live {
	l := live{fixed: fixedOf(s), closed: s.Closed, lastSeq: s.LastSeq, history: s.KnownHistory(), tables: make(map[uint64]liveTable, len(s.Tables))}
	for _, t := range s.Tables {
		l.tables[t.Number] = liveTable{t.Docs, s.stored[t.Number]}
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
	more   *roaring.Bitmap // if not nil, the new ones are those in the file and these
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
	if len(e.Removed) > 0 {
		p.history, p.records = l.history.with(e.Removed, e.HistoryLimit, p.records)
		e.LastSeq = max(e.LastSeq, p.history.Last())
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
	marks, err := markRecords(e.SetMarks)
	if err != nil {
		return nil, err
	}
	options, err := optionRecords(e.SetOptions)
	p.records = slices.Concat(p.records, marks, options)
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
		p.tables[t.Number] = liveTable{docs: t.Docs}
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
		t, ok := p.tables[table]
		if !ok {
			return fmt.Errorf("there is no table %d for tombstones", table)
		}
		chunks, err := tombstoneRecords(table, t.docs, e.SetTombstones[table])
		if err != nil {
			return err
		}
		p.tombstones = append(p.tombstones, tombstones{table: table, chunks: chunks})
		p.replaced(table, chunks)
	}
	for _, table := range slices.Sorted(maps.Keys(e.AddTombstones)) {
		dead := e.AddTombstones[table]
		t, ok := p.tables[table]
		_, set := e.SetTombstones[table]
		switch {
		case !ok || set:
			return fmt.Errorf("there is no table %d to add tombstones to", table)
		case dead == nil || dead.IsEmpty():
			continue
		case dead.Maximum() >= t.docs:
			return fmt.Errorf("tombstone of document %d in table %d of %d", dead.Maximum(), table, t.docs)
		}
		if t.full(int(dead.GetSerializedSizeInBytes())) {
			p.tombstones = append(p.tombstones, tombstones{table: table, more: dead})
			continue
		}
		deltas, err := deltaRecords(table, t.count, dead)
		if err != nil {
			return err
		}
		for _, r := range deltas {
			t.stored = t.plusDelta(r)
		}
		p.records, p.tables[table] = append(p.records, deltas...), t
	}
	return nil
}

// replaced records that chunks replace all tombstones of a table.
func (p *plan) replaced(table uint64, chunks []record) {
	t := liveTable{docs: p.tables[table].docs}
	for _, r := range chunks {
		t.chunks += len(r.value)
	}
	p.tables[table] = t
}

// fold returns the chunks of more and all tombstones that the file has of a table.
func (p *plan) fold(b *bbolt.Bucket, table uint64, more *roaring.Bitmap) (chunks []record, err error) {
	all, docs := more.Clone(), p.tables[table].docs
	prefix, c := tombstonePrefix(table), b.Cursor()
	for key, value := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, value = c.Next() {
		payload, err := record{key, value}.payload()
		if err == nil {
			err = addTombstones(all, 0, docs, payload)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", section(key), err)
		}
	}
	return tombstoneRecords(table, docs, all)
}

// write makes the changes in a transaction, and returns the new digest.
func (p *plan) write(tx *bbolt.Tx, d digest) (digest, error) {
	b := tx.Bucket([]byte(bucketName))
	if b == nil {
		return d, errors.New("the bucket is missing")
	}
	b.FillPercent = 0.9 // deltas are added in the order of their keys
	for _, r := range p.records {
		if err := put(b, r, &d); err != nil {
			return d, err
		}
	}
	for _, t := range p.tombstones {
		if t.more != nil {
			var err error
			if t.chunks, err = p.fold(b, t.table, t.more); err != nil {
				return d, err
			}
			p.replaced(t.table, t.chunks)
		}
		for _, r := range append(stale(b, t), t.chunks...) {
			if err := put(b, r, &d); err != nil {
				return d, err
			}
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
	empty := live{tables: map[uint64]liveTable{}}
	p, err := empty.plan(Edit{AddTables: s.Tables, SetTombstones: s.Tombstones, SetMarks: s.Marks, SetOptions: s.Options, Allow: s.Allowed, LastSeq: s.LastSeq})
	if err != nil {
		return nil, digest{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	records := p.records
	if s.History != nil {
		records = append(records, newRecord(removedKey(s.History.Gone), nil))
	}
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

// deltaRecords divides a bitmap into deltas with numbers from next. Large ones would be in pages of
// bbolt with their neighbours, and written again with these.
func deltaRecords(table uint64, next uint32, dead *roaring.Bitmap) (records []record, err error) {
	count := dead.GetCardinality()
	step := max(count*deltaBytes/max(dead.GetSerializedSizeInBytes(), deltaBytes), 1)
	for first := uint64(0); first < count; first += step {
		least, err := dead.Select(uint32(first))
		if err != nil {
			return nil, err
		}
		most, err := dead.Select(uint32(min(first+step, count) - 1))
		if err != nil {
			return nil, err
		}
		some := roaring.New()
		some.AddRange(uint64(least), uint64(most)+1)
		some.And(dead)
		some.RunOptimize()
		buf, err := some.ToBytes()
		if err != nil {
			return nil, err
		}
		records = append(records, newRecord(deltaKey(table, next), buf))
		next++
	}
	return records, nil
}

// deltaBytes is about how large a delta is at most: some are in a page.
const deltaBytes = pageSize / 4

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
