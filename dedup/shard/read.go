package shard

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"

	"github.com/simdb/simdb/dedup"
	"github.com/simdb/simdb/dedup/internal/stages"
	"github.com/simdb/simdb/internal/option"
	"github.com/simdb/simdb/records"
	"github.com/simdb/simdb/records/inputs"
)

// counterBytes is the size of the counters of elements, which share counters. With more, prefixes
// have rarer elements, which connect fewer documents: of 150,000 texts as in docs/cluster.md, the
// largest component of candidates has 99,742 with 4 MB, and 19,417 with 16 MB.
const counterBytes = 16 << 20

func shardName(kind string, key uint64) string { return fmt.Sprintf("%s/%05d", kind, key) }

// onPart calls do for a shard of the inputs, with a folder for its temporary files. It publishes
// the outputs that the part has written, and returns their names.
func (j *Job) onPart(ctx context.Context, shard uint64, do func(p *dedup.Part, dir string) error) (outputs []string, err error) {
	dir, done, err := j.tempDir()
	if err != nil {
		return nil, err
	}
	defer done()
	names := j.shardFiles(shard)
	paths, release, err := j.fetchAll(ctx, names)
	defer func() { err = errors.Join(err, release()) }()
	if err != nil {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	p, err := j.o.Job.NewPart(ctx, &inputs.Env{Places: j.o.Places}, names, paths, out)
	if err == nil {
		err = do(p, dir)
	}
	if err != nil {
		return nil, err
	}
	return j.publish(ctx, out)
}

// fetchAll returns the paths of files up to the first one that fails. The caller must call release.
func (j *Job) fetchAll(ctx context.Context, names []string) (paths []string, release func() error, err error) {
	var all []func() error
	release = func() (err error) {
		for _, f := range all {
			err = errors.Join(err, f())
		}
		return err
	}
	for _, name := range names {
		path, done, err := j.files.Fetch(ctx, name)
		if err != nil {
			return paths, release, err
		}
		paths, all = append(paths, path), append(all, done)
	}
	return paths, release, nil
}

// publish publishes the files of a folder as outputs, and returns their names.
func (j *Job) publish(ctx context.Context, dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return errors.Join(err, j.files.Put(ctx, path, j.workName("out/"+filepath.ToSlash(name))))
	})
	return names, err
}

// fingerprint reads a shard of the inputs for the first time.
func (j *Job) fingerprint(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	counts := stages.NewCounts(counterBytes)
	var t dedup.Tally
	n := uint64(0)
	outputs, err := j.onPart(ctx, shard, func(p *dedup.Part, dir string) error {
		return j.store(ctx, shardName("sets", shard), func(sets *bufio.Writer) error {
			return j.storePlaces(ctx, shard, func(place func(at dedup.Place, document []byte) error) (err error) {
				var buf []byte
				t, err = p.Extract(dir, place, func(elements, prints []uint64) error {
					if j.plan.By.Sets {
						counts.Add(elements)
					}
					buf, _ = stages.Set{Doc: shard<<shardShift | n, Elements: elements, Fingerprints: prints}.AppendBinary(buf[:0])
					n++
					return put(sets, buf)
				})
				return err
			})
		})
	})
	if err != nil {
		return err
	}
	t.Outputs = outputs
	if err := j.storeJSON(ctx, shardName("tally", shard), t); err != nil {
		return err
	}
	if j.plan.By.Sets {
		err = storeAll(ctx, j, shardName("counts", shard), []stages.Counts{*counts})
	}
	return errors.Join(err, send(0, nil))
}

// storePlaces writes the places of a shard's documents, and if a rule decides, the documents.
func (j *Job) storePlaces(ctx context.Context, shard uint64, extract func(place func(at dedup.Place, document []byte) error) error) error {
	var buf []byte
	return j.store(ctx, shardName("places", shard), func(places *bufio.Writer) error {
		place := func(at dedup.Place, _ []byte) error {
			buf = appendPlace(buf[:0], at)
			return put(places, buf)
		}
		if !j.ruled {
			return extract(place)
		}
		return j.store(ctx, shardName("documents", shard), func(documents *bufio.Writer) error {
			return extract(func(at dedup.Place, document []byte) error {
				return errors.Join(place(at, nil), put(documents, document))
			})
		})
	})
}

func (j *Job) storeJSON(ctx context.Context, name string, x any) error {
	return j.store(ctx, name, func(w *bufio.Writer) error { return json.NewEncoder(w).Encode(x) })
}

func (j *Job) loadJSON(ctx context.Context, name string, x any) error {
	return j.read(ctx, name, func(r reader) error { return json.NewDecoder(r).Decode(x) })
}

// count adds up the counts of all shards.
func (j *Job) count(ctx context.Context, _ uint64, in iter.Seq2[[]byte, error], send Send) error {
	if _, err := all[numbers](in); err != nil {
		return err
	}
	total, counts := dedup.Tally{}, stages.NewCounts(counterBytes)
	for shard := range uint64(j.Shards()) {
		var t dedup.Tally
		err := j.loadJSON(ctx, shardName("tally", shard), &t)
		if err == nil {
			err = total.Add(t)
		}
		if err == nil && j.plan.By.Sets {
			var c stages.Counts
			if c, err = loadOne[stages.Counts](ctx, j, shardName("counts", shard)); err == nil {
				err = counts.Merge(&c)
			}
		}
		if err != nil {
			return err
		}
	}
	switch most := j.o.Job.Rejects.MaxErrors; {
	case (j.plan.By.Sets || j.seen()) && total.Textual == 0 && total.Given > 0:
		return inputs.NoTexts()
	case total.Documents == 0 && total.Rejected > 0:
		return errors.New("no document could be used")
	case most != nil && total.Rejected > *most:
		return fmt.Errorf("%d records could not be used; %s allows no more", total.Rejected, option.Set("MaxErrors", *most))
	}
	groups := uint64(j.o.Groups)
	if groups == 0 {
		groups = max(leastGroups, uint64(total.Documents)/groupDocuments)
	}
	if err := j.o.Job.CheckFields(total); err != nil {
		return err
	}
	total.Fields = nil
	total.Inputs, total.Against, total.Flawed, total.Outputs = nil, nil, nil, nil // many steps read the file, so it stays small
	if err := j.storeJSON(ctx, "total", totals{total, groups}); err != nil {
		return err
	}
	if j.plan.By.Sets {
		if err := storeAll(ctx, j, "ranks", []stages.Ranks{counts.Ranks()}); err != nil {
			return err
		}
	}
	return j.toShards(send)
}

// totals are the counts over all inputs.
type totals struct {
	Tally  dedup.Tally
	Groups uint64 // groups in which documents are compared
}

// Without Options.Groups, a group has about groupDocuments documents: more groups send more data,
// fewer groups need more memory. There are at least leastGroups, so that several workers have one
// each.
const (
	leastGroups    = 8
	groupDocuments = 16384
)

// toShards makes the next step run for each shard.
func (j *Job) toShards(send Send) error { return toAll(send, uint64(j.o.Shards)) }

// toAll makes the next step run for the keys below n.
func toAll(send Send, n uint64) error {
	for key := range n {
		if err := send(key, nil); err != nil {
			return err
		}
	}
	return nil
}

// route sends the postings of a shard to groups.
func (j *Job) route(ctx context.Context, shard uint64, _ iter.Seq2[[]byte, error], send Send) error {
	plan, err := j.planOf(ctx)
	if err != nil {
		return err
	}
	if plan.By.Sets {
		if plan.Ranks, err = loadOne[stages.Ranks](ctx, j, "ranks"); err != nil {
			return err
		}
	}
	var t dedup.Tally
	if err := j.loadJSON(ctx, shardName("tally", shard), &t); err != nil {
		return err
	}
	to := stages.NewBatches(send)
	var postings []stages.Posting
	var groups []uint64
	err = j.eachSet(ctx, shard, func(s stages.Set) error {
		t.Documents--
		if plan.By.Sets || j.o.Command == "pairs" {
			postings = plan.Route(postings[:0], s)
			for _, x := range postings {
				if err := to.AddPosting(plan.Group(x), x); err != nil {
					return err
				}
			}
			return nil
		}
		groups = plan.PrintGroups(groups, s)
		for _, group := range groups {
			if err := to.AddPrints(group, s); err != nil {
				return err
			}
		}
		return nil
	})
	err = errors.Join(err, to.Flush())
	if err == nil && t.Documents != 0 {
		err = fmt.Errorf("%s does not have as many documents as the inputs", j.workName(shardName("sets", shard)))
	}
	return err
}

// planOf returns the plan of the stages, once all inputs have been read.
func (j *Job) planOf(ctx context.Context) (stages.Plan, error) {
	var t totals
	err := j.loadJSON(ctx, "total", &t)
	plan := j.plan
	plan.Words, plan.Groups = max(t.Tally.Words, 1), t.Groups
	return plan, err
}

// eachSet calls f with the features of each document of a shard, in memory that is reused.
func (j *Job) eachSet(ctx context.Context, shard uint64, f func(s stages.Set) error) error {
	return j.read(ctx, shardName("sets", shard), func(r reader) error {
		var s stages.Set
		for b, err := range stored(r) {
			if err == nil {
				err = s.UnmarshalBinary(b)
			}
			if err == nil {
				err = f(s)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// appendPlace appends a place to dst: its line, then the lengths and the bytes of its ID and its file.
func appendPlace(dst []byte, at dedup.Place) []byte {
	dst = binary.AppendUvarint(dst, uint64(at.Line))
	for _, s := range []string{at.ID, at.File} {
		dst = append(binary.AppendUvarint(dst, uint64(len(s))), s...)
	}
	return dst
}

// readPlace reads a place at the beginning of b.
func readPlace(b []byte) (at dedup.Place, rest []byte, err error) {
	line, size := binary.Uvarint(b)
	at.Line = records.Position(line)
	for _, s := range []*string{&at.ID, &at.File} {
		if size <= 0 {
			return at, nil, errMessage
		}
		b = b[size:]
		n, k := binary.Uvarint(b)
		if k <= 0 || n > uint64(len(b)-k) {
			return at, nil, errMessage
		}
		*s, size = string(b[k:k+int(n)]), k+int(n)
	}
	return at, b[size:], nil
}

// eachPlace calls f with the place of each document of a shard.
func (j *Job) eachPlace(ctx context.Context, shard uint64, f func(doc uint64, at func() (dedup.Place, error)) error) error {
	return j.read(ctx, shardName("places", shard), func(r reader) error {
		doc := shard << shardShift
		for b, err := range stored(r) {
			if err == nil {
				err = f(doc, func() (dedup.Place, error) {
					at, _, err := readPlace(b)
					return at, err
				})
			}
			if err != nil {
				return err
			}
			doc++
		}
		return nil
	})
}
