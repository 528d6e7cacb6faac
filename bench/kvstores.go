package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cockroachdb/pebble/v2"
	pebblebloom "github.com/cockroachdb/pebble/v2/bloom"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
	"go.etcd.io/bbolt"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/simdb/simdb/engine"
)

// memtableBytes is the size of the memtables of all LSM trees, simdb's default.
const memtableBytes = 16 << 20

// simdbStore stores documents with fields alone, which have neither fingerprint nor sketch, or with
// the value as text, which has both.
type simdbStore struct {
	db   *engine.DB
	text bool
}

func openSimdb(dir string, f kvFlags) (store, error) {
	o := &engine.Options{NoSync: true, MemtableBytes: memtableBytes, NoSketch: !f.text, Cache: f.cache}
	db, err := engine.Open(filepath.Join(dir, "kv.simdb"), o)
	return &simdbStore{db, f.text}, err
}

func (s *simdbStore) Put(keys []string, values [][]byte) error {
	var b engine.Batch
	for i, key := range keys {
		d := engine.Doc{ID: key, Fields: values[i]}
		if s.text {
			d = engine.Doc{ID: key, Text: string(values[i])}
		}
		if len(keys) == 1 {
			return s.db.Put(ctx, d)
		}
		b.Put(d)
	}
	return s.db.Apply(ctx, &b)
}

func (s *simdbStore) Settle() error  { return s.db.Flush(ctx) }
func (s *simdbStore) Compact() error { return s.db.Compact(ctx, nil) }

func (s *simdbStore) value(d engine.Doc) []byte {
	if s.text {
		return []byte(d.Text)
	}
	return d.Fields
}

func (s *simdbStore) Get(key string, found func([]byte)) (bool, error) {
	d, err := s.db.Get(ctx, key)
	if errors.Is(err, engine.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		found(s.value(d))
	}
	return true, err
}

func (s *simdbStore) Page(from string, limit int, found func(key, value []byte)) error {
	for d, err := range s.db.Range(ctx, engine.Range{From: from, Limit: limit, Load: true}) {
		if err != nil {
			return err
		}
		found([]byte(d.ID), s.value(d))
	}
	return nil
}

func (s *simdbStore) Close() error { return s.db.Close() }

type levelStore struct{ db *leveldb.DB }

func openLevel(dir string, f kvFlags) (store, error) {
	db, err := leveldb.OpenFile(dir, &opt.Options{
		BlockCacheCapacity: int(f.cache), WriteBuffer: memtableBytes, Filter: filter.NewBloomFilter(10), NoSync: true,
	})
	return &levelStore{db}, err
}

func (s *levelStore) Put(keys []string, values [][]byte) error {
	var b leveldb.Batch
	for i, key := range keys {
		b.Put([]byte(key), values[i])
	}
	return s.db.Write(&b, nil)
}

// Settle does nothing: there is no call that writes a memtable.
func (s *levelStore) Settle() error  { return nil }
func (s *levelStore) Compact() error { return s.db.CompactRange(util.Range{}) }

func (s *levelStore) Get(key string, found func([]byte)) (bool, error) {
	v, err := s.db.Get([]byte(key), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return false, nil
	}
	if err == nil {
		found(v)
	}
	return true, err
}

func (s *levelStore) Page(from string, limit int, found func(key, value []byte)) error {
	it := s.db.NewIterator(&util.Range{Start: []byte(from)}, nil)
	defer it.Release()
	for n := 0; it.Next(); {
		found(it.Key(), it.Value())
		if n++; n == limit {
			break
		}
	}
	return it.Error()
}

func (s *levelStore) Close() error { return s.db.Close() }

type pebbleStore struct{ db *pebble.DB }

func openPebble(dir string, f kvFlags) (store, error) {
	o := &pebble.Options{CacheSize: f.cache, MemTableSize: memtableBytes, FormatMajorVersion: pebble.FormatNewest, Logger: silent{}}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = pebblebloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, o)
	return &pebbleStore{db}, err
}

// silent is a logger of Pebble that reports only fatal errors.
type silent struct{}

func (silent) Infof(string, ...any)      {}
func (silent) Errorf(string, ...any)     {}
func (silent) Fatalf(f string, a ...any) { pebble.DefaultLogger.Fatalf(f, a...) }

func (s *pebbleStore) Put(keys []string, values [][]byte) error {
	if len(keys) == 1 {
		return s.db.Set([]byte(keys[0]), values[0], pebble.NoSync)
	}
	b := s.db.NewBatch()
	for i, key := range keys {
		if err := b.Set([]byte(key), values[i], nil); err != nil {
			return err
		}
	}
	return b.Commit(pebble.NoSync)
}

func (s *pebbleStore) Settle() error { return s.db.Flush() }

func (s *pebbleStore) Compact() error {
	return s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, false)
}

func (s *pebbleStore) Get(key string, found func([]byte)) (bool, error) {
	v, closer, err := s.db.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	found(v)
	return true, closer.Close()
}

func (s *pebbleStore) Page(from string, limit int, found func(key, value []byte)) error {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte(from)})
	if err != nil {
		return err
	}
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		v, err := it.ValueAndErr()
		if err != nil {
			return errors.Join(err, it.Close())
		}
		found(it.Key(), v)
		if n++; n == limit {
			break
		}
	}
	return it.Close()
}

func (s *pebbleStore) Close() error { return s.db.Close() }

// boltStore is a bucket. bbolt maps its file, so there is no cache to limit.
type boltStore struct {
	path string
	db   *bbolt.DB
}

var bucket = []byte("kv")

func openBolt(dir string, _ kvFlags) (store, error) {
	s := &boltStore{path: filepath.Join(dir, "kv.bolt")}
	return s, s.open()
}

func (s *boltStore) open() (err error) {
	s.db, err = bbolt.Open(s.path, 0o666, &bbolt.Options{NoSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
}

func (s *boltStore) Put(keys []string, values [][]byte) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		for i, key := range keys {
			if err := b.Put([]byte(key), values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *boltStore) Settle() error { return nil }

// Compact copies everything to a new file, as `bbolt compact` does.
func (s *boltStore) Compact() error {
	to, err := bbolt.Open(s.path+".new", 0o666, &bbolt.Options{NoSync: true})
	if err != nil {
		return err
	}
	err = errors.Join(bbolt.Compact(to, s.db, 1<<20), to.Close(), s.db.Close())
	if err == nil {
		err = os.Rename(s.path+".new", s.path)
	}
	return errors.Join(err, s.open())
}

func (s *boltStore) Get(key string, found func([]byte)) (ok bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucket).Get([]byte(key))
		if ok = v != nil; ok {
			found(v)
		}
		return nil
	})
	return ok, err
}

func (s *boltStore) Page(from string, limit int, found func(key, value []byte)) error {
	return s.db.View(func(tx *bbolt.Tx) error {
		c := tx.Bucket(bucket).Cursor()
		n := 0
		for k, v := c.Seek([]byte(from)); k != nil; k, v = c.Next() {
			found(k, v)
			if n++; n == limit {
				break
			}
		}
		return nil
	})
}

func (s *boltStore) Close() error { return s.db.Close() }

// sqliteStore is a table that is stored in the index of its keys.
type sqliteStore struct {
	db             *sql.DB
	put, get, page *sql.Stmt
}

func openSQLite(dir string, f kvFlags) (_ store, err error) {
	s := &sqliteStore{}
	if s.db, err = sql.Open("sqlite", filepath.Join(dir, "kv.sqlite")); err != nil {
		return nil, err
	}
	s.db.SetMaxOpenConns(1)
	for _, statement := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -" + strconv.FormatInt(f.cache>>10, 10),
		"CREATE TABLE IF NOT EXISTS kv (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID",
	} {
		if _, err := s.db.Exec(statement); err != nil {
			return nil, errors.Join(err, s.db.Close())
		}
	}
	for into, statement := range map[**sql.Stmt]string{
		&s.put:  "INSERT OR REPLACE INTO kv VALUES (?, ?)",
		&s.get:  "SELECT v FROM kv WHERE k = ?",
		&s.page: "SELECT k, v FROM kv WHERE k >= ? ORDER BY k LIMIT ?",
	} {
		if *into, err = s.db.Prepare(statement); err != nil {
			return nil, errors.Join(err, s.db.Close())
		}
	}
	return s, nil
}

func (s *sqliteStore) Put(keys []string, values [][]byte) error {
	if len(keys) == 1 {
		_, err := s.put.Exec([]byte(keys[0]), values[0])
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	put := tx.Stmt(s.put)
	for i, key := range keys {
		if _, err := put.Exec([]byte(key), values[i]); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

func (s *sqliteStore) Settle() error { return s.exec("PRAGMA wal_checkpoint(TRUNCATE)") }

func (s *sqliteStore) Compact() error {
	return errors.Join(s.exec("VACUUM"), s.exec("PRAGMA wal_checkpoint(TRUNCATE)"))
}

func (s *sqliteStore) exec(statement string) error {
	_, err := s.db.Exec(statement)
	return err
}

func (s *sqliteStore) Get(key string, found func([]byte)) (bool, error) {
	var v sql.RawBytes
	rows, err := s.get.Query([]byte(key))
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(&v); err != nil {
		return false, err
	}
	found(v)
	return true, rows.Err()
}

func (s *sqliteStore) Page(from string, limit int, found func(key, value []byte)) error {
	if limit == 0 {
		limit = -1 // all
	}
	rows, err := s.page.Query([]byte(from), limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	var k, v sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&k, &v); err != nil {
			return err
		}
		found(k, v)
	}
	return rows.Err()
}

func (s *sqliteStore) Close() error { return s.db.Close() }
