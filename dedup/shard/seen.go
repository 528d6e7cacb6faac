package shard

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/units"
	"github.com/simdb/simdb/engine"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records/inputs"
)

// The files of Against are read like a further shard, known, whose units come before all others.

func (j *Job) seen() bool { return j.o.Job.Seen != 0 }

// known returns the key of the documents of Against.
func (j *Job) known() uint64 { return uint64(j.o.Shards) }

// unitAt returns the number of a unit, which says where it is in the order of all units.
func (j *Job) unitAt(shard, n uint64) uint64 {
	if shard == j.known() {
		return n
	}
	return (shard+1)<<shardShift | n
}

// checkSeen checks the options that only a job with Seen has.
func (j *Job) checkSeen(ctx context.Context, names []string) error {
	if j.seen() && j.o.Command != "dedup" {
		return fmt.Errorf("%s cannot be used with %s: it lists no pairs", j.o.Command, option.Name("Seen"))
	}
	bases := map[string]bool{}
	for _, name := range names {
		bases[path.Base(filepath.ToSlash(name))] = true
	}
	for _, known := range j.o.Job.Against {
		flag := option.Set("Against", known)
		if found, err := j.files.Glob(ctx, known); err != nil || !slices.Equal(found, []string{known}) {
			return cmp.Or(err, fmt.Errorf("%s: there is no such file", flag))
		}
		what, err := engine.Identifier()(known)
		switch {
		case err == nil && what != "" || inputs.IsSet(known):
			return fmt.Errorf("%s is a database: many workers read its documents from a file, as simdb export writes it", flag)
		case bases[path.Base(filepath.ToSlash(known))]:
			return fmt.Errorf("%s has the name of an input, and would have the same file of rejects: give it another name", flag)
		}
		a, err := os.Stat(known)
		for _, name := range names {
			if b, failed := os.Stat(name); err == nil && failed == nil && os.SameFile(a, b) {
				return fmt.Errorf("%s is %s, an input", flag, name)
			}
		}
	}
	return nil
}

// onKnown is onPart for the documents of Against.
func (j *Job) onKnown(ctx context.Context, do func(p *dedup.Part, dir string) error) (outputs []string, err error) {
	dir, done, err := j.tempDir()
	if err != nil {
		return nil, err
	}
	defer done()
	paths, release, err := j.fetchAll(ctx, j.o.Job.Against)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	p, err := j.o.Job.NewKnownPart(ctx, &inputs.Env{Places: j.o.Places}, paths, out)
	if err == nil {
		err = do(p, dir)
	}
	if err != nil {
		return nil, err
	}
	return j.publish(ctx, out)
}

// filterBytes is the size of a filter: a bit for each byte of text, where every shard has as much.
func (j *Job) filterBytes(text int64) int64 {
	return min(text*int64(j.Shards())/8, cmp.Or(max(j.o.Job.Memory, 0), 256<<20)/4)
}

// grams reads a shard of the inputs for the first time. It stores the n-grams of the units.
func (j *Job) grams(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	var t dedup.Tally
	read := func(p *dedup.Part, _ string) error {
		shown := units.NewMergeable(j.filterBytes(p.TextBytes()))
		err := j.store(ctx, shardName("grams", shard), func(w *bufio.Writer) (err error) {
			var buf []byte
			t, err = p.ExtractUnits(func(u units.Unit) error {
				shown.Add(u.Grams)
				buf, _ = u.AppendBinary(buf[:0])
				return put(w, buf)
			})
			return err
		})
		return errors.Join(err, j.storeFilter(ctx, shardName("filter", shard), shown))
	}
	on := func() ([]string, error) { return j.onPart(ctx, shard, read) }
	if shard == j.known() {
		on = func() ([]string, error) { return j.onKnown(ctx, read) }
	}
	outputs, err := on()
	if err != nil {
		return err
	}
	t.Outputs = outputs
	return errors.Join(j.storeJSON(ctx, shardName("tally", shard), t), send(0, nil))
}

func (j *Job) storeFilter(ctx context.Context, name string, f units.Filter) error {
	return storeAll(ctx, j, name, []units.Filter{f})
}

func (j *Job) loadFilter(ctx context.Context, name string) (units.Filter, error) {
	return loadOne[units.Filter](ctx, j, name)
}

// before adds up the counts of all shards, and stores for each one the n-grams of those before it.
func (j *Job) before(ctx context.Context, key uint64, in iter.Seq2[[]byte, error], send Send) error {
	if err := j.count(ctx, key, in, send); err != nil {
		return err
	}
	shown := units.NewMergeable(0)
	for _, shard := range j.keysInOrder() {
		if shard != j.known() {
			if err := j.storeFilter(ctx, shardName("before", shard), shown); err != nil {
				return err
			}
			if j.o.Job.OnlyAgainst {
				continue
			}
		}
		own, err := j.loadFilter(ctx, shardName("filter", shard))
		if err != nil {
			return err
		}
		shown = shown.Merge(own)
	}
	return nil
}

// keysInOrder returns the keys of the first step in the order of the documents.
func (j *Job) keysInOrder() (keys []uint64) {
	for key := range uint64(j.o.Shards) {
		keys = append(keys, key)
	}
	if j.Shards() > j.o.Shards {
		keys = slices.Insert(keys, 0, j.known())
	}
	return keys
}

// eachUnit calls f with the units of a shard, in memory that is reused, and with their numbers.
func (j *Job) eachUnit(ctx context.Context, shard uint64, f func(n uint64, u units.Unit) error) error {
	return j.read(ctx, shardName("grams", shard), func(r reader) error {
		var u units.Unit
		n := j.unitAt(shard, 0)
		for b, err := range stored(r) {
			if err == nil {
				err = u.UnmarshalBinary(b)
			}
			if err == nil {
				err = f(n, u)
			}
			if err != nil {
				return err
			}
			n++
		}
		return nil
	})
}

// suspect finds the units of a shard that may be removed.
func (j *Job) suspect(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	shown, err := j.loadFilter(ctx, shardName("before", shard))
	if err != nil {
		return err
	}
	own, err := j.loadFilter(ctx, shardName("filter", shard)) // only for its size
	if err != nil {
		return err
	}
	clear(own)
	shown = shown.Merge(own)
	var suspects []units.Suspect
	wanted := slices.Clone(own)
	err = j.eachUnit(ctx, shard, func(n uint64, u units.Unit) error {
		if !u.Short && shown.Share(u.Grams) >= j.o.Job.Seen {
			suspects = append(suspects, units.Suspect{Unit: n, At: u.At, N: uint32(len(u.Grams))})
			wanted.Add(u.Grams)
		}
		if !j.o.Job.OnlyAgainst {
			shown.Add(u.Grams)
		}
		return nil
	})
	return errors.Join(err, storeAll(ctx, j, shardName("suspects", shard), suspects),
		j.storeFilter(ctx, shardName("wanted", shard), wanted), send(0, nil))
}

// want stores the n-grams of all suspects.
func (j *Job) want(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	if _, err := all[numbers](in); err != nil {
		return err
	}
	wanted := units.NewMergeable(0)
	for shard := range uint64(j.o.Shards) {
		own, err := j.loadFilter(ctx, shardName("wanted", shard))
		if err != nil {
			return err
		}
		wanted = wanted.Merge(own)
	}
	if err := j.storeFilter(ctx, "wanted/all", wanted); err != nil {
		return err
	}
	for _, key := range j.keysInOrder() {
		if err := send(key, nil); err != nil {
			return err
		}
	}
	return nil
}

// sight sends the n-grams of a shard that suspects have to groups.
func (j *Job) sight(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	var t totals
	wanted, err := j.loadFilter(ctx, "wanted/all")
	var suspects []units.Suspect
	if shard != j.known() {
		var failed error
		suspects, failed = loadAll[units.Suspect](ctx, j, shardName("suspects", shard))
		err = errors.Join(err, failed)
	}
	if err = errors.Join(err, j.loadJSON(ctx, "total", &t)); err != nil {
		return err
	}
	to := sender(send)
	tell := func(group uint64, s units.Sighting) error { return to(group, s) }
	recent := units.NewRecent(len(wanted))
	var some []uint64
	return j.eachUnit(ctx, shard, func(n uint64, u units.Unit) error {
		switch {
		case len(suspects) > 0 && suspects[0].Unit == n:
			suspects = suspects[1:]
			return units.Sightings(n, false, u.Grams, t.Groups, tell)
		case j.o.Job.OnlyAgainst && shard != j.known():
			return nil
		}
		some = some[:0]
		for _, g := range u.Grams {
			if wanted.Has(g) && recent.Add(g) {
				some = append(some, g)
			}
		}
		return units.Sightings(n, true, some, t.Groups, tell)
	})
}

// meetSeen finds out what sure units show to the suspects of a group, and which suspects show
// n-grams to each other.
func (j *Job) meetSeen(_ context.Context, group uint64, in iter.Seq2[[]byte, error], send Send) error {
	sightings, err := all[units.Sighting](in)
	if err != nil {
		return err
	}
	return sendAll(send, units.Meet(group, sightings, j.o.Job.OnlyAgainst), func(units.Finding) uint64 { return 0 })
}

// decide decides which units are removed.
func (j *Job) decide(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	findings, err := all[units.Finding](in)
	if err != nil {
		return err
	}
	var suspects []units.Suspect
	for shard := range uint64(j.o.Shards) {
		some, err := loadAll[units.Suspect](ctx, j, shardName("suspects", shard))
		if err != nil {
			return err
		}
		suspects = append(suspects, some...)
	}
	to := sender(send)
	for i, share := range units.Decide(j.o.Job.Seen, suspects, findings) {
		if s := suspects[i]; share >= j.o.Job.Seen {
			if err := to(s.Unit>>shardShift-1, units.Repeat{At: s.At, N: 1, Share: share}); err != nil {
				return err
			}
		}
	}
	return j.toShards(send)
}

// writeSeen reads a shard of the inputs for the second time.
func (j *Job) writeSeen(ctx context.Context, shard uint64, in iter.Seq2[[]byte, error], send Send) error {
	gone, err := all[units.Repeat](in)
	slices.SortFunc(gone, func(a, b units.Repeat) int { return cmp.Compare(a.At, b.At) })
	gone = slices.CompactFunc(gone, func(a, b units.Repeat) bool { return a.At == b.At })
	if err != nil {
		return err
	}
	return j.writePart(ctx, shard, send, func(p *dedup.Part, t dedup.Tally, w *bufio.Writer) (dedup.Tally, error) {
		return p.WriteSeen(t, gone, dedup.AuditEncoder(w))
	})
}
