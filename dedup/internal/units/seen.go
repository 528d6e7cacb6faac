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
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/simdb/simdb/internal/ordered"
	"github.com/simdb/simdb/internal/spool"
)

// ErrChanged means that the second pass has read other texts than the first one.
var ErrChanged = errors.New("the texts have changed between two passes")

// A Seen finds the units most of whose n-grams have been seen. A unit is removed if at least the
// share t of the positions of its n-grams have n-grams of units that come before it and stay. What
// is removed shows nothing to later units, so each n-gram of the input remains somewhere, and the
// outcome is that of deciding one unit at a time. An n-gram is a 64-bit hash, as in sets of
// shingles.
//
// The first pass adds the n-grams of all units to a filter of one bit each (Bloom, 1970, with one
// hash function). A unit that the filter lacks too much of stays for sure. The others, the
// suspects, are few unless much of the input is repeated. The second pass writes the n-grams of
// suspects, and those of units that stay for sure as far as a suspect may have them, to 256 parts
// by hash. Each part shows which n-grams a sure unit has before a suspect, and which ones only
// earlier suspects have: a chain. Then the suspects are decided in order, with one bit for each
// chain: some suspect that has the n-gram stays.
type Seen struct {
	t      float64
	memory int64
	known  uint32 // documents before this one always stay
	only   bool   // only the known documents show n-grams

	shown    Filter // in the first pass: n-grams of the units so far
	wanted   Filter // n-grams of suspects
	suspects []suspect
	empty    int64 // units without n-grams, except known ones

	again   bool
	next    int    // in the second pass: the next suspect
	recent  Recent // some n-grams of the sure units so far
	records *spool.Spool
	last    [spool.Parts]uint32 // by part: the suspect of the last record
	chains  [spool.Parts]uint32 // by part: their number
	links   *spool.Spool        // the suspects of chains
}

// A suspect is a unit that may be removed.
type suspect struct {
	at   Place
	n    uint32 // positions
	seen uint32 // of them, those whose n-gram has been seen
}

func (s *suspect) share() float64 { return float64(s.seen) / float64(s.n) }

// NewSeen returns a Seen for units that are removed if at least the share t of them has been seen.
// It uses about memory bytes and 16 bytes for each suspect; textBytes is the approximate size of
// all texts. It creates temporary files with create. Close frees them.
func NewSeen(t float64, memory, textBytes int64, create func() (*os.File, error)) *Seen {
	textBytes = max(textBytes, 1<<16)
	return &Seen{
		t: t, memory: memory, known: math.MaxUint32,
		shown: NewFilter(min(memory/2, textBytes)), wanted: NewFilter(min(memory/4, textBytes)),
		recent:  NewRecent(int(min(memory/16, textBytes) / 8)),
		records: spool.New(memory/3, create), links: spool.New(math.MaxInt64, create),
	}
}

// Know marks the units that were added so far, of the first docs documents, as known: they always
// stay. With only, nothing else shows n-grams. It must be called before any other unit is added.
func (s *Seen) Know(docs int64, only bool) { s.known, s.only = uint32(docs), only }

// Again begins the second pass, which must add the same units. It reports whether there is need of
// one.
func (s *Seen) Again() bool {
	s.again, s.shown = true, nil
	return len(s.suspects) > 0
}

// Empty returns how many units have no n-grams, known ones aside.
func (s *Seen) Empty() int64 { return s.empty }

// Close frees the temporary files.
func (s *Seen) Close() error { return errors.Join(s.records.Close(), s.links.Close()) }

// add adds the units of a batch.
func (s *Seen) add(b *batch) error {
	from := 0
	for _, p := range b.pieces {
		grams := b.grams[from:p.end]
		from = p.end
		known := p.at.Doc() < s.known
		switch {
		case len(grams) == 0 && !s.again && !known:
			s.empty++
		case len(grams) == 0:
		case !s.again:
			s.look(p, grams, known)
		default:
			if !s.write(p, grams, known) {
				return ErrChanged
			}
		}
	}
	return s.records.Trim()
}

// look decides whether a unit is a suspect.
func (s *Seen) look(p piece, grams []uint64, known bool) {
	if !known && !p.short && s.shown.Share(grams) >= s.t {
		s.suspects = append(s.suspects, suspect{at: p.at, n: uint32(len(grams))})
		s.wanted.Add(grams)
	}
	if known || !s.only {
		s.shown.Add(grams)
	}
}

// write writes what the decisions about suspects depend on. It returns false if the unit is another
// one than in the first pass.
func (s *Seen) write(p piece, grams []uint64, known bool) bool {
	if s.next < len(s.suspects) && s.suspects[s.next].at == p.at {
		u := &s.suspects[s.next]
		if u.n != uint32(len(grams)) {
			return false
		}
		for _, g := range grams {
			if s.recent.Has(g) {
				u.seen++
				continue
			}
			last := &s.last[g>>56]
			s.record(g, uint64(s.next)-uint64(*last)+1)
			*last = uint32(s.next)
		}
		s.next++
	} else if known || !s.only {
		for _, g := range grams {
			if !s.wanted.Has(g) {
				continue
			}
			if s.recent.Add(g) {
				s.record(g, sure)
			}
		}
	}
	return true
}

// sure is the code of a record of a unit that stays for sure. That of a suspect is the difference
// of its number from that of the part's last one, plus one.
const sure = 0

// record adds a record to the part of an n-gram.
func (s *Seen) record(gram, code uint64) {
	var b [binary.MaxVarintLen64 + 8]byte
	n := binary.PutUvarint(b[:], code)
	binary.LittleEndian.PutUint64(b[n:], gram) // the last byte is the number of the part
	s.records.Add(int(gram>>56), b[:n+7])
}

// eachRecord calls f for the records of a part in order.
func eachRecord(part int, data []byte, f func(gram, code uint64, suspect uint32)) {
	number := uint32(0)
	var b [8]byte
	for len(data) > 0 {
		code, n := binary.Uvarint(data)
		copy(b[:7], data[n:])
		if data = data[n+7:]; code != sure {
			number += uint32(code - 1)
		}
		f(uint64(part)<<56|binary.LittleEndian.Uint64(b[:]), code, number)
	}
}

// stateBytes is the memory for each record of a part while it is processed.
const stateBytes = 48

// Find decides all suspects.
func (s *Seen) Find(ctx context.Context) error {
	if s.next != len(s.suspects) {
		return ErrChanged
	}
	s.wanted, s.recent = nil, nil
	if s.records.InFile() {
		s.links.Most = s.memory / 4 / spool.Parts
		if err := errors.Join(s.records.Settle(), s.links.Open()); err != nil {
			return err
		}
	}
	largest := int64(0)
	for p := range spool.Parts {
		largest = max(largest, s.records.Bytes(p))
	}
	g, all := errgroup.WithContext(ctx)
	g.SetLimit(int(max(1, min(int64(runtime.GOMAXPROCS(0)), s.memory/max(1, largest/8*stateBytes)))))
	for p := range spool.Parts {
		g.Go(func() error {
			if all.Err() != nil {
				return context.Cause(all)
			}
			return s.findPart(p)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.decide(ctx)
}

// stateSure is the state of an n-gram that a sure unit has. Other states are the number of the last
// suspect that has it, plus one.
const stateSure = 1 << 63

// findPart counts the positions of suspects whose n-grams earlier sure units have, and writes the
// links of the chains of a part.
func (s *Seen) findPart(p int) error {
	data := make([]byte, s.records.Bytes(p))
	if _, err := io.ReadFull(s.records.Reader(p), data); err != nil || len(data) == 0 {
		return err
	}
	states := map[uint64]uint64{}
	chains := map[uint64]uint64{} // n-grams that several suspects have before the first sure unit
	eachRecord(p, data, func(gram, code uint64, number uint32) {
		switch state := states[gram]; {
		case code == sure:
			states[gram] = stateSure
		case state == stateSure:
			atomic.AddUint32(&s.suspects[number].seen, 1)
		case state != uint64(number)+1:
			if states[gram] = uint64(number) + 1; state != 0 && !s.only {
				chains[gram] = 0
			}
		}
	})
	if len(chains) == 0 {
		return nil
	}
	last := uint32(0)
	var err error
	eachRecord(p, data, func(gram, code uint64, number uint32) {
		chain, ok := chains[gram] // its number, plus one
		switch {
		case !ok:
			return
		case code == sure:
			delete(chains, gram)
			return
		case chain == 0:
			s.chains[p]++
			chain = uint64(s.chains[p])
			chains[gram] = chain
		}
		b := binary.AppendUvarint(make([]byte, 0, 2*binary.MaxVarintLen32), uint64(number-last))
		s.links.Add(p, binary.AppendUvarint(b, chain-1))
		last = number
		err = cmp.Or(err, s.links.TrimPart(p))
	})
	return err
}

// A link is an n-gram of a suspect that is in a chain.
type link struct {
	suspect uint32
	chain   uint64
	in      *bufio.Reader // the rest of the part
	base    uint64        // number of the part's first chain
}

// advance moves on to the next link of the part, and reports whether there is one.
func (l *link) advance() (bool, error) {
	number, err := binary.ReadUvarint(l.in)
	if err == io.EOF {
		return false, nil
	}
	chain, e := binary.ReadUvarint(l.in)
	l.suspect, l.chain = l.suspect+uint32(number), l.base+chain
	return err == nil && e == nil, cmp.Or(err, e)
}

// decide decides the suspects with links in order. Without links, a suspect is already decided.
func (s *Seen) decide(ctx context.Context) error {
	var heads []*link // a heap
	chains := uint64(0)
	for p := range spool.Parts {
		if s.chains[p] == 0 {
			continue
		}
		l := &link{in: s.links.Reader(p), base: chains}
		if _, err := l.advance(); err != nil {
			return err
		}
		heads = append(heads, l)
		chains += uint64(s.chains[p])
	}
	stays := make([]uint64, chains/64+1) // by chain: one of its suspects stays
	later := func(a, b *link) int { return cmp.Compare(b.suspect, a.suspect) }
	ordered.Heap(heads, later)
	var mine []uint64
	for len(heads) > 0 {
		number := heads[0].suspect
		u := &s.suspects[number]
		mine = mine[:0]
		for len(heads) > 0 && heads[0].suspect == number {
			l := heads[0]
			mine = append(mine, l.chain)
			u.seen += uint32(stays[l.chain/64] >> (l.chain % 64) & 1)
			left, err := l.advance()
			if err != nil {
				return err
			}
			if !left {
				heads[0] = heads[len(heads)-1]
				heads = heads[:len(heads)-1]
			}
			ordered.Sink(heads, 0, later)
		}
		if u.share() < s.t {
			for _, chain := range mine {
				stays[chain/64] |= 1 << (chain % 64)
			}
		}
		if number%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// All yields the removed units in order, with their shares.
func (s *Seen) All() iter.Seq2[Repeat, error] {
	return func(yield func(Repeat, error) bool) {
		for i := range s.suspects {
			if u := &s.suspects[i]; u.share() >= s.t && !yield(Repeat{At: u.at, N: 1, Share: u.share()}, nil) {
				return
			}
		}
	}
}
