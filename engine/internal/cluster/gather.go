package cluster

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/simdb/simdb/engine/internal/files"
	"github.com/simdb/simdb/engine/internal/view"
	"github.com/simdb/simdb/internal/base"
	"github.com/simdb/simdb/internal/collection"
	"github.com/simdb/simdb/internal/selfjoin"
	"github.com/simdb/simdb/minhash"
)

// newJoinSet gathers the visible documents of v that a self-join by the criterion needs.
func newJoinSet(ctx context.Context, v *view.View, by view.Criterion, progress func(view.Progress)) (*joinSet, error) {
	j := &joinSet{v: v, by: by, progress: progress}
	var err error
	switch {
	case bySketch(by):
		err = j.addSketches(ctx)
	case by.Near():
		if err = j.addFingerprints(ctx); err == nil && v.Several {
			err = j.foldCodes(ctx)
		}
	default:
		err = j.addTexts(ctx)
	}
	if err != nil {
		return nil, err
	}
	return j, ctx.Err()
}

// bySketch reports whether only sketches decide. Texts decide all criteria but this and Near.
func bySketch(by view.Criterion) bool { return by.Jaccard && !by.Verified }

// addFingerprints gathers all visible fingerprints, in order.
func (j *joinSet) addFingerprints(ctx context.Context) error {
	v := j.v
	capacity := 0
	for i := range v.Version.Parts {
		capacity += int(v.Version.Parts[i].NumFingerprints())
	}
	for _, m := range v.Mems {
		capacity += len(m.FPs)
	}
	all := located{fps: make([]base.Fingerprint, 0, capacity)}
	words := v.Params.NumWords()
	if !isOneTable(v) || words > 1 || v.Several {
		all.locs = make([]uint64, 0, capacity)
	}
	var ends []int // ends of sorted runs
	for i := range v.Version.Parts {
		if err := j.addPart(ctx, &all, i); err != nil {
			return err
		}
		ends = append(ends, len(all.fps))
	}
	for i := range v.Mems {
		j.addMem(&all, i)
		ends = append(ends, len(all.fps))
	}
	if int64(len(all.fps)) > selfjoin.MaxFingerprints {
		return fmt.Errorf("%d fingerprints; a self-join accepts at most %d: %w", len(all.fps), int64(selfjoin.MaxFingerprints), files.ErrTooLarge)
	}
	all = mergeRuns(all, ends)
	fps := selfjoin.Columns{all.fps}
	if words > 1 {
		var err error
		if fps, err = j.withRest(ctx, all, words); err != nil {
			return err
		}
	}
	j.items, j.locs = len(all.fps), all.locs
	j.group(fps)
	return nil
}

// isOneTable reports whether one table has all documents with fingerprints, and all of its
// documents are visible.
func isOneTable(v *view.View) bool {
	for _, m := range v.Mems {
		if len(m.FPs) > 0 {
			return false
		}
	}
	if len(v.Version.Parts) != 1 {
		return false
	}
	p := &v.Version.Parts[0]
	dead := p.Dead.UpTo(v.Seq)
	return dead.IsEmpty() && p.AllLive(v.Life)
}

// addPart appends the visible fingerprints of a table.
func (j *joinSet) addPart(ctx context.Context, all *located, part int) error {
	const none = ^uint64(0)
	v, p := j.v, &j.v.Version.Parts[part]
	tombstones := p.Dead.UpTo(v.Seq)
	dead := tombstones.Iterator()
	nextDead := func() uint64 {
		if dead.HasNext() {
			return uint64(dead.Next())
		}
		return none
	}
	skip := nextDead()
	return p.FingerprintBlocks(func(first uint32, fps []base.Fingerprint) error {
		if first&(1<<16-1) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if all.locs == nil {
			all.fps = append(all.fps, fps...)
			return nil
		}
		for i, fp := range fps {
			doc := uint64(first) + uint64(i)
			if doc == skip {
				skip = nextDead()
				continue
			}
			if ok, err := p.Lives(uint32(doc), v.Life); err != nil || !ok {
				if err != nil {
					return err
				}
				continue
			}
			if v.Several {
				if ok, err := v.Counts(p, uint32(doc)); err != nil || !ok {
					if err != nil {
						return err
					}
					continue
				}
			}
			all.add(fp, uint64(part)<<32|doc)
		}
		return nil
	})
}

// addMem appends the visible fingerprints of a memtable.
func (j *joinSet) addMem(all *located, mem int) {
	type item struct {
		fp  base.Fingerprint
		loc uint64
	}
	var items []item
	m := j.v.Mems[mem]
	for f, fp := range m.FPs {
		if j.v.MemAlive(m.Docs[m.FPDoc[f]]) {
			items = append(items, item{fp, j.memLoc(mem, m.FPDoc[f])})
		}
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.fp, b.fp), cmp.Compare(a.loc, b.loc)) })
	for _, it := range items {
		all.add(it.fp, it.loc)
	}
}

// withRest adds the other words to the fingerprints of all items, which are sorted by their first
// words, and sorts items with equal first words by the others.
func (j *joinSet) withRest(ctx context.Context, all located, words int) (selfjoin.Columns, error) {
	fps := make(selfjoin.Columns, words)
	fps[0] = all.fps
	for w := range fps[1:] {
		fps[w+1] = make([]base.Fingerprint, len(all.fps))
	}
	read := joinSet{v: j.v, locs: all.locs}
	var rest []base.Fingerprint
	for i, loc := range all.locs {
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var err error
		if p := read.place(uint32(i)); p.Mem != nil {
			rest = append(rest[:0], p.Mem.Rest...)
		} else if rest, err = p.Part.AppendRest(rest[:0], uint32(loc)); err != nil {
			return nil, err
		}
		for w, word := range rest {
			fps[w+1][i] = word
		}
	}
	var order []uint32
	for from, to := 0, 0; from < len(all.fps); from = to {
		for to = from + 1; to < len(all.fps) && all.fps[to] == all.fps[from]; to++ {
		}
		if to-from == 1 {
			continue
		}
		order = order[:0]
		for i := from; i < to; i++ {
			order = append(order, uint32(i))
		}
		slices.SortFunc(order, func(a, b uint32) int { return cmp.Or(fps.Compare(a, b), cmp.Compare(a, b)) })
		arrange(all.locs[from:to], order, from)
		for _, column := range fps[1:] {
			arrange(column[from:to], order, from)
		}
	}
	return fps, nil
}

// arrange permutes values into an order of their positions, which begin with first.
func arrange(values []uint64, order []uint32, first int) {
	old := slices.Clone(values)
	for i, at := range order {
		values[i] = old[int(at)-first]
	}
}

// group groups the items by their fingerprints, which are in order. It works in place.
func (j *joinSet) group(fps selfjoin.Columns) {
	n := fps.Len()
	groups := min(n, 1)
	for i := 1; i < n; i++ {
		if fps.Compare(uint32(i), uint32(i-1)) != 0 {
			groups++
		}
	}
	j.fps, j.classes = make(selfjoin.Columns, len(fps)), collection.Classes{N: groups}
	for w, column := range fps {
		j.fps[w] = column[:groups]
	}
	if groups == n {
		return
	}
	first := make([]uint32, 0, groups+1)
	for i := range n {
		if g := len(first); g == 0 || fps.Compare(uint32(i), uint32(g-1)) != 0 {
			for _, column := range fps {
				column[g] = column[i]
			}
			first = append(first, uint32(i))
		}
	}
	j.classes.First = append(first, uint32(n))
}

// addSketches gathers all visible sketches.
func (j *joinSet) addSketches(ctx context.Context) error {
	v := j.v
	j.locs, j.sketches = []uint64{}, []minhash.Sketch{}
	firsts, numbers, scratch := map[setKey]uint32{}, []uint32(nil), []byte(nil)
	add := func(loc uint64, sketch []uint32, keep func([]uint32) []uint32) {
		scratch = scratch[:0]
		for _, h := range sketch {
			scratch = binary.LittleEndian.AppendUint32(scratch, h)
		}
		key := keyOf(scratch)
		first, known := firsts[key]
		if known {
			sketch = j.sketches[first]
		} else {
			first = uint32(len(j.locs))
			firsts[key], sketch = first, keep(sketch)
		}
		j.locs, j.sketches, numbers = append(j.locs, loc), append(j.sketches, sketch), append(numbers, first)
	}
	for i := range v.Version.Parts {
		p := &v.Version.Parts[i]
		err := p.EachSketch(func(doc uint32, sketch []uint32) error {
			if doc%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			ok, err := v.Alive(p, doc)
			if ok && len(sketch) > 0 {
				add(uint64(i)<<32|uint64(doc), sketch, slices.Clone)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	for i, m := range v.Mems {
		for _, at := range m.BitmapDoc {
			if d := m.Docs[at]; v.MemAlive(d) {
				add(j.memLoc(i, at), d.Sketch, func(s []uint32) []uint32 { return s })
			}
		}
	}
	j.items = len(j.locs)
	j.classes = collection.ClassesOf(numbers, j.items)
	return nil
}

// located are fingerprints with the locs of their documents; locs are nil if they are not needed.
type located struct {
	fps  []base.Fingerprint
	locs []uint64
}

func (l *located) add(fp base.Fingerprint, loc uint64) {
	l.fps, l.locs = append(l.fps, fp), append(l.locs, loc)
}

func (l located) slice(lo, hi int) located { return located{l.fps[lo:hi], l.locs[lo:hi]} }

// mergeRuns sorts fingerprints that consist of sorted runs with these ends, by merging
// neighbouring runs until one is left. Equal fingerprints stay in the order of their runs.
func mergeRuns(all located, ends []int) located {
	ends = slices.Compact(ends)
	if len(ends) > 0 && ends[0] == 0 {
		ends = ends[1:]
	}
	var other located
	for len(ends) > 1 {
		if other.fps == nil {
			other = located{make([]base.Fingerprint, len(all.fps)), make([]uint64, len(all.fps))}
		}
		var merged []int
		start := 0
		for i := 0; i < len(ends); i += 2 {
			mid, end := ends[i], ends[min(i+1, len(ends)-1)]
			mergeTwo(other.slice(start, end), all.slice(start, mid), all.slice(mid, end))
			merged = append(merged, end)
			start = end
		}
		all, other, ends = other, all, merged
	}
	return all
}

// mergeTwo merges a and b into dst. The processor cannot predict which of two random fingerprints
// is less, so there is no branch on it.
func mergeTwo(dst, a, b located) {
	x, y, at := 0, 0, 0
	for ; x < len(a.fps) && y < len(b.fps); at++ {
		fp, loc, second := a.fps[x], a.locs[x], 0
		if b.fps[y] < fp {
			second = 1
		}
		if second != 0 {
			fp, loc = b.fps[y], b.locs[y]
		}
		dst.fps[at], dst.locs[at] = fp, loc
		x, y = x+1-second, y+second
	}
	end := at + copy(dst.fps[at:], a.fps[x:])
	copy(dst.locs[at:], a.locs[x:])
	copy(dst.fps[end:], b.fps[y:])
	copy(dst.locs[end:], b.locs[y:])
}
