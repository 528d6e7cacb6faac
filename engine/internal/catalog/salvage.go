package catalog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/vfs"
)

// Salvaged is what could be read of a catalog.
type Salvaged struct {
	// State has what is known. Tables are all that the catalog had at any time of which a record is
	// left, unless Current; their tombstones are at least those of that time.
	State State
	// Current says that State is all that the catalog says, as of its last transaction.
	Current bool
	// HasState and HasParams say whether the record of the fixed fields, and that of the
	// parameters, were found.
	HasState, HasParams bool
	// Err is why the catalog can't be opened, nil if it can: then Transaction is its last one.
	Err         error
	Transaction uint64
}

// Salvage reads what can be read of a catalog, without bbolt. The error is one of the file system.
//
// A tree is complete if the digest in it is that of its records; it is the current one if no trace
// of a later transaction is in the file. So a damaged root page loses nothing: the page that it
// named is found by its content. If there is no such tree, State is put together from all records
// in the file whose checksums are right, those of earlier transactions included. That is sound as
// far as facts go that never change or only grow: what a table is, the numbers of the state, and
// tombstones.
func Salvage(fs vfs.FS, name string) (Salvaged, error) {
	state, t, _, err := read(fs, name)
	if err == nil {
		return Salvaged{State: *state, Current: true, HasState: true, HasParams: true, Transaction: t.txid}, nil
	}
	out := Salvaged{Err: err}
	f, openErr := fs.Open(name)
	if openErr != nil {
		return out, openErr
	}
	defer f.Close()
	size, sizeErr := f.Size()
	if sizeErr != nil {
		return out, sizeErr
	}
	g := &gleaner{walker: walker{f: f, name: name, pages: uint64(size) / pageSize}}
	g.lookAtPages()
	if state := g.newestTree(); state != nil {
		out.State, out.Current, out.HasState, out.HasParams = *state, true, true, true
		return out, nil
	}
	g.merge(&out)
	return out, nil
}

// gleaner looks through all pages of a file.
type gleaner struct {
	walker
	roots   [][]byte // values of the bucket, as pages have them
	records []record // whose checksums are right
	newest  uint64   // the last transaction of which there is a trace
}

// lookAtPages collects what is in any page.
func (g *gleaner) lookAtPages() {
	for i := range uint64(2) {
		if m, err := g.metaPage(i); err == nil {
			g.newest = max(g.newest, m.txid)
		}
	}
	for id := uint64(2); id < g.pages; id++ {
		head, err := g.read(id, pageHeader)
		if err != nil || order.Uint16(head[8:]) != leafPage || order.Uint64(head) != id {
			continue
		}
		more := uint64(order.Uint32(head[12:]))
		if more > maxOverflow || more >= g.pages-id {
			more = 0
		}
		if buf, err := g.read(id, int(more+1)*pageSize); err == nil {
			g.lookAtLeaf(buf, true)
		}
	}
}

// lookAtLeaf collects what is in a leaf, whose elements are looked at one by one. Buckets may be in
// it if top says so.
func (g *gleaner) lookAtLeaf(buf []byte, top bool) {
	const size = 16
	count := min(int(order.Uint16(buf[10:])), (len(buf)-pageHeader)/size)
	for i := range count {
		at := pageHeader + size*i
		raw := buf[at : at+size]
		start := uint64(at) + uint64(order.Uint32(raw[4:]))
		keySize, valueSize := uint64(order.Uint32(raw[8:])), uint64(order.Uint32(raw[12:]))
		if end := start + keySize + valueSize; keySize == 0 || end > uint64(len(buf)) {
			continue
		}
		r := record{buf[start:][:keySize:keySize], buf[start+keySize:][:valueSize:valueSize]}
		if top && string(r.key) == bucketName && len(r.value) >= bucketSize {
			g.roots = append(g.roots, r.value)
			if inline := r.value[bucketSize:]; order.Uint64(r.value) == 0 && len(inline) >= pageHeader {
				g.lookAtLeaf(inline, false)
			}
			continue
		}
		payload, err := r.payload()
		if err != nil {
			continue
		}
		if string(r.key) == keyDigest && len(payload) == 24 {
			g.newest = max(g.newest, binary.LittleEndian.Uint64(payload[16:]))
		}
		g.records = append(g.records, r)
	}
}

// newestTree returns the state of the newest transaction, nil if its tree is not there as a whole.
func (g *gleaner) newestTree() *State {
	for _, value := range g.roots {
		w := walker{f: g.f, name: g.name, pages: g.pages, seen: map[uint64]bool{}}
		if w.bucket(value) != nil {
			continue
		}
		i := slices.IndexFunc(w.records, func(r record) bool { return string(r.key) == keyDigest })
		if i < 0 {
			continue
		}
		payload, err := w.records[i].payload()
		if err != nil || len(payload) != 24 {
			continue
		}
		txid := binary.LittleEndian.Uint64(payload[16:])
		if state, _, err := decodeState(g.name, tree{txid, w.records}); err == nil && txid == g.newest {
			return state
		}
	}
	return nil
}

// merge puts a state together from single records.
func (g *gleaner) merge(out *Salvaged) {
	s := &out.State
	s.Options, s.Marks, s.Tombstones = map[string]string{}, map[string]int64{}, map[uint64]*roaring.Bitmap{}
	f := formats[Version]
	// tables come before their tombstones
	slices.SortStableFunc(g.records, func(a, b record) int { return bytes.Compare(a.key, b.key) })
	last := record{}
	for _, r := range g.records {
		if bytes.Equal(r.key, last.key) && bytes.Equal(r.value, last.value) {
			continue
		}
		last = r
		payload := r.value[crcSize:]
		switch kind := string(r.key); {
		case kind == keyState:
			g.mergeFixed(out, payload)
		case kind == keyClosed:
			if end, err := decodeLogEnd(payload); err == nil && end.Number >= s.Closed.Number {
				s.Closed = end
			}
		case kind == keyDigest || bytes.HasPrefix(r.key, []byte(prefixMark)):
			// a mark of an earlier time is of no use
		case bytes.HasPrefix(r.key, []byte(prefixTable)):
			if t, err := g.table(r.key, payload); err == nil {
				s.Tables = slices.DeleteFunc(s.Tables, func(have Table) bool { return have.Number == t.Number })
				s.Tables = append(s.Tables, t)
				slices.SortFunc(s.Tables, compareTables)
			}
		default:
			if f.record(s, r.key, payload) == nil && kind == keyParams {
				out.HasParams = true
			}
		}
	}
	slices.SortFunc(s.Allowed, comparePairs)
	s.Allowed = slices.Compact(s.Allowed)
}

// table decodes the record of a table.
func (g *gleaner) table(key, payload []byte) (Table, error) {
	rest := key[len(prefixTable):]
	if len(rest) != 8 {
		return Table{}, errors.New("malformed key")
	}
	return decodeTable(binary.BigEndian.Uint64(rest), payload)
}

// mergeFixed takes in a record of the fixed fields: numbers only grow.
func (g *gleaner) mergeFixed(out *Salvaged, payload []byte) {
	var now State
	version, err := decodeVersion(payload)
	if err != nil {
		return
	}
	f, ok := formats[version]
	if !ok || f.fixed(payload, &now) != nil {
		return
	}
	s := &out.State
	s.FormatVersion, s.UUID, s.Created = version, now.UUID, now.Created
	s.NextFile, s.FlushedSeq, s.FirstWAL = max(s.NextFile, now.NextFile), max(s.FlushedSeq, now.FlushedSeq), max(s.FirstWAL, now.FirstWAL)
	out.HasState = true
}

// Missing is the Err of a catalog that is not there.
func Missing(name string) error { return base.Corruptf(name, "file", -1, "missing") }
