package main

import (
	"encoding/binary"
	"math/bits"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"go.etcd.io/bbolt"
)

// Keys in key-value stores: the permuted fingerprint, 8 bytes, and the document, 4 bytes, both
// big-endian. In Pebble the number of the table comes first, 1 byte; bbolt has a bucket for each
// table. Values are empty.

func appendKey(b []byte, key uint64, doc uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(b, key), doc)
}

// cursor is what both stores have: seek goes to the first key at or after the one given, of one
// table, and next to the one after. They return the permuted fingerprint and the document, and
// false where the table ends.
type cursor interface {
	seek(table int, key uint64) (uint64, uint32, bool)
	next() (uint64, uint32, bool)
}

// nearByCursor walks the range of the leading block in every table.
func nearByCursor(c cursor, r rotations, q uint64, k int, found func(uint32)) (n int) {
	for t := range r.bits {
		first, last := r.rangeOf(t, q)
		for key, doc, ok := c.seek(t, first); ok && key <= last; key, doc, ok = c.next() {
			x := bits.RotateLeft64(key, -r.offset[t]) ^ q
			if bits.OnesCount64(x) <= k && r.firstFoundIn(t, x) {
				n++
				if found != nil {
					found(doc)
				}
			}
		}
	}
	return n
}

type pebbleIndex struct {
	rotations
	dir  string
	db   *pebble.DB
	it   *pebble.Iterator
	seek pebbleCursor
}

// quiet drops Pebble's log.
type quiet struct{}

func (quiet) Infof(string, ...any)  {}
func (quiet) Errorf(string, ...any) {}
func (quiet) Fatalf(format string, args ...any) {
	panic(format)
}

// buildPebble loads sorted batches without the log, compacts everything and keeps one iterator, all
// of which favours Pebble. Its cache holds everything.
func buildPebble(dir string, fps []uint64, k int) (index, error) {
	cache := pebble.NewCache(4 << 30)
	defer cache.Unref()
	db, err := pebble.Open(dir, &pebble.Options{
		Cache: cache, DisableWAL: true, MemTableSize: 64 << 20, Logger: quiet{}, FormatMajorVersion: pebble.FormatNewest,
	})
	if err != nil {
		return nil, err
	}
	p := &pebbleIndex{rotations: forDistance(k), dir: dir, db: db}
	if err := p.load(fps); err != nil {
		db.Close()
		return nil, err
	}
	if p.it, err = db.NewIter(nil); err != nil {
		db.Close()
		return nil, err
	}
	p.seek.it = p.it
	return p, nil
}

func (p *pebbleIndex) load(fps []uint64) error {
	var key []byte
	for t := range p.bits {
		b := p.db.NewBatch()
		for i, e := range p.sorted(t, fps) {
			key = appendKey(append(key[:0], byte(t)), e.key, e.doc)
			if err := b.Set(key, nil, nil); err != nil {
				return err
			}
			if (i+1)%10000 == 0 {
				if err := b.Commit(pebble.NoSync); err != nil {
					return err
				}
				b = p.db.NewBatch()
			}
		}
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
	}
	if err := p.db.Flush(); err != nil {
		return err
	}
	return p.db.Compact(ctx, []byte{0}, []byte{255}, true)
}

type pebbleCursor struct {
	it    *pebble.Iterator
	table byte
	key   []byte
}

func (c *pebbleCursor) seek(table int, key uint64) (uint64, uint32, bool) {
	c.table = byte(table)
	c.key = appendKey(append(c.key[:0], c.table), key, 0)
	return c.here(c.it.SeekGE(c.key))
}

func (c *pebbleCursor) next() (uint64, uint32, bool) { return c.here(c.it.Next()) }

func (c *pebbleCursor) here(ok bool) (uint64, uint32, bool) {
	if !ok || c.it.Key()[0] != c.table {
		return 0, 0, false
	}
	k := c.it.Key()
	return binary.BigEndian.Uint64(k[1:]), binary.BigEndian.Uint32(k[9:]), true
}

func (p *pebbleIndex) Near(q uint64, k int, found func(uint32)) (int, error) {
	n := nearByCursor(&p.seek, p.rotations, q, k, found)
	return n, p.it.Error()
}

func (p *pebbleIndex) Bytes() (int64, error) { return diskBytes(p.dir) }

func (p *pebbleIndex) Close() error {
	if err := p.it.Close(); err != nil {
		return err
	}
	return p.db.Close()
}

type boltIndex struct {
	rotations
	db   *bbolt.DB
	tx   *bbolt.Tx
	seek boltCursor
}

// buildBolt loads sorted keys into full pages without fsync and keeps one transaction and its
// cursors, all of which favours bbolt.
func buildBolt(dir string, fps []uint64, k int) (index, error) {
	db, err := bbolt.Open(filepath.Join(dir, "bolt"), 0o666, &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	b := &boltIndex{rotations: forDistance(k), db: db}
	for t := range b.bits {
		if err := b.load(t, b.sorted(t, fps)); err != nil {
			db.Close()
			return nil, err
		}
	}
	if b.tx, err = db.Begin(false); err != nil {
		db.Close()
		return nil, err
	}
	for t := range b.bits {
		b.seek.cursors = append(b.seek.cursors, b.tx.Bucket([]byte{byte(t)}).Cursor())
	}
	return b, nil
}

func (b *boltIndex) load(table int, es []entry) error {
	var key []byte
	for len(es) > 0 {
		n := min(len(es), 100000)
		err := b.db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte{byte(table)})
			if err != nil {
				return err
			}
			bucket.FillPercent = 1
			for _, e := range es[:n] {
				key = appendKey(key[:0], e.key, e.doc)
				if err := bucket.Put(key, nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		es = es[n:]
	}
	return nil
}

type boltCursor struct {
	cursors []*bbolt.Cursor
	table   int
	key     []byte
}

func (c *boltCursor) seek(table int, key uint64) (uint64, uint32, bool) {
	c.table = table
	c.key = appendKey(c.key[:0], key, 0)
	k, _ := c.cursors[table].Seek(c.key)
	return c.here(k)
}

func (c *boltCursor) next() (uint64, uint32, bool) {
	k, _ := c.cursors[c.table].Next()
	return c.here(k)
}

func (c *boltCursor) here(k []byte) (uint64, uint32, bool) {
	if k == nil {
		return 0, 0, false
	}
	return binary.BigEndian.Uint64(k), binary.BigEndian.Uint32(k[8:]), true
}

func (b *boltIndex) Near(q uint64, k int, found func(uint32)) (int, error) {
	return nearByCursor(&b.seek, b.rotations, q, k, found), nil
}

func (b *boltIndex) Bytes() (int64, error) { return b.tx.Size(), nil }

func (b *boltIndex) Close() error {
	if err := b.tx.Rollback(); err != nil {
		return err
	}
	return b.db.Close()
}
