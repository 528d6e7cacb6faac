package units

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"math"
	"os"
	"runtime"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/spool"
)

// Place is the position of a unit. Places are in the order of the input.
type Place uint64

// At returns the place of a unit, given the number of its document, and its number in the
// document, both from 0.
func At(doc, unit uint32) Place { return Place(doc)<<32 | Place(unit) }

// Doc returns the number of the document.
func (p Place) Doc() uint32 { return uint32(p >> 32) }

// Unit returns the number of the unit within its document.
func (p Place) Unit() uint32 { return uint32(p) }

// Repeat is a run of N repeated units: those from At on equal those from First on. If Share is not
// 0, it is one unit, and Share is how much of it has been seen, in many places. If Score is not 0, it
// is one unit, too, which resembles First.
type Repeat struct {
	At, First Place
	N         uint32
	Share     float64
	Score     float64
}

// found is a unit to compare.
type found struct {
	hash xxh3.Uint128
	at   Place
}

const (
	hashBytes   = 16
	runBytes    = 9   // a run in the file: the first place, and the number of hashes that follow
	maxRun      = 100 // most hashes in a run
	repeatBytes = 20
)

// Repeats finds repeated units. Equal hashes are in one part, and each part by itself fits into
// memory. Units that do not fit into memory go to a temporary file, part by part. The units of each
// part stay in the order of the input, and so do its repeats; one merge then orders all repeats.
type Repeats struct {
	least uint32 // occurrences that make a unit repeated
	known uint32 // documents before this one are from --against
	only  bool   // only units of known documents are repeated
	all   bool   // first occurrences are repeats, too

	units *spool.Spool
	last  [spool.Parts]run
	out   *spool.Spool // repeats
}

// A run is the last run of a part.
type run struct {
	end  Place // after its last unit
	from int   // offset in the part's bytes in memory
}

// NewRepeats returns a Repeats that uses about memory bytes, and creates temporary files with
// create. A unit is repeated if it occurs at least least times (2 or more), or in a known
// document. Close frees the files.
func NewRepeats(memory int64, create func() (*os.File, error), least int) *Repeats {
	return &Repeats{least: uint32(max(least, 2)), units: spool.New(memory/2, create), out: spool.New(math.MaxInt64, create)}
}

// Know marks the first docs documents as known; it must be called before any others are added. A
// unit that occurs in a known document is repeated in all others, however rare it is; with only,
// no others are.
func (r *Repeats) Know(docs int64, only bool) { r.known, r.only = uint32(docs), only }

// RemoveAll makes the first occurrence of a repeated unit a repeat, too, of itself.
func (r *Repeats) RemoveAll() { r.all = true }

// Close frees the temporary files.
func (r *Repeats) Close() error { return errors.Join(r.units.Close(), r.out.Close()) }

// add adds units, which must be in the order of the input.
func (r *Repeats) add(units []found) error {
	for _, u := range units {
		p := int(u.hash.Hi >> 56)
		last, held := &r.last[p], r.units.Held[p]
		if at := last.from + runBytes - 1; len(held) == 0 || u.at != last.end || held[at] == maxRun {
			last.from = len(held)
			held = append(binary.LittleEndian.AppendUint64(held, uint64(u.at)), 1)
		} else {
			held[at]++
		}
		held = binary.LittleEndian.AppendUint64(held, u.hash.Hi)
		r.units.Held[p], last.end = binary.LittleEndian.AppendUint64(held, u.hash.Lo), u.at+1
	}
	return r.units.Trim()
}

// each calls f for the units of a part, in the order of the input.
func (r *Repeats) each(p int, f func(u found) error) error {
	var b [runBytes + maxRun*hashBytes]byte
	in := r.units.Reader(p)
	for {
		if _, err := io.ReadFull(in, b[:runBytes]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		at, hashes := Place(binary.LittleEndian.Uint64(b[:])), b[runBytes:][:int(b[runBytes-1])*hashBytes]
		if _, err := io.ReadFull(in, hashes); err != nil {
			return err
		}
		for ; len(hashes) > 0; hashes = hashes[hashBytes:] {
			u := found{xxh3.Uint128{Hi: binary.LittleEndian.Uint64(hashes), Lo: binary.LittleEndian.Uint64(hashes[8:])}, at}
			if err := f(u); err != nil {
				return err
			}
			at++
		}
	}
}

// Find finds all repeats of the units that were added.
func (r *Repeats) Find(ctx context.Context) error {
	if r.units.InFile() { // the tables need the memory
		r.out.Most = heldRepeats * repeatBytes
		if err := errors.Join(r.units.Settle(), r.out.Open()); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for p := range spool.Parts {
		g.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return r.findPart(p)
		})
	}
	return g.Wait()
}

// occurrences is the first place of a unit, and the number of its occurrences.
type occurrences struct {
	first Place
	n     uint32
}

// findPart finds the repeats of a part. It reads the units twice if two occurrences may not
// suffice, or if the first one is a repeat, too.
func (r *Repeats) findPart(p int) error {
	seen := map[xxh3.Uint128]occurrences{}
	if r.least > 2 || r.all {
		err := r.each(p, func(u found) error {
			o, ok := seen[u.hash]
			if !ok {
				o.first = u.at
			}
			o.n++
			seen[u.hash] = o
			return nil
		})
		if err != nil {
			return err
		}
	}
	var last Repeat
	err := r.each(p, func(u found) error {
		o, ok := seen[u.hash]
		if !ok && (!r.only || u.at.Doc() < r.known) {
			seen[u.hash] = occurrences{u.at, r.least}
		}
		n := Place(last.N)
		switch {
		case !r.repeated(o, ok, u.at):
			return nil
		case n > 0 && u.at == last.At+n && o.first == last.First+n:
			last.N++
			return nil
		}
		next := Repeat{At: u.at, First: o.first, N: 1}
		next, last = last, next
		return r.put(p, next)
	})
	if err == nil {
		err = r.put(p, last)
	}
	return err
}

// repeated reports whether the unit at a place is a repeat; o are its occurrences if ok is set.
func (r *Repeats) repeated(o occurrences, ok bool, at Place) bool {
	return ok && (r.all || o.first != at) && at.Doc() >= r.known && (o.n >= r.least || o.first.Doc() < r.known)
}

// heldRepeats is the number of a part's repeats in memory if repeats go to a file.
const heldRepeats = 2048

// put adds a repeat to a part.
func (r *Repeats) put(p int, next Repeat) error {
	if next.N == 0 {
		return nil
	}
	b := binary.LittleEndian.AppendUint64(make([]byte, 0, repeatBytes), uint64(next.At))
	b = binary.LittleEndian.AppendUint64(b, uint64(next.First))
	r.out.Add(p, binary.LittleEndian.AppendUint32(b, next.N))
	return r.out.TrimPart(p)
}

// All yields the repeats that Find has found, in the order of the input. An error is yielded
// last.
func (r *Repeats) All() iter.Seq2[Repeat, error] {
	return func(yield func(Repeat, error) bool) {
		var heads []*head // a heap of the next repeat of each part, the least at the root
		for p := range spool.Parts {
			if r.out.Bytes(p) == 0 {
				continue
			}
			h := &head{in: r.out.Reader(p)}
			if err := h.advance(); err != nil {
				yield(Repeat{}, err)
				return
			}
			if h.left {
				heads = append(heads, h)
			}
		}
		last := func(a, b *head) int { return cmp.Compare(b.next.At, a.next.At) }
		ordered.Heap(heads, last)
		for len(heads) > 0 {
			h := heads[0]
			if !yield(h.next, nil) {
				return
			}
			if err := h.advance(); err != nil {
				yield(Repeat{}, err)
				return
			}
			if !h.left {
				heads[0] = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
			ordered.Sink(heads, 0, last)
		}
	}
}

// head reads the repeats of a part.
type head struct {
	next Repeat
	left bool // next is valid
	in   *bufio.Reader
}

// advance moves on to the next repeat.
func (h *head) advance() error {
	var b [repeatBytes]byte
	_, err := io.ReadFull(h.in, b[:])
	if h.left = err == nil; err == io.EOF {
		return nil
	}
	h.next = Repeat{
		At: Place(binary.LittleEndian.Uint64(b[:])), First: Place(binary.LittleEndian.Uint64(b[8:])), N: binary.LittleEndian.Uint32(b[16:]),
	}
	return err
}
