package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// kvFlags are the flags of `kv`.
type kvFlags struct {
	n, size, queries, rounds int
	text                     bool
	cache                    int64 // bytes
	seed                     uint64
	only                     string
	limit                    time.Duration
}

// pageLength is the number of documents in a page.
const pageLength = 100

// A store is a key-value store on disk. Slices passed to functions are valid during the call.
type store interface {
	// Put stores documents in one batch, without fsync.
	Put(keys []string, values [][]byte) error
	// Settle writes the documents that are only in memory to tables.
	Settle() error
	// Compact brings the store into the form in which it is read fastest.
	Compact() error
	// Get calls found with the value of a stored key, and reports whether it is stored.
	Get(key string, found func(value []byte)) (bool, error)
	// Page calls found for up to limit keys in ascending order, from a key on; 0 means no limit.
	Page(from string, limit int, found func(key, value []byte)) error
	Close() error
}

// A kvContestant opens a store in dir, and creates it if there is none.
type kvContestant struct {
	name string
	open func(dir string, f kvFlags) (store, error)
}

var kvContestants = []kvContestant{
	{"simdb", openSimdb},
	{"goleveldb", openLevel},
	{"Pebble", openPebble},
	{"bbolt", openBolt},
	{"SQLite", openSQLite},
}

// runKV compares key-value stores: every contestant stores the same documents in the same order
// and answers the same questions, on one processor.
func runKV(f kvFlags) error {
	runtime.GOMAXPROCS(1)
	if f.n < 1 || f.n%step == 0 {
		return fmt.Errorf("-n %d: at least 1, and no multiple of %d", f.n, step)
	}
	data := newDocuments(f)
	fmt.Printf("%d documents of %.0f bytes with keys of %d, in random order; caches of %d MiB. Processor time of one operation, the best of %d rounds; nothing is synced.\n\n",
		f.n, data.mean(), len(data.key(0)), f.cache>>20, f.rounds)
	t := newTable(os.Stdout, "", "put one", "put, batches of 1,000", "compact, a document", "bytes a document",
		"get", "get of none", "page of "+strconv.Itoa(pageLength), "whole scan, a document")
	for _, c := range kvContestants {
		if f.only != "" && !slices.Contains(strings.Split(f.only, ","), c.name) {
			continue
		}
		r, err := f.run(c, data)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		t.add(c.name, microseconds(r.putOne), microseconds(r.putMany), microseconds(r.compact), fmt.Sprintf("%.1f", r.bytes),
			microseconds(r.get), microseconds(r.none), microseconds(r.page), microseconds(r.scan))
		fmt.Fprintf(os.Stderr, "%s done\n", c.name)
	}
	return t.print()
}

// kvResult is the result of one contestant: processor times of one operation, or of one document.
type kvResult struct {
	putOne, putMany, compact time.Duration
	bytes                    float64 // a document, on disk
	get, none, page, scan    time.Duration
}

func (f kvFlags) run(c kvContestant, data *documents) (r kvResult, err error) {
	dir, err := os.MkdirTemp("", "simdb-bench-")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	r.putOne, r.putMany, r.compact = time.Hour, time.Hour, time.Hour
	read := ""
	for i := range f.rounds {
		one, _, err := f.fill(c, filepath.Join(dir, fmt.Sprint("one", i)), data, 1)
		if err != nil {
			return r, err
		}
		r.putOne = min(r.putOne, one)
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprint("one", i))); err != nil {
			return r, err
		}
		if read != "" {
			if err := os.RemoveAll(read); err != nil {
				return r, err
			}
		}
		read = filepath.Join(dir, fmt.Sprint("many", i))
		many, compact, err := f.fill(c, read, data, 1000)
		if err != nil {
			return r, err
		}
		r.putMany, r.compact = min(r.putMany, many), min(r.compact, compact)
	}
	s, err := c.open(read, f)
	if err == nil {
		err = s.Close() // opening removes logs that are no longer needed
	}
	if err != nil {
		return r, err
	}
	if r.bytes, err = folderSize(read); err != nil {
		return r, err
	}
	r.bytes /= float64(f.n)
	if s, err = c.open(read, f); err != nil {
		return r, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	if err := data.verify(s); err != nil {
		return r, err
	}
	return r, f.read(s, data, &r)
}

// fill stores all documents and compacts them. It returns the processor times of both, a document.
func (f kvFlags) fill(c kvContestant, dir string, data *documents, batch int) (put, compact time.Duration, err error) {
	if err := os.Mkdir(dir, 0o777); err != nil {
		return 0, 0, err
	}
	s, err := c.open(dir, f)
	if err != nil {
		return 0, 0, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	runtime.GC()
	start := cpuTime()
	keys, values := make([]string, 0, batch), make([][]byte, 0, batch)
	for i := range f.n {
		doc := data.written(i)
		keys, values = append(keys, data.key(doc)), append(values, data.value(doc))
		if len(keys) == batch || i == f.n-1 {
			if err := s.Put(keys, values); err != nil {
				return 0, 0, err
			}
			keys, values = keys[:0], values[:0]
		}
	}
	if err := s.Settle(); err != nil {
		return 0, 0, err
	}
	put = cpuTime() - start
	start = cpuTime()
	if err := s.Compact(); err != nil {
		return 0, 0, err
	}
	compact = cpuTime() - start
	return put / time.Duration(f.n), compact / time.Duration(f.n), nil
}

// read times the reads.
func (f kvFlags) read(s store, data *documents, r *kvResult) (err error) {
	random := splitmix(f.seed)
	asked := make([]string, f.queries)
	for i := range asked {
		asked[i] = data.key(int(random.next() % uint64(f.n)))
	}
	sum := 0 // of bytes, so that values are read
	value := func(v []byte) { sum += int(v[0]) + int(v[len(v)-1]) }
	pair := func(_, v []byte) { value(v) }
	if r.get, err = f.time(len(asked), func(i int) error { return found(s, asked[i], true, value) }); err != nil {
		return err
	}
	absent := slices.Clone(asked)
	for i := range absent {
		absent[i] = strings.Replace(absent[i], "profile", "missing", 1)
	}
	if r.none, err = f.time(len(asked), func(i int) error { return found(s, absent[i], false, value) }); err != nil {
		return err
	}
	if r.page, err = f.time(len(asked), func(i int) error { return s.Page(asked[i], pageLength, pair) }); err != nil {
		return err
	}
	r.scan, err = f.time(1, func(int) error { return s.Page("", 0, pair) })
	r.scan /= time.Duration(f.n)
	if sum == 0 {
		return errors.New("no value was read")
	}
	return err
}

func found(s store, key string, want bool, value func([]byte)) error {
	got, err := s.Get(key, value)
	if err == nil && got != want {
		err = fmt.Errorf("get of %s: %t, want %t", key, got, want)
	}
	return err
}

// time returns the processor time of one of n operations, in the best of several rounds. The first
// round warms up, and reduces n to the operations that need no longer than a round's share of the
// limit. No round begins after the limit.
func (f kvFlags) time(n int, ask func(i int) error) (time.Duration, error) {
	best, begin := time.Duration(0), cpuTime()
	for round := range f.rounds + 1 {
		if round > 1 && cpuTime()-begin > f.limit {
			break
		}
		runtime.GC()
		start := cpuTime()
		for i := 0; i < n; i++ {
			if err := ask(i); err != nil {
				return 0, err
			}
			if round == 0 && i%64 == 0 && cpuTime()-start > f.limit/time.Duration(f.rounds+1) {
				n = i + 1
			}
		}
		if took := (cpuTime() - start) / time.Duration(n); round == 1 || round > 1 && took < best {
			best = took
		}
	}
	return best, nil
}

// folderSize returns the size of all files in a folder.
func folderSize(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			bytes += float64(info.Size())
		}
		return err
	})
	return bytes, err
}
