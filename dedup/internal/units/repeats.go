package units

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"iter"
	"os"
	"runtime"
	"sync/atomic"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/ordered"
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
// 0, it is one unit, and Share is how much of it has been seen, in many places.
type Repeat struct {
	At, First Place
	N         uint32
	Share     float64
}

// found is a unit to compare.
type found struct {
	hash xxh3.Uint128
	at   Place
}

const (
	foundBytes  = 24
	hashBytes   = 16
	runBytes    = 9   // a run in the file: the first place, and the number of hashes that follow
	maxRun      = 100 // most hashes in a run
	repeatBytes = 20
	parts       = 256 // by the first byte of the hash
)

// Repeats finds repeated units. Equal hashes are in one part, and each part by itself fits into
// memory. Units that do not fit into memory go to a temporary file, part by part. The units of each
// part stay in the order of the input, and so do its repeats; one merge then orders all repeats.
type Repeats struct {
	memory int64 // bytes for units, and later for tables
	create func() (*os.File, error)
	least  uint32 // occurrences that make a unit repeated
	known  uint32 // documents before this one are from --against
	only   bool   // only units of known documents are repeated

	held    [parts][]found
	n       int64            // units in held
	spilled [parts][]section // sections of the file, by part
	file    *os.File         // nil until it is needed
	size    int64            // of the file
	out     [parts]stretch
	outFile *os.File // for repeats, if file is not nil
	outSize atomic.Int64
}

// section is a part of the file: size bytes at an offset.
type section struct{ at, size int64 }

// stretch is the repeats of one part: those in the file of repeats, followed by those in memory.
type stretch struct {
	in   []section
	held []Repeat
}

// NewRepeats returns a Repeats that uses about memory bytes, and creates temporary files with
// create. A unit is repeated if it occurs at least least times (2 or more), or in a known
// document. Close frees the files.
func NewRepeats(memory int64, create func() (*os.File, error), least int) *Repeats {
	return &Repeats{memory: memory / 2, create: create, least: uint32(max(least, 2))}
}

// Know marks the first docs documents as known; it must be called before any others are added. A
// unit that occurs in a known document is repeated in all others, however rare it is; with only,
// no others are.
func (r *Repeats) Know(docs int64, only bool) { r.known, r.only = uint32(docs), only }

// Close frees the temporary files.
func (r *Repeats) Close() error {
	var err error
	for _, f := range []*os.File{r.file, r.outFile} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// add adds units, which must be in the order of the input.
func (r *Repeats) add(units []found) error {
	for _, u := range units {
		p := u.hash.Hi >> 56
		r.held[p] = append(r.held[p], u)
	}
	if r.n += int64(len(units)); r.n*foundBytes < r.memory {
		return nil
	}
	return r.spill()
}

// spill writes the units in memory to the file.
func (r *Repeats) spill() (err error) {
	if r.file == nil {
		if r.file, err = r.create(); err != nil {
			return err
		}
	}
	w := bufio.NewWriterSize(io.NewOffsetWriter(r.file, r.size), 256<<10)
	var b [runBytes + maxRun*hashBytes]byte
	for p, held := range r.held {
		start := r.size
		for len(held) > 0 {
			n := 1
			for n < min(len(held), maxRun) && held[n].at == held[0].at+Place(n) {
				n++
			}
			binary.LittleEndian.PutUint64(b[:], uint64(held[0].at))
			b[runBytes-1] = byte(n)
			end := runBytes
			for _, u := range held[:n] {
				binary.LittleEndian.PutUint64(b[end:], u.hash.Hi)
				binary.LittleEndian.PutUint64(b[end+8:], u.hash.Lo)
				end += hashBytes
			}
			w.Write(b[:end]) // Flush returns the error
			r.size += int64(end)
			held = held[n:]
		}
		if r.size > start {
			r.spilled[p] = append(r.spilled[p], section{start, r.size - start})
		}
		r.held[p] = r.held[p][:0]
	}
	r.n = 0
	return w.Flush()
}

// each calls f for the units of a part, in the order of the input.
func (r *Repeats) each(p int, f func(u found) error) error {
	var b [runBytes + maxRun*hashBytes]byte
	for _, s := range r.spilled[p] {
		in := bufio.NewReaderSize(io.NewSectionReader(r.file, s.at, s.size), 64<<10)
		for left := s.size; left > 0; {
			if _, err := io.ReadFull(in, b[:runBytes]); err != nil {
				return err
			}
			at, hashes := Place(binary.LittleEndian.Uint64(b[:])), b[runBytes:][:int(b[runBytes-1])*hashBytes]
			if _, err := io.ReadFull(in, hashes); err != nil {
				return err
			}
			left -= int64(runBytes + len(hashes))
			for ; len(hashes) > 0; hashes = hashes[hashBytes:] {
				u := found{xxh3.Uint128{Hi: binary.LittleEndian.Uint64(hashes), Lo: binary.LittleEndian.Uint64(hashes[8:])}, at}
				if err := f(u); err != nil {
					return err
				}
				at++
			}
		}
	}
	for _, u := range r.held[p] {
		if err := f(u); err != nil {
			return err
		}
	}
	return nil
}

// Find finds all repeats of the units that were added.
func (r *Repeats) Find(ctx context.Context) error {
	if r.file != nil { // the tables need the memory of held
		if err := r.spill(); err != nil {
			return err
		}
		r.held = [parts][]found{}
		var err error
		if r.outFile, err = r.create(); err != nil {
			return err
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for p := range parts {
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
// suffice.
func (r *Repeats) findPart(p int) error {
	seen := map[xxh3.Uint128]occurrences{}
	if r.least > 2 {
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
	out := &r.out[p]
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
		return r.put(out, next)
	})
	if err == nil {
		err = r.put(out, last)
	}
	if err == nil && r.outFile != nil {
		err = r.spillRepeats(out)
	}
	return err
}

// repeated reports whether the unit at a place is a repeat; o are its occurrences if ok is set.
func (r *Repeats) repeated(o occurrences, ok bool, at Place) bool {
	return ok && o.first != at && at.Doc() >= r.known && (o.n >= r.least || o.first.Doc() < r.known)
}

// heldRepeats is the number of a part's repeats in memory if repeats go to a file.
const heldRepeats = 2048

// put adds a repeat to a part.
func (r *Repeats) put(out *stretch, next Repeat) error {
	if next.N == 0 {
		return nil
	}
	out.held = append(out.held, next)
	if r.outFile == nil || len(out.held) < heldRepeats {
		return nil
	}
	return r.spillRepeats(out)
}

// spillRepeats writes the repeats of a part from memory to the file.
func (r *Repeats) spillRepeats(out *stretch) error {
	b := make([]byte, 0, heldRepeats*repeatBytes)
	for _, rep := range out.held {
		b = binary.LittleEndian.AppendUint64(b, uint64(rep.At))
		b = binary.LittleEndian.AppendUint64(b, uint64(rep.First))
		b = binary.LittleEndian.AppendUint32(b, rep.N)
	}
	s := section{r.outSize.Add(int64(len(b))) - int64(len(b)), int64(len(b))}
	out.in, out.held = append(out.in, s), out.held[:0]
	_, err := r.outFile.WriteAt(b, s.at)
	return err
}

// All yields the repeats that Find has found, in the order of the input. An error is yielded
// last.
func (r *Repeats) All() iter.Seq2[Repeat, error] {
	return func(yield func(Repeat, error) bool) {
		var heads []*head // a heap of the next repeat of each part, the least at the root
		for p := range r.out {
			h := &head{held: r.out[p].held}
			if r.outFile != nil {
				var all []io.Reader
				for _, s := range r.out[p].in {
					all = append(all, io.NewSectionReader(r.outFile, s.at, s.size))
				}
				h.in = bufio.NewReaderSize(io.MultiReader(all...), 8<<10)
			}
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
	held []Repeat
	in   *bufio.Reader // nil if all are in memory
}

// advance moves on to the next repeat.
func (h *head) advance() error {
	if h.in == nil {
		if h.left = len(h.held) > 0; h.left {
			h.next, h.held = h.held[0], h.held[1:]
		}
		return nil
	}
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
