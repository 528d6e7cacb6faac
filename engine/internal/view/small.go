package view

import (
	"cmp"
	"errors"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/simdb/simdb/engine/internal/idfilter"
	"github.com/simdb/simdb/engine/internal/memindex"
	"github.com/simdb/simdb/internal/base"
)

// SmallTables has what lets many tables cost about as much as one: an index in memory of the
// fingerprints of the small tables of a database, and a filter of the IDs of each table. Both are
// built when enough searches or look-ups have been done to pay for them, and then for each version
// that is used. Tables that do not fit into memory, the largest ones, and those that cannot be read
// are searched as without.
//
// One index serves successive versions, like that of a memtable: the fingerprints of a new table
// are appended, and those of tables that a merge has removed stay until the index is full, or more
// than half of it is theirs. Then another index replaces it; versions that were searched with the
// old one keep it. A filter belongs to its table.
type SmallTables struct {
	limit  int64 // bytes of memory: half for the index, half for filters
	beside func(v *Version, work func()) bool
	closed func() bool

	searches, lookUps credit
	bytes             atomic.Int64

	building sync.Mutex
	cols     Columns // fingerprints of the tables of ranges, one after the other
	full     int     // number of fingerprints that cols has space for
	ranges   []tableRange
	indexed  atomic.Pointer[indexed] // cols and ranges after the last build
}

// A tableRange is the positions of the fingerprints of a table, from first up to the next range. If
// table is nil, nobody needs them.
type tableRange struct {
	table *Table
	first uint32
	part  *Part // of the version of a Small; nil if that does not have the table
}

// indexed is an index with the ranges of its tables. It never changes.
type indexed struct {
	Columns
	ranges []tableRange
}

// A credit counts operations until these would have paid for a build.
type credit struct {
	n    atomic.Int64
	paid atomic.Bool
}

// pay counts an operation, and reports whether there were more than most: then a build, which costs
// as much as most indexes, has paid for itself.
func (c *credit) pay(most int64) bool {
	if !c.paid.Load() && c.n.Add(1) > max(most, leastPaid) {
		c.paid.Store(true)
	}
	return c.paid.Load()
}

// NewSmallTables returns indexes that need at most limit bytes. beside runs work on a version, which
// it refers to meanwhile, in another goroutine; it returns false, and does nothing, if the database
// is being closed. closed reports whether it is.
func NewSmallTables(limit int64, beside func(v *Version, work func()) bool, closed func() bool) *SmallTables {
	t := &SmallTables{limit: limit, beside: beside, closed: closed}
	t.indexed.Store(new(indexed))
	return t
}

// Bytes returns the memory of the index and of the filters.
func (t *SmallTables) Bytes() int64 { return t.bytes.Load() }

const (
	// Nanoseconds: of a build, for each fingerprint and ID; of a search and a look-up, for each
	// table (BenchmarkSmallTables in package engine).
	indexNs, filterNs = 50, 5
	searchNs, findNs  = 1000, 200

	leastPaid     = 8       // operations before anything is built
	builtAtOnce   = 1 << 12 // up to this many documents are read by the operation that pays for the build
	leastTogether = 2       // number of tables for which an index is worth its memory
	spareShare    = 4       // inverse of how much space an index has for new tables, relative to its fingerprints
	filterBits    = 10      // per ID

	// mostIndexed limits the fingerprints of an index: with more, chains are long and not in caches,
	// and tables of 80,000 fingerprints each are searched as fast (750,000 in 9 tables, k = 3).
	mostIndexed = 1 << 18
)

// Small is the index of the small tables of a version.
type Small struct {
	Columns         // fingerprints, also of tables that are not in the version
	Tables  int     // number of tables of the version that are in the index; if 0, there is none
	Size    int     // number of documents of these tables
	Apart   []*Part // the other tables
	All     []*Part // all tables
	ranges  []tableRange
	final   bool // no table of the version can be added
}

// of returns the index of the small tables among parts.
func (x *indexed) of(parts []*Part, final bool) *Small {
	s := &Small{All: parts, ranges: slices.Clone(x.ranges), final: final}
	at := map[*Table]*Part{}
	for _, p := range parts {
		at[p.Table] = p
	}
	for i := range s.ranges {
		r := &s.ranges[i]
		if r.part = at[r.table]; r.part != nil {
			s.Columns, s.Tables, s.Size = x.Columns, s.Tables+1, s.Size+int(r.part.NumDocs())
			delete(at, r.table)
		}
	}
	for _, p := range parts {
		if at[p.Table] != nil {
			s.Apart = append(s.Apart, p)
		}
	}
	return s
}

// Range returns the part that has the fingerprint at a position, nil if the version does not have
// it; the part's document number is the position minus first. The range ends at end.
func (s *Small) Range(at uint32) (p *Part, first, end uint32) {
	i := sort.Search(len(s.ranges), func(i int) bool { return s.ranges[i].first > at })
	if end = uint32(len(s.FPs)); i < len(s.ranges) {
		end = s.ranges[i].first
	}
	return s.ranges[i-1].part, s.ranges[i-1].first, end
}

// A sized lists the parts of a version, the smallest first, and what a build reads.
type sized struct {
	parts    []*Part
	together int   // number of the first parts that belong into the index
	fps      int   // their number of fingerprints
	filtered int   // number of the first parts that get filters
	docs     int64 // their number of documents
}

// size returns what t can have for parts.
func (t *SmallTables) size(parts []Part) (s sized) {
	for i := range parts {
		s.parts = append(s.parts, &parts[i])
	}
	slices.SortStableFunc(s.parts, func(p, q *Part) int { return cmp.Compare(p.NumDocs(), q.NumDocs()) })
	for _, p := range s.parts {
		n := s.fps + int(p.NumFingerprints())
		if n > mostIndexed || indexBytes(n+n/spareShare, p.Params().NumWords()) > t.limit/2 {
			break
		}
		s.together, s.fps = s.together+1, n
	}
	if s.together < leastTogether {
		s.together, s.fps = 0, 0
	}
	for _, p := range s.parts {
		n := s.docs + int64(p.NumDocs())
		if n*filterBits/8 > t.limit/2 {
			break
		}
		s.filtered, s.docs = s.filtered+1, n
	}
	return s
}

// indexBytes returns the memory of an index with space for n fingerprints. A few are only compared.
func indexBytes(n, words int) int64 {
	bytes := base.FingerprintBytes * n
	if n >= memindex.MinSize {
		bytes += memindex.Size(n)
	}
	return int64(bytes) * int64(words)
}

// Small returns the index of the small tables of v, for a search.
func (v *Version) Small() *Small {
	s := v.small.Load()
	if t := v.tables; !s.final && t.searches.pay(int64(v.sized.fps)*indexNs/searchNs/int64(max(1, len(v.Parts)))) {
		t.build(v, int64(v.sized.fps))
		return v.small.Load()
	}
	return s
}

// lookUp must be called before a look-up of an ID.
func (v *Version) lookUp() {
	if t := v.tables; !v.filtered.Load() && t.lookUps.pay(v.sized.docs*filterNs/findNs/int64(len(v.Parts))) {
		t.build(v, v.sized.docs)
	}
}

// build begins to make the indexes that are worth their cost for v, and reads about n documents for it. It returns
// when that is done if they are few.
func (t *SmallTables) build(v *Version, n int64) {
	if t.closed() || !t.building.TryLock() {
		return
	}
	work := func() {
		defer t.building.Unlock()
		t.complete(v)
	}
	if n <= builtAtOnce {
		work()
	} else if !t.beside(v, work) {
		t.building.Unlock()
	}
}

// complete makes the indexes that are worth their cost for v. The caller must have locked building.
func (t *SmallTables) complete(v *Version) {
	if t.lookUps.paid.Load() && !v.filtered.Load() {
		v.filtered.Store(t.filter(&v.sized))
	}
	if t.searches.paid.Load() && !v.small.Load().final && t.index(&v.sized) {
		v.small.Store(t.indexed.Load().of(v.sized.parts, true))
	}
	bytes := int64(0)
	if t.full > 0 {
		bytes = indexBytes(t.full, len(t.cols.Indexes)+1)
	}
	for _, p := range v.sized.parts {
		if f := p.ids.Load(); f != nil {
			bytes += int64(f.Bytes())
		}
	}
	t.bytes.Store(bytes)
}

// errClosing ends a build.
var errClosing = errors.New("the database is being closed")

// filter makes the filters of IDs. It returns false if the database is being closed.
func (t *SmallTables) filter(s *sized) bool {
	for i, p := range s.parts {
		if i >= s.filtered {
			p.ids.Store(nil)
		} else if p.ids.Load() == nil {
			f := idfilter.New(int64(p.NumDocs()) * filterBits / 8)
			err := p.IDHashBlocks(func(hashes []uint64) error {
				f.Add(hashes...)
				return t.goOn()
			})
			if err == errClosing {
				return false
			}
			if err == nil { // otherwise look-ups read the table, and report its damage
				p.ids.Store(f)
			}
		}
	}
	return true
}

func (t *SmallTables) goOn() error {
	if t.closed() {
		return errClosing
	}
	return nil
}

// index sets t.indexed to an index that includes the small tables. It returns false if the database
// is being closed.
func (t *SmallTables) index(s *sized) bool {
	if s.together == 0 {
		t.cols, t.full, t.ranges = Columns{}, 0, nil
		t.indexed.Store(new(indexed))
		return true
	}
	have, more := map[*Table]bool{}, s.fps
	t.ranges = slices.Clone(t.ranges)
	for i := range t.ranges {
		if r := &t.ranges[i]; r.table != nil && r.table.refs.Load() == 0 {
			r.table = nil // the table has been dropped, and should not stay in memory
		}
		have[t.ranges[i].table] = true
	}
	for _, p := range s.parts[:s.together] {
		if have[p.Table] {
			more -= int(p.NumFingerprints())
		}
	}
	if n := len(t.cols.FPs); n+more > t.full || n > 2*s.fps {
		rest := s.parts[0].Params().NumWords() - 1
		t.full = s.fps + s.fps/spareShare
		t.cols = Columns{FPs: make([]base.Fingerprint, 0, t.full), Rest: make([]base.Fingerprint, 0, rest*t.full)}
		t.ranges, have = nil, nil
	}
	for _, p := range s.parts[:s.together] {
		if have[p.Table] {
			continue
		}
		r := tableRange{table: p.Table, first: uint32(len(t.cols.FPs))}
		err := t.read(p.Table)
		if err != nil { // searches read the table, and report its damage
			r.table = nil
		}
		if t.ranges = append(t.ranges, r); err == errClosing {
			return false
		}
	}
	t.indexed.Store(&indexed{t.cols, t.ranges})
	return true
}

// read appends the fingerprints of a table to t.cols.
func (t *SmallTables) read(p *Table) error {
	words := p.Params().NumWords() - 1
	rest := make([]base.Fingerprint, words*int(p.NumFingerprints()))
	for w := range words {
		err := p.RestBlocks(w+1, func(first uint32, column []base.Fingerprint) error {
			for i, word := range column {
				rest[(int(first)+i)*words+w] = word
			}
			return t.goOn()
		})
		if err != nil {
			return err
		}
	}
	return p.FingerprintBlocks(func(_ uint32, fps []base.Fingerprint) error {
		for _, fp := range fps {
			t.cols.addFingerprint(fp, rest[:words])
			rest = rest[words:]
		}
		return t.goOn()
	})
}
