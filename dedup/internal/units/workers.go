package units

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/simdb/simdb/internal/ordered"
)

// Many workers find the units that have been seen by the steps of Seen. A worker has a shard of
// the input, or a group of n-grams, by hash:
//
//	shard  Units with their n-grams; a Filter of them
//	one    for each shard, the Filter of all shards before it
//	shard  Suspects; a Filter of their n-grams
//	one    the Filter of the n-grams of all suspects
//	shard  Sightings of these n-grams, to their groups
//	group  Meet: for each suspect how much of it sure units before it have, and its chains
//	one    Decide: what is removed
//
// Messages may arrive in any order, and twice. A worker holds its messages in memory; the last one
// also 16 bytes for each suspect.

// A Unit is a unit with its n-grams.
type Unit struct {
	At    Place
	Short bool // it has too few words to be removed
	Grams []uint64
}

// each calls f for the units of a batch.
func (b *batch) each(f func(u Unit) error) error {
	from := 0
	for _, p := range b.pieces {
		if err := f(Unit{p.at, p.short, b.grams[from:p.end]}); err != nil {
			return err
		}
		from = p.end
	}
	return nil
}

// AppendBinary appends the unit to dst. The error is always nil, here and below.
func (u Unit) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(dst, uint64(u.At))
	short := byte(0)
	if u.Short {
		short = 1
	}
	return appendGrams(append(dst, short), u.Grams), nil
}

// UnmarshalBinary reads a unit into its memory.
func (u *Unit) UnmarshalBinary(b []byte) error {
	at, n := binary.Uvarint(b)
	if n <= 0 || len(b) == n || b[n] > 1 || (len(b)-n-1)%8 != 0 {
		return errMessage
	}
	u.At, u.Short, u.Grams = Place(at), b[n] == 1, readGrams(b[n+1:], u.Grams[:0])
	return nil
}

// A Suspect is a unit that may be removed: its number among those of all shards, its place in its
// shard, and the number of its n-grams.
type Suspect struct {
	Unit uint64
	At   Place
	N    uint32
}

// AppendBinary appends the suspect to dst.
func (s Suspect) AppendBinary(dst []byte) ([]byte, error) {
	return binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(dst, s.Unit), uint64(s.At)), uint64(s.N)), nil
}

// UnmarshalBinary reads a suspect.
func (s *Suspect) UnmarshalBinary(b []byte) error {
	var at, n uint64
	if !readNumbers(b, &s.Unit, &at, &n) || n == 0 || n > math.MaxUint32 {
		return errMessage
	}
	s.At, s.N = Place(at), uint32(n)
	return nil
}

// readNumbers reads all numbers of a message.
func readNumbers(b []byte, to ...*uint64) bool {
	for _, x := range to {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		*x, b = v, b[n:]
	}
	return len(b) == 0
}

// A Sighting says that a unit has n-grams of a group, in ascending order and as often as it has
// them. Those of a unit that stays for sure need not be all, nor repeated.
type Sighting struct {
	Unit  uint64 // as in Suspect
	Sure  bool
	Grams []uint64
}

// Sightings calls f with the groups of the n-grams of a unit, which it sorts.
func Sightings(unit uint64, sure bool, grams []uint64, groups uint64, f func(group uint64, s Sighting) error) error {
	slices.Sort(grams)
	for len(grams) > 0 {
		group, n := slot(grams[0], int(groups)), 1
		for n < len(grams) && slot(grams[n], int(groups)) == group {
			n++
		}
		if err := f(group, Sighting{unit, sure, grams[:n]}); err != nil {
			return err
		}
		grams = grams[n:]
	}
	return nil
}

// AppendBinary appends the sighting to dst.
func (s Sighting) AppendBinary(dst []byte) ([]byte, error) {
	unit := s.Unit << 1
	if s.Sure {
		unit |= 1
	}
	return appendGrams(binary.AppendUvarint(dst, unit), s.Grams), nil
}

// UnmarshalBinary reads a sighting.
func (s *Sighting) UnmarshalBinary(b []byte) error {
	unit, n := binary.Uvarint(b)
	if n <= 0 || (len(b)-n)%8 != 0 {
		return errMessage
	}
	*s = Sighting{unit >> 1, unit&1 == 1, readGrams(b[n:], make([]uint64, 0, (len(b)-n)/8))}
	return nil
}

// A Finding counts, for a suspect and a group, the n-grams that a sure unit before the suspect has, and
// lists those in chains: n-grams that several suspects have before the first sure unit.
type Finding struct {
	Unit, Group uint64
	Seen        uint32
	Chains      []Chained
}

// A Chained is a chain of a group, by number, and how many n-grams of the suspect are in it: as
// many as it repeats the n-gram.
type Chained struct{ Chain, N uint32 }

// AppendBinary appends the finding to dst.
func (f Finding) AppendBinary(dst []byte) ([]byte, error) {
	dst = binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(dst, f.Unit), f.Group), uint64(f.Seen))
	for _, c := range f.Chains {
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(c.Chain)), uint64(c.N))
	}
	return dst, nil
}

// UnmarshalBinary reads a finding.
func (f *Finding) UnmarshalBinary(b []byte) error {
	var all []uint64
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errMessage
		}
		all, b = append(all, v), b[n:]
	}
	if len(all)%2 == 0 || len(all) < 3 {
		return errMessage
	}
	*f = Finding{Unit: all[0], Group: all[1], Seen: uint32(all[2])}
	for c := range slices.Chunk(all[3:], 2) {
		f.Chains = append(f.Chains, Chained{uint32(c[0]), uint32(c[1])})
	}
	return nil
}

// Meet returns the findings of a group, given all its sightings. With only, suspects show nothing
// to others.
func Meet(group uint64, all []Sighting, only bool) []Finding {
	slices.SortFunc(all, func(a, b Sighting) int { return cmp.Compare(a.Unit, b.Unit) })
	all = slices.CompactFunc(all, func(a, b Sighting) bool { return a.Unit == b.Unit })
	total := 0
	for _, s := range all {
		total += len(s.Grams)
	}
	of := ordered.MakePairs(total) // n-grams, with the numbers of their sightings
	n := 0
	for i, s := range all {
		for _, g := range s.Grams {
			of.Keys[n], of.Vals[n] = g, uint32(i)
			n++
		}
	}
	of = ordered.SortPairs(of, ordered.MakePairs(total))
	found, chains := make([]Finding, len(all)), uint32(0)
	for from, to := 0, 0; from < total; from = to {
		for to = from + 1; to < total && of.Keys[to] == of.Keys[from]; to++ {
		}
		mine := of.Vals[from:to]
		sure := slices.IndexFunc(mine, func(i uint32) bool { return all[i].Sure })
		if sure < 0 {
			sure = len(mine)
		} else {
			for _, i := range mine[sure:] {
				found[i].Seen++
			}
		}
		if before := mine[:sure]; sure > 0 && before[0] != before[sure-1] && !only {
			for _, i := range before {
				f := &found[i]
				if last := len(f.Chains) - 1; last >= 0 && f.Chains[last].Chain == chains {
					f.Chains[last].N++
				} else {
					f.Chains = append(f.Chains, Chained{chains, 1})
				}
			}
			chains++
		}
	}
	out := found[:0]
	for i, f := range found {
		if !all[i].Sure && (f.Seen > 0 || f.Chains != nil) {
			f.Unit, f.Group = all[i].Unit, group
			out = append(out, f)
		}
	}
	return out
}

// Decide returns, for each suspect, the share of its n-grams that has been seen, given all findings.
// A unit is removed if the share is at least t. The suspects are in the order of the input.
func Decide(t float64, suspects []Suspect, all []Finding) (shares []float64) {
	slices.SortFunc(all, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Group, b.Group)) })
	all = slices.CompactFunc(all, func(a, b Finding) bool { return a.Unit == b.Unit && a.Group == b.Group })
	shares = make([]float64, len(suspects))
	stays := map[uint64][]uint64{} // by group: a bit for each chain one of whose suspects stays
	for i, s := range suspects {
		n, seen := 0, uint32(0)
		for ; n < len(all) && all[n].Unit == s.Unit; n++ {
			bits := stays[all[n].Group]
			seen += all[n].Seen
			for _, c := range all[n].Chains {
				if at := int(c.Chain / 64); at < len(bits) {
					seen += c.N * uint32(bits[at]>>(c.Chain%64)&1)
				}
			}
		}
		if shares[i] = float64(seen) / float64(s.N); shares[i] < t {
			for _, f := range all[:n] {
				bits := stays[f.Group]
				for _, c := range f.Chains {
					at := int(c.Chain / 64)
					bits = append(bits, make([]uint64, max(0, at+1-len(bits)))...)
					bits[at] |= 1 << (c.Chain % 64)
				}
				stays[f.Group] = bits
			}
		}
		all = all[n:]
	}
	return shares
}

// AppendBinary appends a Repeat with a Share to dst.
func (r Repeat) AppendBinary(dst []byte) ([]byte, error) {
	return binary.LittleEndian.AppendUint64(binary.AppendUvarint(dst, uint64(r.At)), math.Float64bits(r.Share)), nil
}

// UnmarshalBinary reads a Repeat.
func (r *Repeat) UnmarshalBinary(b []byte) error {
	at, n := binary.Uvarint(b)
	if n <= 0 || len(b) != n+8 {
		return errMessage
	}
	*r = Repeat{At: Place(at), N: 1, Share: math.Float64frombits(binary.LittleEndian.Uint64(b[n:]))}
	return nil
}
