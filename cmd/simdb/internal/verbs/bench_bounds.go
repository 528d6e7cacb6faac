package verbs

import (
	"context"
	"math"
	"math/bits"
	"path/filepath"

	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/sstable"
)

// Bounds say what a search would take if this machine did nothing but what the index cannot do
// without: fetch the lines of the ranges that are probed, read bytes in order, decode keys, move
// items into order, compare fingerprints, each at the rate of its own measurement (machine).
// docs/performance.md defines them. They bound this index, not the problem.

// bounds computes the bounds of searches in some tables.
type bounds struct {
	machine
	tables []*sstable.Reader
}

// openBounds opens the tables of a database.
func openBounds(m machine, path string) (*bounds, error) {
	b := &bounds{machine: m}
	names, err := filepath.Glob(filepath.Join(path, "*.sst"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		r, err := sstable.Open(name)
		if err != nil {
			b.close()
			return nil, err
		}
		b.tables = append(b.tables, r)
	}
	return b, nil
}

func (b *bounds) close() {
	for _, r := range b.tables {
		r.Close()
	}
}

// runs returns the bytes and the keys of the runs of a table that a search with some radii reads;
// nil means a scan of the first. keyBytes is what one key takes.
func runs(r *sstable.Reader, radii []int) (bytes, keys int64, keyBytes float64) {
	for _, s := range r.Info().Sections {
		if s.Kind != sstable.KindRun {
			continue
		}
		if s.Index == 0 {
			keyBytes = float64(s.Length) / float64(max(s.Count, 1))
		}
		if radii == nil && s.Index == 0 || int(s.Index) < len(radii) && radii[s.Index] >= 0 {
			bytes, keys = bytes+s.Length, keys+int64(s.Count)
		}
	}
	return bytes, keys, keyBytes
}

// order returns what it takes, in nanoseconds, to bring n items into the order of some bits, as far
// as these make a difference: a move of each for every digit.
func (m machine) order(n float64, bits int) float64 {
	bits = min(bits, int(math.Ceil(math.Log2(max(n, 2)))))
	return n * m.move * float64((bits+moveBits-1)/moveBits)
}

// near returns the mean bound of a search for one of the queries, in nanoseconds: the directory and
// then the keys, each after a cache miss; a line of the directory, and one and what its keys fill,
// for each probe; a comparison for each key; and for queries with a hit its place in run 0 and its
// ID.
func (b *bounds) near(queries []uint64, k int) (float64, error) {
	var s sstable.NearSearcher
	var hits []sstable.Hit
	ns := 0.0
	for _, q := range queries {
		ns += 2 * b.latency
		found := false
		for _, r := range b.tables {
			var err error
			if hits, err = s.Near(r, base.Fingerprint(q), k, hits[:0]); err != nil {
				return 0, err
			}
			found = found || len(hits) > 0
			work := s.TakeStats()
			bytes, _, keyBytes := runs(r, nil)
			probes, keys := float64(work.Probes), float64(work.Candidates)
			if work.Scans > 0 {
				ns += float64(bytes)*b.byte + keys*b.compare
				continue
			}
			ns += probes*b.line + (probes+keys*keyBytes/cacheLine)*b.span + keys*b.compare
		}
		if found {
			ns += 2 * b.latency
		}
	}
	return ns / float64(len(queries)), nil
}

// batch returns the bound of a batch, in nanoseconds: every run that is probed is read and decoded,
// and the queries are brought into the order of its lead; a comparison, as with many queries, for
// each key and query that share a lead; and two lines for each hit, which is brought into the order
// of queries.
func (b *bounds) batch(ctx context.Context, queries []uint64, k int) (ns float64, err error) {
	var s sstable.NearSearcher
	fps := make([]sstable.Fingerprint, len(queries))
	for i, q := range queries {
		fps[i] = base.Fingerprint(q)
	}
	for _, r := range b.tables {
		hits := 0
		plan, err := s.Plan(r, fps[0], k)
		if err == nil {
			err = s.NearBatch(ctx, r, fps, k, func(int, sstable.Hit) error { hits++; return nil })
		}
		if err != nil {
			return 0, err
		}
		bytes, keys, _ := runs(r, plan.Radii)
		ns += float64(bytes)*b.byte + float64(keys)*b.decode + float64(s.TakeStats().Candidates)*b.compareMany
		for t, radius := range plan.Radii {
			if lead := bits.OnesCount64(r.Params().Layout.LeadMask(t)); radius >= 0 {
				ns += b.order(float64(len(queries)), lead)
			}
		}
		ns += float64(2*hits)*b.line + b.order(float64(hits), base.FingerprintBits)
	}
	return ns, nil
}

// pairs returns the bound of finding all pairs of n uniform fingerprints within k bits, of which
// some are found, in nanoseconds. Fingerprints are cut into m blocks, of which pairs within k share
// at least m-k: for every choice of m-k blocks the fingerprints are brought into their order, but
// for the first, which they are in, and those that share them are compared; m is what takes the
// least. Each pair takes two lines for its IDs, and is brought into the order of pairs.
func (m machine) pairs(n float64, k int, found int) float64 {
	best, choices := math.Inf(1), 1.0
	for blocks := k + 1; blocks <= min(k+8, base.FingerprintBits); blocks++ {
		if choices = 1; k > 0 {
			for i := range k {
				choices *= float64(blocks-i) / float64(i+1)
			}
		}
		shared := base.FingerprintBits * (blocks - k) / blocks
		best = min(best, (choices-1)*m.order(n, shared)+choices*n*n*math.Ldexp(m.compareMany, -shared-1))
	}
	return best + float64(2*found)*m.line + m.order(float64(found), base.FingerprintBits)
}
